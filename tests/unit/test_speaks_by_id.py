"""A user whose messages have the user's name in part is one person."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit.test_told_last import NOW, talk
from varve import Memory

CHANGES = [
    ("I work at Globex.", "I quit Globex and joined Initech.", "Where do I work?"),
    ("I live in Leeds.", "I moved to Porto.", "Where do I live?"),
    ("My favourite tea is rooibos.", "My favourite tea is green tea now.", "Which tea do I like?"),
    ("Trabajo en Globex.", "He dejado Globex y ahora trabajo en Initech.", "¿Dónde trabajo?"),
]  # fmt: skip
NAMES = [("Dana", None), (None, "Dana")]


def said_by(
    name: str | None, number: int, text: str, user: str = "u-1"
) -> dict[str, Any]:
    """Return a conversation of one message, with a name or without."""
    conversation = talk(number, text, user=user)
    if name is not None:
        conversation["messages"][0]["name"] = name
    return conversation


@pytest.mark.parametrize("names", NAMES)
@pytest.mark.parametrize(("before", "after", "question"), CHANGES)
def test_invariant_11_a_user_with_and_without_a_name_is_one_speaker(
    tmp_path: Path,
    before: str,
    after: str,
    question: str,
    names: tuple[str | None, str | None],
) -> None:
    memory = Memory.open(tmp_path / "memory", now=NOW)
    memory.ingest([said_by(names[0], 0, before), said_by(names[1], 7, after)])
    first, *others = memory.search(question, user_id="u-1").results
    assert ("m7-0" in first.source_ids, first.current) == (True, True)
    (stale,) = (one for one in others if "m0-0" in one.source_ids)
    assert not stale.current


def test_a_user_of_two_names_is_no_one_of_them(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path / "memory", now=NOW)
    memory.ingest(
        [
            said_by("Dana", 0, "I work at Globex."),
            said_by("Lena", 1, "I work at Umbra."),
            said_by(None, 7, "I quit my job and joined Initech."),
        ]
    )
    found = memory.search("Where does Dana work?", user_id="u-1").results
    (globex,) = (one for one in found if "m0-0" in one.source_ids)
    assert globex.current


def test_another_users_name_is_of_that_user_alone(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path / "memory", now=NOW)
    memory.ingest(
        [
            said_by("Dana", 0, "I live in Leeds."),
            said_by(None, 7, "I moved to Porto.", user="u-2"),
        ]
    )
    (only,) = memory.search("Where do I live?", user_id="u-1").results
    assert ("m0-0" in only.source_ids, only.current) == (True, True)


@pytest.mark.parametrize("names", NAMES)
def test_2_an_own_question_finds_what_was_told_with_or_without_the_name(
    tmp_path: Path, names: tuple[str | None, str | None]
) -> None:
    memory = Memory.open(tmp_path / "memory", now=NOW)
    memory.ingest(
        [
            said_by(names[0], 0, "I'm a nurse."),
            said_by(names[1], 1, "What a lovely living room that is!"),
        ]
    )
    asked = "What do I do for a living?"
    first, *_ = memory.search(asked, user_id="u-1").results
    assert "m0-0" in first.source_ids
