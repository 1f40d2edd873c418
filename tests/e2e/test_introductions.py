"""Self-introductions by work and place, and the questions that they answer."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.support.statements import tell
from varve import Memory

NOW = datetime(2026, 11, 24, 10, tzinfo=UTC)
BESIDE = (
    "My car is a red Ibiza.",
    "I like chess.",
    "I had a meeting with the bank about a loan.",
)
BESIDE_SPANISH = (
    "Mi coche es un Ibiza rojo.",
    "Me gusta el ajedrez.",
    "Tuve una reunión con el banco por un préstamo.",
)


def ask(path: Path, told: tuple[str, ...], question: str) -> str:
    memory: Memory = tell(path, told, NOW)
    return memory.search(question, user_id="u-1").results[0].content


@pytest.mark.parametrize(
    ("told", "question", "answer"),
    [
        ("I'm a nurse in Leeds.", "Where do I live?", "Leeds"),
        ("I'm a baker in Utrecht with two kids.", "Where do I live?", "Utrecht"),
        ("I'm a nurse in Leeds.", "What do I do for work?", "nurse"),
        ("backend dev in leeds, two kids", "What do I do for work?", "dev"),
        ("Data scientist from Porto, vegan", "What do I do for work?", "scientist"),
        ("34, engineer, Berlin", "What do I do for work?", "engineer"),
    ],
)  # fmt: skip
def test_an_introduction_tells_work_and_place(
    tmp_path: Path, told: str, question: str, answer: str
) -> None:
    assert answer in ask(tmp_path, (told, *BESIDE), question)


@pytest.mark.parametrize(
    ("told", "question", "answer"),
    [
        ("soy enfermera en Vigo", "¿Dónde vivo?", "Vigo"),
        ("soy enfermera en Vigo", "¿De qué trabajo?", "enfermera"),
        (
            "programadora en Cádiz, dos hijas",
            "¿De qué trabajo?",
            "programadora",
        ),
    ],
)
def test_a_spanish_introduction_tells_work_and_place(
    tmp_path: Path, told: str, question: str, answer: str
) -> None:
    assert answer in ask(tmp_path, (told, *BESIDE_SPANISH), question)


@pytest.mark.parametrize(
    "told",
    [
        ("I live in York.", "I'm a consultant in London.", *BESIDE),
        ("I'm a consultant in London.", "I live in York.", *BESIDE),
    ],
)
def test_a_place_of_work_is_no_home_where_one_is_told(
    tmp_path: Path, told: tuple[str, ...]
) -> None:
    assert "York" in ask(tmp_path, told, "Where do I live?")


def test_the_work_of_another_is_no_introduction(tmp_path: Path) -> None:
    told = ("My sister is a nurse in Leeds.", "I live in York.", *BESIDE)
    assert "York" in ask(tmp_path, told, "Where do I live?")
