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
    ("before", "after", "question"),
    [
        (
            "Mi hermana vive en Vigo.",
            "Mi hermana se mudó a Gijón.",
            "¿Dónde vive mi hermana?",
        ),
        (
            "Mi gato se llama Tom.",
            "Mi gato murió la semana pasada.",
            "¿Cómo se llama mi gato?",
        ),
        (
            "Estoy casado con Marta.",
            "Me divorcié de Marta.",
            "¿Estoy casado?",
        ),
        (
            "Trabajo en Globex.",
            "Empecé un trabajo nuevo en Initech.",
            "¿Dónde trabajo?",
        ),
    ],
)
def test_invariant_11_a_change_stands_before_what_it_ends(
    tmp_path: Path, before: str, after: str, question: str
) -> None:
    told = (before, "Vivo en Lugo.", "Tengo dos hijos.", after)
    found = tell(tmp_path, told, NOW).search(question, user_id=USER).results
    first, *rest = found
    assert first.content.endswith(after)
    assert first.current
    assert not any(
        one.current for one in rest if before.split()[-1] in one.content
    )
