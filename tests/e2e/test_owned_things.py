"""A thing of a relative supersedes none of the speaker's own, whoever is named first (17)."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.support.statements import tell

NOW = datetime(2026, 11, 24, 10, tzinfo=UTC)
USER = "u-1"


def is_current(path: Path, told: str, later: str, question: str) -> bool:
    """Return whether a search and a list without a question both tell that `told` holds."""
    memory = tell(path, (told, later), NOW)
    marks = [
        one.current
        for query in (question, None)
        for one in memory.search(query, user_id=USER).results
        if one.conversation_id == "c-0"
    ]
    return all(marks)


@pytest.mark.parametrize(
    ("told", "later", "question"),
    [
        (
            "The wifi at home is called Bluebell.",
            "My mom got a new router, her wifi is now called Foxglove.",
            "What's my wifi called?",
        ),
        (
            "The wifi at home is called Bluebell.",
            "My mom got a new router. Her wifi is now called Foxglove.",
            "What's my wifi called?",
        ),
        (
            "My dentist is Dr Gray.",
            "My dad changed clinics, his dentist is now Dr Pike.",
            "Who is my dentist?",
        ),
        (
            "Our landlord is Mr Gray.",
            "My sister moved out, her landlord is now Mr Pike.",
            "Who is our landlord?",
        ),
        (
            "La wifi de casa se llama Bluebell.",
            "Mi madre tiene un router nuevo y su wifi ahora se llama Foxglove.",
            "¿Cómo se llama mi wifi?",
        ),
        (
            "La wifi de casa se llama Bluebell.",
            "La wifi de mi madre ahora se llama Foxglove.",
            "¿Cómo se llama mi wifi?",
        ),
        (
            "Mi dentista es el doctor Gris.",
            "El dentista de mi padre ahora es el doctor Pino.",
            "¿Quién es mi dentista?",
        ),
    ],
)
def test_17_a_thing_of_a_relative_leaves_the_own_one(
    tmp_path: Path, told: str, later: str, question: str
) -> None:
    assert is_current(tmp_path, told, later, question)


@pytest.mark.parametrize(
    ("told", "later", "question"),
    [
        (
            "The wifi at home is called Bluebell.",
            "My mom got us a new router, our wifi is now called Foxglove.",
            "What's my wifi called?",
        ),
        (
            "My dentist is Dr Gray.",
            "My mom recommended hers, my dentist is now Dr Pike.",
            "Who is my dentist?",
        ),
        (
            "My mom's wifi is called Bluebell.",
            "My mom got a new router, her wifi is now called Foxglove.",
            "What's my mom's wifi called?",
        ),
        (
            "My car is a Seat.",
            "My brother took the Seat, it's his car now.",
            "What car do I have?",
        ),
        (
            "Mi dentista es el doctor Gris.",
            "Mi madre me recomendó al suyo, ahora mi dentista es el doctor Pino.",
            "¿Quién es mi dentista?",
        ),
        (
            "El dentista de mi padre es el doctor Gris.",
            "Mi padre cambió de clínica y su dentista ahora es el doctor Pino.",
            "¿Quién es el dentista de mi padre?",
        ),
    ],
)
def test_17_what_is_told_of_the_same_thing_supersedes(
    tmp_path: Path, told: str, later: str, question: str
) -> None:
    assert not is_current(tmp_path, told, later, question)
