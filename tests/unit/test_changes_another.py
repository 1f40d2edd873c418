"""A change that names one earlier statement leaves the others as they are (invariant 11)."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.support.statements import tell

NOW = datetime(2026, 11, 24, 10, tzinfo=UTC)
USER = "u-1"


@pytest.mark.parametrize(
    ("texts", "question", "holds", "gone"),
    [
        (
            (
                "My standup is at nine.",
                "I drive a Seat Ibiza.",
                "I sold the Ibiza, I cycle now.",
            ),
            "When is my standup?",
            "standup",
            "drive",
        ),
        (
            (
                "Mi clase de piano es en Gracia.",
                "Mi coche es un Seat Ibiza.",
                "He vendido el Ibiza, ahora voy en bici.",
            ),
            "¿Dónde es mi clase de piano?",
            "piano",
            "coche es",
        ),
    ],
)
def test_invariant_11_a_change_that_names_another_statement_leaves_this_one(
    tmp_path: Path,
    texts: tuple[str, ...],
    question: str,
    holds: str,
    gone: str,
) -> None:
    memory = tell(tmp_path, texts, NOW)
    first = memory.search(question, user_id=USER).results[0]
    assert holds in first.content
    assert first.current
    car = memory.search(
        texts[1], user_id=USER, include_superseded=True
    ).results
    assert not all(one.current for one in car if gone in one.content)


@pytest.mark.parametrize(
    ("texts", "question"),
    [
        (("I live in Lisbon.", "I live in Porto."), "Where do I live?"),
        (("Vivo en Sevilla.", "Vivo en Bilbao."), "¿Dónde vivo?"),
        (("I work at Globex.", "I work at Initech."), "Where do I work?"),
    ],
)
def test_invariant_11_the_place_told_last_supersedes_the_one_before(
    tmp_path: Path, texts: tuple[str, str], question: str
) -> None:
    before = texts[0].rstrip(".").split()[-1]
    turns = ["turn"]
    memory = tell(tmp_path, texts, NOW)
    found = memory.search(
        question, user_id=USER, memory_types=turns, include_superseded=True
    ).results
    assert before not in found[0].content
    assert not any(one.current for one in found if before in one.content)
