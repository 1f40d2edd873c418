"""A question about the speaker is answered by what has its topic, not by another matter."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.support.statements import tell

NOW = datetime(2026, 11, 24, 10, tzinfo=UTC)
USER = "u-1"
VIDA = (
    "Estoy saliendo con Pablo.",
    "Mi coche es un Seat Ibiza.",
    "Desayuno tostadas con aceite.",
    "Trabajo en Endesa.",
    "Tengo cita con el dentista el 3 de noviembre.",
    "Estoy leyendo una novela de Galdós.",
    "He empezado clases de cerámica.",
    "He vendido el Ibiza, ahora voy en bici.",
    "Lo he dejado con Pablo.",
)
LIFE = (
    "I'm seeing Paul.",
    "My car is a Seat Ibiza.",
    "I have toast for breakfast.",
    "I work at Globex.",
    "My dentist appointment is on 3 November.",
    "I'm reading a novel by Austen.",
    "I started a pottery class.",
    "I sold the Ibiza, I cycle now.",
    "I broke up with Paul.",
)


@pytest.mark.parametrize(
    ("texts", "question", "value"),
    [
        (VIDA, "¿Tengo novio?", "Pablo"),
        (VIDA, "¿Tengo pareja?", "Pablo"),
        (VIDA, "¿Qué coche tengo?", "vendido"),
        (VIDA, "¿Dónde trabajo?", "Endesa"),
        (VIDA, "¿Qué desayuno?", "tostadas"),
        (VIDA, "¿Cuándo es mi cita?", "dentista"),
        (LIFE, "Do I have a boyfriend?", "Paul"),
        (LIFE, "What car do I have?", "sold"),
        (LIFE, "Where do I work?", "Globex"),
        (LIFE, "What do I have for breakfast?", "toast"),
        (LIFE, "When is my appointment?", "dentist"),
    ],
)
def test_what_is_of_the_matter_comes_first(
    tmp_path: Path, texts: tuple[str, ...], question: str, value: str
) -> None:
    memory = tell(tmp_path, texts, NOW)
    first = memory.search(question, user_id=USER).results[0]
    assert value in first.content
    assert first.current
    assert value in memory.context(question, user_id=USER).text


@pytest.mark.parametrize(
    ("told", "question", "value"),
    [
        ("Estoy saliendo con Marta.", "¿Tengo novia?", "Marta"),
        ("Estoy saliendo con Marta.", "¿Tengo novio?", "Marta"),
        ("Lo he dejado con Pablo.", "¿Tengo novio?", "Pablo"),
        ("Lo he dejado con Pablo.", "¿Tengo novia?", "Pablo"),
        (
            "He vendido el Ibiza, ahora voy en bici.",
            "¿Qué coche tengo?",
            "bici",
        ),
        ("I'm seeing Marta.", "Do I have a girlfriend?", "Marta"),
        ("I broke up with Paul.", "Do I have a boyfriend?", "Paul"),
        ("I sold the Ibiza, I cycle now.", "What car do I have?", "cycle"),
    ],
)
@pytest.mark.parametrize("others", [0, 2])
def test_a_topic_alone_finds_what_tells_of_it(
    tmp_path: Path, told: str, question: str, value: str, others: int
) -> None:
    beside = ("Estoy leyendo una novela.", "I'm painting the fence green.")
    memory = tell(tmp_path, (told, *beside[:others]), NOW)
    assert value in memory.search(question, user_id=USER).results[0].content
    assert value in memory.context(question, user_id=USER).text


@pytest.mark.parametrize(
    ("allergy", "later"),
    [
        ("Soy alérgica a las nueces.", "Ya no soy vegetariana, he vuelto a comer carne."),
        ("I'm allergic to peanuts.", "I'm not a vegetarian any more, I eat meat again."),
        ("I'm allergic to penicillin.", "I switched to a keto diet."),
        ("My daughter Ida is allergic to eggs.", "I stopped eating fish."),
    ],
)  # fmt: skip
def test_an_allergy_ends_by_words_about_it_alone(
    tmp_path: Path, allergy: str, later: str
) -> None:
    memory = tell(tmp_path, (allergy, later), NOW)
    word = allergy.rstrip(".").split()[-1]
    for question in (later, allergy, "What can I eat?", "¿Soy vegetariana?"):
        found = memory.search(question, user_id="u-1").results
        assert all(one.current for one in found if word in one.content)
        assert "no longer" not in memory.context(question, user_id="u-1").text


@pytest.mark.parametrize(
    ("allergy", "later"),
    [
        ("I'm allergic to peanuts.", "I can eat peanuts again."),
        ("I'm allergic to peanuts.", "My peanut allergy is gone."),
        ("Soy alérgica a las nueces.", "Ya no soy alérgica a las nueces."),
    ],
)
def test_words_about_an_allergy_end_it(
    tmp_path: Path, allergy: str, later: str
) -> None:
    memory = tell(tmp_path, (allergy, later), NOW)
    found = memory.search(later, user_id="u-1", max_results=10).results
    assert not next(one for one in found if one.date == "2026-01-05").current
