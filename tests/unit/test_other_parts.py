"""What one part of a message, or another message, tells leaves the other parts (3, 6, 7, 12)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.test_told_last import NOW, talk
from varve import Memory

USER = "u-1"


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory.open(tmp_path / "memory", now=NOW)


def test_7_a_message_of_which_the_profile_has_a_part_keeps_its_line(
    memory: Memory,
) -> None:
    memory.ingest([talk(1, "I work at Acme and my boss is Petra.")])
    assert "Petra" in memory.context("Who is my boss?", user_id=USER).text


def test_7_a_message_of_which_the_profile_has_all_parts_has_no_line(
    memory: Memory,
) -> None:
    memory.ingest([talk(1, "I live in Lisbon and I work at Acme.")])
    block = memory.context("Where do I live?", user_id=USER).text
    assert block.count("Lisbon") == 1


def test_6_who_left_an_employer_by_name_works_there_no_more(
    memory: Memory,
) -> None:
    memory.ingest(
        [talk(1, "I work at Globex."), talk(30, "I left Globex yesterday.")]
    )
    held = memory.sql("select object from triples where current")
    assert held == []
    attributes = memory.profile(user_id=USER)["attributes"]
    assert [one for one in attributes if one["key"] == "employer"] == []


def test_6_who_left_a_place_still_works_there(memory: Memory) -> None:
    memory.ingest(
        [talk(1, "I work at Globex."), talk(30, "I left Lisbon yesterday.")]
    )
    held = memory.sql("select object from triples where current")
    assert [one["object"] for one in held] == ["globex"]


def test_12_a_request_to_forget_a_part_ends_no_triple_of_another_one(
    memory: Memory,
) -> None:
    told = "I have a dog named Rex. My salary is 4200 euros."
    memory.ingest([talk(1, told), talk(30, "Forget my salary.")])
    triples = memory.sql("select object, current from triples")
    assert {one["object"]: one["current"] for one in triples} == {
        "rex": True,
        "dog": True,
    }


def test_3_a_triple_of_another_predicate_supersedes_nothing(
    memory: Memory,
) -> None:
    memory.ingest(
        [
            talk(1, "Mi número de teléfono es 600 123 456."),
            talk(30, "He dejado Telefónica y ahora trabajo en Endesa."),
        ]
    )
    results = memory.search("¿Cuál es mi teléfono?", user_id=USER).results
    (number,) = (one for one in results if "600 123 456" in one.content)
    assert number.current


def test_7_a_question_for_what_someone_does_asks_for_their_work(
    memory: Memory,
) -> None:
    memory.ingest(
        [
            talk(1, "I live in Lisbon and work as a nurse."),
            talk(9, "I had a walk in the park."),
            talk(30, "I moved to Porto."),
        ]
    )
    found = memory.search("What do I do?", user_id=USER).results
    assert "nurse" in found[0].content
    assert found[0].current
