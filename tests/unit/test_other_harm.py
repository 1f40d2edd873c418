"""An allergy ends by words of that allergy alone (2, 3, 6, 10)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.test_told_last import NOW, talk
from varve import Memory

USER = "u-1"
MARK = "no longer"


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory.open(tmp_path / "memory", now=NOW)


def list_current(memory: Memory, question: str) -> list[str]:
    found = memory.search(question, user_id=USER).results
    return [one.content for one in found if one.current]


@pytest.mark.parametrize(
    ("told", "later", "question", "harm"),
    [
        (
            "I'm allergic to penicillin.",
            "I'm not allergic to peanuts any more.",
            "What am I allergic to?",
            "penicillin",
        ),
        (
            "I'm allergic to penicillin.",
            "My mother is not allergic to penicillin any more.",
            "What am I allergic to?",
            "penicillin",
        ),
        (
            "Soy alérgica a la penicilina.",
            "Ya no soy alérgica a los cacahuetes.",
            "¿A qué soy alérgica?",
            "penicilina",
        ),
        (
            "I'm allergic to latex and kiwi.",
            "I'm not allergic to kiwi any more.",
            "Am I allergic to latex?",
            "latex",
        ),
    ],
)
def test_2_an_allergy_holds_after_words_about_another_invariant_11(
    memory: Memory, told: str, later: str, question: str, harm: str
) -> None:
    memory.ingest([talk(1, told), talk(9, "I sold my car."), talk(30, later)])
    assert any(harm in one for one in list_current(memory, question))
    block = memory.context("What can I take?", user_id=USER).text
    (line,) = [one for one in block.splitlines() if harm in one]
    assert MARK not in line


@pytest.mark.parametrize(
    "later",
    [
        "I'm not allergic to penicillin any more.",
        "I have no allergies any more.",
    ],
)
def test_2_an_allergy_ends_by_its_name_or_with_all_others(
    memory: Memory, later: str
) -> None:
    memory.ingest([talk(1, "I'm allergic to penicillin."), talk(30, later)])
    current = list_current(memory, "What am I allergic to?")
    assert current
    assert "I'm allergic to penicillin." not in "".join(current)


def test_10_a_move_leaves_the_name_told_beside_the_home(
    memory: Memory,
) -> None:
    memory.ingest(
        [
            talk(1, "I'm Marta and I live in Girona."),
            talk(30, "We moved to Figueres."),
        ]
    )
    block = memory.context("Write a letter", user_id=USER).text
    assert "name: Marta" in block
    assert MARK not in block


@pytest.mark.parametrize(
    ("before", "after", "kept"),
    [
        (
            "I live in Hamburg. I'm allergic to nuts.",
            "I moved to Kiel. I'm allergic to kiwis too.",
            {"nuts", "kiwis"},
        ),
        (
            "I'm allergic to penicillin and my blood type is A+.",
            "I'm allergic to latex and my GP is Dr Shaw.",
            {"penicillin", "latex"},
        ),
        (
            "Vivo en Sevilla. Soy alérgico a las nueces.",
            "Me mudé a Bilbao. Soy alérgico al kiwi.",
            {"nueces", "kiwi"},
        ),
        (
            "I'm allergic to nuts.",
            "I'm not allergic to nuts, only to peanuts.",
            {"peanuts"},
        ),
        (
            "I'm allergic to nuts.",
            "I'm allergic to peanuts, not to nuts.",
            {"peanuts"},
        ),
        (
            "Soy alérgica a las nueces.",
            "No soy alérgica a las nueces, sino a los cacahuetes.",
            {"cacahuetes"},
        ),
    ],
)
def test_invariant_11_the_allergies_that_hold_are_told_unmarked(
    tmp_path: Path, before: str, after: str, kept: set[str]
) -> None:
    memory = Memory.open(tmp_path / "memory", now=NOW)
    memory.ingest([talk(0, before), talk(7, after)])
    told = memory.profile(user_id="u-1")["attributes"]
    allergies = {one["value"] for one in told if one["key"] == "allergies"}
    assert allergies == kept
    text = memory.context("What can I eat?", user_id="u-1").text
    head = [line for line in text.splitlines() if "allergies: " in line]
    assert {line.partition("allergies: ")[2] for line in head} == kept
