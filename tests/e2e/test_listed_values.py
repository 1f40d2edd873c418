"""What ends one member of a list leaves the others, without a triple of either (11)."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.support.statements import tell

NOW = datetime(2026, 11, 24, 10, tzinfo=UTC)
USER = "u-1"


def list_standing(
    path: Path, texts: tuple[str, ...], question: str
) -> set[bool]:
    """Return whether what was told first is current, as a search marks it."""
    found = tell(path, texts, NOW).search(question, user_id=USER).results
    return {one.current for one in found if one.conversation_id == "c-0"}


@pytest.mark.parametrize(
    ("told", "end", "question"),
    [
        (
            "I take ibuprofen and omeprazole.",
            "I stopped taking ibuprofen.",
            "What medication do I take?",
        ),
        (
            "I take ibuprofen and omeprazole.",
            "I stopped taking omeprazole.",
            "What medication do I take?",
        ),
        (
            "Tomo ibuprofeno y omeprazol.",
            "He dejado de tomar ibuprofeno.",
            "¿Qué medicación tomo?",
        ),
        (
            "I have two cats, Tom and Kit.",
            "Tom died last week.",
            "What pets do I have?",
        ),
        (
            "Tengo un perro y un gato.",
            "Mi perro murió.",
            "¿Qué mascotas tengo?",
        ),
        (
            "I go to yoga on Mondays and Thursdays.",
            "I stopped going to yoga on Mondays.",
            "When is yoga?",
        ),
    ],
)
def test_11_an_end_of_one_member_leaves_the_others_of_a_list(
    tmp_path: Path, told: str, end: str, question: str
) -> None:
    assert list_standing(tmp_path, (told, end), question) == {True}


@pytest.mark.parametrize(
    ("told", "end", "question"),
    [
        (
            "I take ibuprofen and omeprazole.",
            "I stopped taking ibuprofen.",
            "Do I take ibuprofen?",
        ),
        (
            "Tomo ibuprofeno y omeprazol.",
            "He dejado de tomar ibuprofeno.",
            "¿Tomo ibuprofeno?",
        ),
        (
            "I take ibuprofen and omeprazole.",
            "I stopped taking both.",
            "What medication do I take?",
        ),
        (
            "I have two cats, Tom and Kit.",
            "My cats died last week.",
            "What pets do I have?",
        ),
        (
            "I go to yoga on Mondays and Thursdays.",
            "I don't go to yoga any more.",
            "When is yoga?",
        ),
        (
            "My landlords are Ann and Bob.",
            "Ann and Bob sold the flat, they're not my landlords any more.",
            "Who are my landlords?",
        ),
        ("I live in Oslo, near the park.", "I left Oslo.", "Where do I live?"),
    ],
)
def test_11_an_end_of_all_or_of_the_member_asked_for_marks_the_list(
    tmp_path: Path, told: str, end: str, question: str
) -> None:
    assert list_standing(tmp_path, (told, end), question) == {False}
