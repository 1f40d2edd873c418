"""A message of many sentences, of which a later message changes one."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.support.statements import tell
from varve import Memory
from varve.domain.statements.pairs.leaving import leaves_asked
from varve.domain.statements.texts.cues import read_cues

NOW = datetime(2026, 6, 1, tzinfo=UTC)
USER = "u-1"
LONG = (
    "My shoe size is 41. I grow tomatoes on the balcony. My dog is called Rex. "
    "I drive a blue Skoda. My boss is Helen Carter. I take my coffee without sugar. "
    "My favourite tea is rooibos. I'm learning Norwegian. My dentist is Doctor Pereira. "
    "I'm allergic to peanuts. I support Benfica. I go to the gym on Mondays."
)
LONG_SPANISH = (
    "Calzo un 41. Cultivo tomates en el balcón. Mi perro se llama Toby. "
    "Conduzco un Seat azul. Mi jefa es Elena Prieto. Tomo el café sin azúcar. "
    "Mi té favorito es el rooibos. Estoy aprendiendo noruego. Soy alérgica al polen. "
    "Mi dentista es el doctor Pereira. Voy al gimnasio los lunes."
)
CHANGES = (
    (LONG, "I sold the Skoda and bought a Fiat.", "drive"),
    (LONG, "From now on I go to the gym on Wednesdays.", "gym"),
    (LONG, "I now take my coffee with sugar.", "coffee"),
    (LONG, "I changed dentists, my new one is Doctor Lima.", "dentist"),
    (LONG_SPANISH, "Vendí el Seat y compré un Fiat.", "conduzco"),
    (
        LONG_SPANISH,
        "A partir de ahora voy al gimnasio los miércoles.",
        "gimnasio",
    ),
    (LONG_SPANISH, "Ahora tomo el café con azúcar.", "café"),
)
QUESTIONS = {
    LONG: {
        "What is my shoe size?": "41",
        "What do I grow on the balcony?": "tomatoes",
        "What is my dog called?": "Rex",
        "What car do I drive?": "Skoda",
        "How do I take my coffee?": "without sugar",
        "What is my favourite tea?": "rooibos",
        "Which language am I learning?": "Norwegian",
        "Who is my dentist?": "Pereira",
        "What am I allergic to?": "peanuts",
        "When do I go to the gym?": "Mondays",
    },
    LONG_SPANISH: {
        "¿Qué número calzo?": "41",
        "¿Qué cultivo en el balcón?": "tomates",
        "¿Cómo se llama mi perro?": "Toby",
        "¿Qué coche conduzco?": "Seat",
        "¿Cómo tomo el café?": "sin azúcar",
        "¿Cuál es mi té favorito?": "rooibos",
        "¿Qué idioma estoy aprendiendo?": "noruego",
        "¿A qué soy alérgica?": "polen",
        "¿Quién es mi dentista?": "Pereira",
        "¿Qué día voy al gimnasio?": "lunes",
    },
}


def list_current(memory: Memory, question: str, answer: str) -> list[bool]:
    """Return whether each result that holds the answer's words is current."""
    results = memory.search(question, user_id=USER, max_results=20).results
    return [one.current for one in results if answer in one.content]


def list_lines(memory: Memory, question: str, answer: str) -> list[str]:
    lines = memory.context(question, user_id=USER).text.split("\n")
    return [line for line in lines if answer in line]


@pytest.mark.parametrize(("told", "change", "changed"), CHANGES)
def test_invariant_11_a_change_leaves_the_other_sentences_of_a_message(
    tmp_path: Path, told: str, change: str, changed: str
) -> None:
    memory = tell(tmp_path, [told, change], NOW)
    for question, answer in QUESTIONS[told].items():
        current = list_current(memory, question, answer)
        assert current
        if changed in question.casefold():
            assert not all(current)
            continue
        assert all(current), question
        lines = list_lines(memory, question, answer)
        assert not any("no longer" in line for line in lines), question


def test_invariant_11_a_context_keeps_a_long_message_for_its_other_sentences(
    tmp_path: Path,
) -> None:
    change = "I sold the Skoda and bought a Fiat."
    memory = tell(tmp_path, [LONG, change], NOW)
    for question in ("What is my shoe size?", "What is my favourite tea?"):
        assert list_lines(memory, question, QUESTIONS[LONG][question])


@pytest.mark.parametrize(
    ("asked", "later", "left"),
    [
        ("What is my dog called?", "I moved to Porto.", True),
        ("Where do I live?", "I moved to Porto.", False),
        ("Where does my sister live?", "I moved to Porto.", True),
        ("Dana lives in Lisbon.", "I moved to Porto.", False),
        ("Dana's dog is called Rex.", "I moved to Porto.", True),
        ("What is our food budget?", "We moved last week.", True),
    ],
)
def test_what_is_asked_of_a_long_message_is_left_by_other_changes(
    asked: str, later: str, left: bool
) -> None:
    told = (
        "I live in Lisbon. My dog is called Rex. My sister Jule lives in Hamburg. "
        "I take the tram to work. Our food budget is 90 euros a week."
    )
    assert leaves_asked(read_cues(asked), told, read_cues(later)) is left


def test_invariant_11_a_long_message_holds_where_no_question_is_asked(
    tmp_path: Path,
) -> None:
    change = "I changed dentists, my new one is Doctor Lima."
    memory = tell(tmp_path, [LONG, change], NOW)
    listed = memory.search(user_id=USER, max_results=50).results
    [message] = [one for one in listed if "rooibos. I'm" in one.content]
    assert message.current
    shown = memory.show(message.id)
    assert shown["current"]
    assert shown["supersededBy"] is None
