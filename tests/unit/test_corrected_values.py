"""A correction of a day or a number leaves what has no such value."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.test_told_last import NOW, find, talk
from varve import Memory
from varve.domain.statements.pairs.corrected_values import (
    corrects_another_value,
)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I love pasta", "Sorry, I meant 3 June"),
        ("I live in Bristol", "Sorry, I meant 3 June"),
        ("Our policy number is PL-88213", "sorry, i meant 5pm"),
        ("I take 5 mg of ramipril", "sorry, i meant 5pm"),
        (
            "Our policy number is PL-88213",
            "Correction: the board meeting is on 14 December",
        ),
        ("Vivo en Gijón", "perdón, quería decir el miércoles"),
        ("me encanta la paella", "perdón, quería decir el 3 de junio"),
    ],
)
def test_a_correction_leaves_what_has_no_such_value(
    earlier: str, later: str
) -> None:
    assert corrects_another_value(earlier, later)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("My birthday is 3 May", "Sorry, I meant 3 June"),
        ("our yoga class is at 4pm on Mondays", "sorry, i meant 5pm"),
        ("El dentista es el martes", "perdón, quería decir el miércoles"),
        ("My appointment is tomorrow", "Sorry, I meant 3 June"),
        ("We have two cats", "sorry, I meant 3 cats"),
        ("I live in Lisbon", "Sorry, I meant Porto"),
        ("I live in Lisbon", "We moved on 3 June"),
        (
            "I'm pretty sure it's the spray arm",
            "turns out it was the 2 clogged filters all along, not that",
        ),
    ],
)
def test_a_correction_may_correct_its_own_value_or_another_text(
    earlier: str, later: str
) -> None:
    assert not corrects_another_value(earlier, later)


@pytest.mark.parametrize(
    ("told", "question", "answer"),
    [
        (
            ("My birthday is 3 May", "I love pasta", "Sorry, I meant 3 June"),
            "What food do I love?",
            "pasta",
        ),
        (
            (
                "our yoga class is at 4pm on Mondays",
                "Our policy number is PL-88213",
                "sorry, i meant 5pm",
            ),
            "What's our policy number?",
            "PL-88213",
        ),
        (
            (
                "El dentista es el martes",
                "Vivo en Gijón",
                "perdón, quería decir el miércoles",
            ),
            "¿Dónde vivo?",
            "Gijón",
        ),
    ],
)
def test_invariant_11_a_corrected_day_does_not_answer_for_other_matters(
    tmp_path: Path, told: tuple[str, ...], question: str, answer: str
) -> None:
    memory = Memory.open(tmp_path / "memory", now=NOW)
    for number, text in enumerate(told):
        memory.ingest(talk(number, text))
    results = list(memory.search(question, user_id="u-1").results)
    assert answer in results[0].content
    assert find(results, answer).current
