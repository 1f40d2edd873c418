"""A question that names a thing by two words, or by its place, is answered by that thing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.test_told_last import NOW, talk
from varve import Memory


@pytest.mark.parametrize(
    ("thing", "other", "question"),
    [
        (
            "The alarm code is 4471.",
            "My dentist is on Mondays.",
            "What is the alarm code?",
        ),
        (
            "The birthday budget is 300.",
            "I have yoga in March.",
            "What is the birthday budget?",
        ),
        (
            "The invoice template is in Drive.",
            "I pay 40 euros for the gym.",
            "Where is the invoice template?",
        ),
        (
            "El código de la cita es 4471.",
            "Tengo yoga los lunes.",
            "¿Cuál es el código de la cita?",
        ),
        (
            "La playlist del cumpleaños está en Drive.",
            "Tengo yoga los lunes.",
            "¿Dónde está la playlist del cumpleaños?",
        ),
    ],
)
def test_a_thing_is_named_by_two_words_and_not_by_the_topic_of_one(
    tmp_path: Path, thing: str, other: str, question: str
) -> None:
    memory = Memory.open(tmp_path / "memory", now=NOW)
    memory.ingest([talk(1, thing), talk(4, other)])
    results = list(memory.search(question).results)
    assert thing in results[0].content
    assert all(result.current for result in results)
