"""Corrections in the third person, in words that no rule reads, and of one id twice."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from varve import Memory

FIRST = datetime(2026, 3, 2, 9, tzinfo=UTC)
NOW = datetime(2026, 3, 20, 9, tzinfo=UTC)
USER = "u-1"


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory.open(tmp_path / "memory", now=NOW)


def say(memory: Memory, text: str, name: str) -> str:
    """Tell a text; return the id of its turn."""
    message = {
        "id": "m1",
        "role": "user",
        "name": name,
        "content": text,
        "timestamp": FIRST.isoformat(),
    }
    memory.ingest(
        {"conversationId": "c1", "userId": USER, "messages": [message]}
    )
    return find(memory, text)


def find(memory: Memory, words: str) -> str:
    turns = memory.search(
        memory_types=["turn"], include_superseded=True
    ).results
    return next(one.id for one in turns if words in one.content)


def read_profile(memory: Memory) -> dict[str, str]:
    attributes: list[dict[str, Any]] = memory.profile(user_id=USER)[
        "attributes"
    ]
    return {one["key"]: one["value"] for one in attributes}


@pytest.mark.parametrize(
    ("name", "told", "correction", "key", "value"),
    [
        (
            "Dana",
            "I live in Lisbon.",
            "Dana lives in Porto",
            "location",
            "Porto",
        ),
        (
            "Ana Ruiz",
            "I live in Lisbon.",
            "Ana moved to Porto.",
            "location",
            "Porto",
        ),
        (
            "Dana",
            "I am allergic to peanuts.",
            "Dana is allergic to walnuts",
            "allergies",
            "walnuts",
        ),
        (
            "Pilar",
            "Vivo en Madrid.",
            "Pilar vive en Bilbao",
            "location",
            "Bilbao",
        ),
        (
            "Luis",
            "Soy alérgico a los cacahuetes.",
            "Luis es alérgico a las nueces.",
            "allergies",
            "nueces",
        ),
    ],
)
def test_a_correction_by_the_speakers_name_writes_the_new_value(
    memory: Memory,
    name: str,
    told: str,
    correction: str,
    key: str,
    value: str,
) -> None:
    memory.correct(say(memory, told, name), correction)
    assert read_profile(memory) == {key: value}
    held = memory.graph.query_graph(
        "select target_id from facts where invalid_at is null"
    )
    assert [one["target_id"] for one in held] == [value.casefold()]
    block = memory.context("I'm hungry, where am I?", user_id=USER).text
    assert f"{key}: {value}\n" in block


@pytest.mark.parametrize("name", ["Dana", "Ana Ruiz"])
def test_a_correction_about_another_of_the_name_gives_the_speaker_no_value(
    memory: Memory, name: str
) -> None:
    other = f"{name.split()[0]} Gomez lives in Oslo"
    memory.correct(say(memory, "I live in Lisbon.", name), other)
    assert read_profile(memory) == {"location": other}
    held = memory.graph.query_graph(
        "select target_id from facts where invalid_at is null"
    )
    assert not held


@pytest.mark.parametrize(
    ("told", "correction"),
    [
        ("I am allergic to peanuts.", "It is walnuts that make me ill"),
        ("I am allergic to peanuts.", "Walnuts make me ill, never peanuts"),
        ("Soy alérgico a los cacahuetes.", "Las nueces me sientan mal"),
    ],
)
def test_the_words_of_a_correction_stand_in_for_an_allergy_that_no_rule_reads(
    memory: Memory, told: str, correction: str
) -> None:
    memory.correct(say(memory, told, "Dana"), correction)
    block = memory.context("I'm hungry", user_id=USER).text
    assert f"allergies: {correction}\n" in block
    memory.forget(ids=[find(memory, correction)])
    assert correction not in str(memory.profile(user_id=USER))
    assert "allergies" in read_profile(memory)


@pytest.mark.parametrize(
    ("told", "correction"),
    [
        ("I am allergic to peanuts.", "I am no longer allergic to peanuts"),
        ("I live in Lisbon.", "Dana no longer lives in Lisbon"),
    ],
)
def test_an_end_that_a_rule_reads_leaves_no_words(
    memory: Memory, told: str, correction: str
) -> None:
    memory.correct(say(memory, told, "Dana"), correction)
    assert read_profile(memory) == {}


def test_a_correction_of_one_part_leaves_an_allergy(memory: Memory) -> None:
    told = "I live in Lisbon and I am allergic to peanuts."
    memory.correct(say(memory, told, "Dana"), "I live in Porto")
    expected = {"location": "Porto", "allergies": "peanuts"}
    assert read_profile(memory) == expected
    block = memory.context("I'm hungry", user_id=USER).text
    assert "allergies: peanuts\n" in block


@pytest.mark.parametrize(
    ("told", "correction", "left"),
    [
        (
            "I live in Lisbon and work at Acme. My rent is 950 euros.",
            "My rent is 1000 euros. Thanks!",
            {"location": "Lisbon", "employer": "Acme"},
        ),
        (
            "Vivo en Madrid y trabajo en Indra. El alquiler son 700 euros.",
            "El alquiler son 750 euros.",
            {"location": "Madrid", "employer": "Indra"},
        ),
        (
            "I live in Lisbon and I work at Acme.",
            "I left Acme.",
            {"location": "Lisbon"},
        ),
    ],
)
def test_a_correction_leaves_the_attributes_of_parts_less_akin_to_it(
    memory: Memory, told: str, correction: str, left: dict[str, str]
) -> None:
    memory.correct(say(memory, told, "Dana"), correction)
    assert read_profile(memory) == left


@pytest.mark.parametrize(
    ("name", "told", "remembered", "value"),
    [
        ("Dana", "I live in Lisbon.", "Dana lives in Porto", "Porto"),
        ("Dana", "I live in Lisbon.", "The user moved to Porto", "Porto"),
        ("Pilar", "Vivo en Madrid.", "Pilar vive en Bilbao", "Bilbao"),
    ],
)
def test_what_is_remembered_by_the_users_name_is_the_users_own_statement(
    memory: Memory, name: str, told: str, remembered: str, value: str
) -> None:
    say(memory, told, name)
    memory.remember(remembered, user_id=USER)
    assert read_profile(memory) == {"location": value}
    results = memory.search("Where does the user live?", user_id=USER).results
    ended = [one for one in results if told in one.content]
    assert not any(one.current for one in ended)


@pytest.mark.parametrize("hours", [0, 1])
def test_correcting_one_statement_twice_leaves_one_that_holds(
    tmp_path: Path, hours: int
) -> None:
    clock = [NOW]
    memory = Memory.open(tmp_path / "memory", now=lambda: clock[0])
    first = say(memory, "My flight is LH1173.", "Dana")

    def correct(id_: str, code: str) -> None:
        clock[0] += timedelta(hours=hours)
        memory.correct(id_, f"My flight is {code}.")

    correct(first, "LH1175")
    correct(find(memory, "LH1175"), "LH1177")
    correct(first, "LH1179")
    correct(first, "LH1179")
    found = memory.search("What is my flight?", user_id=USER).results
    assert {"LH1179" in one.content for one in found} == {True}
    for code in ("LH1173", "LH1175", "LH1177"):
        shown = memory.show(find(memory, code))
        assert not shown["current"], code
        assert shown["supersededBy"] == find(memory, "LH1179"), code


def test_a_correction_back_to_earlier_words_holds(tmp_path: Path) -> None:
    clock = [NOW]
    memory = Memory.open(tmp_path / "memory", now=lambda: clock[0])
    first = say(memory, "Our standup is at 9:30.", "Dana")
    for time in ("10:00", "9:30", "10:00", "10:00"):
        clock[0] += timedelta(hours=1)
        memory.correct(first, f"Our standup is at {time}.")
    found = memory.search("When is our standup?", user_id=USER).results
    assert [one.content for one in found if one.current] == [
        "Dana: Our standup is at 10:00."
    ]
