"""What users ask of themselves is found by its attribute, in words that it does not share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.test_told_last import NOW, talk
from varve import Memory
from varve.domain.rules.own_questions import find_asked_predicate


@pytest.mark.parametrize(
    ("predicate", "questions"),
    [
        (
            "works_as",
            ["What do I do for a living?", "what do i do", "¿A qué me dedico?", "¿Cuál es mi profesión?"],
        ),
        ("lives_in", ["Where do I live?", "¿Dónde vivo?", "donde vivo"]),
        ("age", ["How old am I?", "What’s my age?", "¿Cuántos años tengo?", "¿Qué edad tengo?"]),
        (
            "married_to",
            ["Who am I married to?", "What's my wife's name?", "¿Cómo se llama mi mujer?",
             "¿Con quién estoy casada?"],
        ),
        ("birthday", ["When was I born?", "When is my birthday?", "¿Cuándo nací?"]),
        ("allergic_to", ["What am I allergic to?", "¿A qué soy alérgica?"]),
        (
            None,
            ["Where did I live?", "Where does Ana live?", "Where do I live in the book?",
             "Where will I live?",
             "¿Dónde vivía?", "¿A qué se dedica Ana?", "What do I do if it rains?",
             "What is my brother's job?",
             "Who was I married to?", ""],
        ),
    ],
)  # fmt: skip
def test_a_question_of_oneself_asks_for_an_attribute(
    predicate: str | None, questions: list[str]
) -> None:
    for question in questions:
        assert find_asked_predicate(question) == predicate, question


@pytest.mark.parametrize(
    ("texts", "question"),
    [
        (
            (
                "Trabajo como enfermera en el hospital Miramar",
                "Mi hermano Leo trabaja como fontanero",
                "Tengo cita con el dentista el viernes",
            ),
            "¿A qué me dedico?",
        ),
        (
            ("I'm a nurse", "I live in Leeds", "My brother lives in York"),
            "What do I do for a living?",
        ),
        (
            ("Vivo en Bilbao", "Mi hermano vive en Sevilla", "Odio el cine"),
            "Where do I live?",
        ),
    ],
)  # fmt: skip
def test_the_own_answer_stands_first_though_it_shares_no_word(
    tmp_path: Path, texts: tuple[str, ...], question: str
) -> None:
    memory = Memory.open(tmp_path / "memory", now=NOW)
    for number, text in enumerate(texts):
        memory.ingest(talk(number, text))
    first, *_ = memory.search(question, user_id="u-1").results
    assert "m0-0" in first.source_ids


@pytest.mark.parametrize(
    ("earlier", "later", "question"),
    [
        ("I live in Leeds", "Our flat is in York now", "Where do I live?"),
        ("Vivo en Bilbao", "Mi casa está en Gijón desde hace poco", "¿Dónde vivo?"),
    ],
)  # fmt: skip
def test_a_later_answer_that_no_rule_reads_stays_first(
    tmp_path: Path, earlier: str, later: str, question: str
) -> None:
    memory = Memory.open(tmp_path / "memory", now=NOW)
    for number, text in enumerate((earlier, later)):
        memory.ingest(talk(number, text))
    first, *_ = memory.search(question, user_id="u-1").results
    assert "m1-0" in first.source_ids
