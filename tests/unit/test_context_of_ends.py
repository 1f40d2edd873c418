"""A context has the change that ended what its prompt asks for, in either language."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.test_told_last import NOW, talk
from varve import Memory
from varve.domain.statements.questions.bearing import (
    bears_on,
    concerns,
    goes_on_from,
)

ENDED = [
    (
        "Estoy con Pablo desde hace dos años.",
        "Pablo y yo hemos roto.",
        "¿Sigo con Pablo?",
    ),
    (
        "I am married to Jonas.",
        "Jonas and I got divorced.",
        "Who is my husband?",
    ),
    (
        "Se ha roto la lavadora.",
        "Ya está arreglada.",
        "¿Funciona la lavadora?",
    ),
    (
        "The washing machine is broken.",
        "It's fixed now.",
        "Does the washing machine work?",
    ),
]

FACTS = {"Jonas and I got divorced.": "u-1 and Jonas are divorced."}
"""The facts that tell an end in the place of its words."""


@pytest.mark.parametrize(("held", "end", "prompt"), ENDED)
def test_11_a_context_tells_the_end_of_what_its_prompt_asks_for(
    tmp_path: Path, held: str, end: str, prompt: str
) -> None:
    memory = Memory.open(tmp_path / "memory", now=NOW)
    memory.ingest([talk(1, held), talk(30, end)])
    told = memory.context(prompt, user_id="u-1").text
    assert FACTS.get(end, end) in told


@pytest.fixture(scope="module")
def acquainted(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    """Return a memory of two persons; no test changes it."""
    memory = Memory.open(tmp_path_factory.mktemp("memory"), now=NOW)
    memory.ingest(
        [
            talk(1, "Ana Ruiz es mi dentista."),
            talk(2, "Fui al cine con Pedro."),
        ]
    )
    return memory


@pytest.mark.parametrize(
    "prompt",
    [
        "¿Qué sabemos de Ana?",
        "What do we know about Ana?",
        "¿Qué sabes de Ana?",
        "Do you remember Ana?",
        "¿Te acuerdas de Ana?",
    ],
)
def test_a_prompt_that_asks_what_memory_knows_gets_it(
    acquainted: Memory, prompt: str
) -> None:
    block = acquainted.context(prompt, user_id="u-1").text
    assert "Ana Ruiz" in block
    assert "Pedro" not in block


@pytest.mark.parametrize(
    ("prompt", "words"),
    [
        ("¿Cuántos habitantes tiene Berlín?", "Vivo en Berlín."),
        ("What's the population of Berlin?", "I live in Berlin."),
        ("What do people eat in Japan?", "I eat no meat."),
        ("Explain how a washing machine works.", "The kettle is broken."),
        ("¿Cómo funciona una lavadora?", "Fui al cine con Ana."),
    ],
)
def test_a_prompt_about_the_world_gets_nothing(
    prompt: str, words: str
) -> None:
    assert not bears_on(prompt, words)


def test_a_statement_that_another_ended_concerns_a_question_alone() -> None:
    told = "Se ha roto la lavadora."
    assert concerns("¿Funciona la lavadora?", told)
    assert not concerns("La lavadora es blanca.", told)
    assert not concerns("¿Qué tal está Ana?", told)
    assert not concerns("How do I use a washing machine?", told)


def test_a_change_without_a_thing_goes_on_from_what_named_it() -> None:
    assert goes_on_from("It's fixed now.")
    assert goes_on_from("Ya está arreglada.")
    assert not goes_on_from("The wifi in the office is fixed now.")
    assert not goes_on_from("Nice.")
