"""A first try: a few short statements, of which one changes, and a question for each."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.support.statements import tell

NOW = datetime(2026, 11, 2, 10, tzinfo=UTC)
USER = "u-1"
MOVED = (
    "I live in Graz.",
    "My landlord is Mr Ortiz.",
    "The standup is at 10.",
    "Netflix costs 12 euros.",
    "I have two cats.",
    "I moved to Linz on Monday.",
)
STOPPED = (
    "I take omeprazole in the mornings.",
    "I have two cats.",
    "I drive a Skoda.",
    "My sister lives in Oslo.",
    "I'm no longer vegetarian.",
)


@pytest.mark.parametrize(
    ("told", "question", "words"),
    [
        (MOVED, "Where do I live?", "Linz"),
        (MOVED, "How much is Netflix?", "12 euros"),
        (STOPPED, "What pets do I have?", "two cats"),
        (STOPPED, "What car do I drive?", "Skoda"),
        (STOPPED, "Where does my sister live?", "Oslo"),
        (STOPPED, "What do I take in the mornings?", "omeprazole"),
    ],
)
def test_invariant_11_what_a_change_leaves_stands_first_and_current(
    tmp_path: Path, told: tuple[str, ...], question: str, words: str
) -> None:
    first, *_ = (
        tell(tmp_path, told, NOW).search(question, user_id=USER).results
    )
    assert words in first.content
    assert first.current


@pytest.mark.parametrize(
    ("told", "later", "question"),
    [
        (
            "We decided to paint the kitchen yellow.",
            "My flu is over, I feel fine again.",
            "What colour did we decide on for the kitchen?",
        ),
        (
            "I decided on hornbeam hedges.",
            "My knee is fine again, I ran five kilometres this morning.",
            "What hedges did I decide on?",
        ),
        (
            "The dentist appointment is on 3 May.",
            "Femke starts on 1 June and works three days a week.",
            "When is the dentist appointment?",
        ),
        (
            "I live in Braga.",
            "I moved my savings to Revolut.",
            "Where do I live?",
        ),
        (
            "I live in Braga.",
            "The dentist moved my appointment to 21 April at 16:30.",
            "Where do I live?",
        ),
    ],
)
def test_invariant_11_of_two_statements_another_matter_ends_nothing(
    tmp_path: Path, told: str, later: str, question: str
) -> None:
    found = tell(tmp_path, (told, later), NOW).search(question, user_id=USER)
    first, *_ = found.results
    assert told.removesuffix(".") in first.content
    assert first.current


def test_a_question_about_the_past_is_the_speakers_without_a_pronoun(
    tmp_path: Path,
) -> None:
    told = (
        "Tengo un Seat Ibiza rojo.",
        "He vendido el Ibiza y me he comprado un Toyota azul.",
    )
    memory = tell(tmp_path, told, NOW)
    for question in ("¿Qué coche tenía antes?", "¿Qué coche tenía?"):
        first, *_ = memory.search(question, user_id=USER).results
        assert "Seat Ibiza" in first.content


@pytest.mark.parametrize(
    ("before", "after", "question", "words"),
    [
        (
            "Mi hermana vive en Vigo.",
            "Mi hermana se mudó a Gijón.",
            "¿Dónde vive mi hermana?",
            "Gijón",
        ),
        (
            "Mi gato se llama Tom.",
            "Mi gato murió la semana pasada.",
            "¿Cómo se llama mi gato?",
            "murió",
        ),
        (
            "Estoy casado con Marta.",
            "Me divorcié de Marta.",
            "¿Estoy casado?",
            "divorci",
        ),
        (
            "Mi mujer se llama Eva.",
            "Eva y yo nos hemos divorciado.",
            "¿Cómo se llama mi mujer?",
            "divorci",
        ),
        (
            "Trabajo en Globex.",
            "Empecé un trabajo nuevo en Initech.",
            "¿Dónde trabajo?",
            "Initech",
        ),
    ],
)
def test_invariant_11_a_change_stands_before_what_it_ends(
    tmp_path: Path, before: str, after: str, question: str, words: str
) -> None:
    told = (before, "Vivo en Lugo.", "Tengo dos hijos.", after)
    found = tell(tmp_path, told, NOW).search(question, user_id=USER).results
    first, *rest = found
    assert words in first.content
    assert first.current
    assert not any(one.current for one in rest if before[-8:-1] in one.content)


@pytest.mark.parametrize(
    ("before", "after", "question", "value"),
    [
        ("I work at Globex.", "I joined Initech last week.", "Where do I work?", "Initech"),
        ("I work at Globex.", "Today was my first day at Initech.", "Where do I work?", "Initech"),
        ("My phone is an iPhone 12.", "I bought a Pixel 8.", "What phone do I have?", "Pixel"),
        ("I bank with Barclays.", "I moved my account to Monzo.", "Which bank am I with?", "Monzo"),
        ("I use Vim.", "I switched to Helix.", "Which editor do I use?", "Helix"),
        ("I'm on the night shift.", "They put me on days.", "Which shift am I on?", "days"),
        ("I support Leeds.", "I'm a Spurs fan now.", "Which team do I support?", "Spurs"),
        ("Trabajo de noche.", "Me pasaron a las mañanas.", "¿Qué turno tengo?", "mañanas"),
    ],
)  # fmt: skip
def test_invariant_11_the_later_of_two_statements_stands_first(
    tmp_path: Path, before: str, after: str, question: str, value: str
) -> None:
    memory = tell(tmp_path, (before, after), NOW)
    first, *rest = memory.search(question, user_id=USER).results
    assert value in first.content
    assert not any(one.current for one in rest)
    assert value in memory.context(question, user_id=USER).text
