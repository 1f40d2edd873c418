"""A statement about one thing leaves another one of the same kind as it is (3, 11)."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from varve import Memory

NOW = datetime(2026, 11, 24, 10, tzinfo=UTC)
USER = "u-1"
TWO = [
    (
        "I take 5 mg of ramipril in the morning.",
        "I take 20 mg of atorvastatin at night.",
        "How much ramipril do I take?",
    ),
    (
        "I have a dentist appointment on June 10.",
        "I have a haircut appointment on June 15.",
        "When is my dentist appointment?",
    ),
    (
        "I play tennis on Mondays.",
        "I play chess on Thursdays.",
        "When do I play tennis?",
    ),
    (
        "Pagué 30 euros por el corte de pelo.",
        "Pagué 50 euros por el dentista.",
        "¿Cuánto costó el corte de pelo?",
    ),
    (
        "My daughter Eva goes to Oak School.",
        "My son Leo changed to Birch School.",
        "Which school does Eva go to?",
    ),
]
ONE = [
    (
        "I take 5 mg of ramipril in the morning.",
        "I take 10 mg of ramipril since May.",
        "How much ramipril do I take?",
    ),
    (
        "I have a dentist appointment on June 10.",
        "The dentist moved my appointment to June 15.",
        "When is my dentist appointment?",
    ),
    ("I live in Lisbon.", "I live in Porto.", "Do I live in Lisbon?"),
    ("Vivo en Lugo.", "Vivo en Vigo.", "¿Vivo en Lugo?"),
    (
        "Ana lives in Utrecht.",
        "Ana moved to Rotterdam.",
        "Does Ana still live in Utrecht?",
    ),
]


def tell(path: Path, first: str, second: str) -> Memory:
    """Return a memory of two statements, a month apart."""
    memory = Memory.open(path / "memory", now=NOW)
    for month, text in ((5, first), (6, second)):
        at = datetime(2026, month, 4, 8, tzinfo=UTC)
        memory.remember(text, user_id=USER, at=at)
    return memory


@pytest.mark.parametrize(("asked", "other", "question"), TWO)
def test_3_a_question_for_one_thing_is_not_answered_by_another(
    tmp_path: Path, asked: str, other: str, question: str
) -> None:
    memory = tell(tmp_path, asked, other)
    first = memory.search(question, user_id=USER).results[0]
    assert asked in first.content
    assert first.current


@pytest.mark.parametrize(("before", "after", "question"), ONE)
def test_3_a_change_of_the_same_thing_answers(
    tmp_path: Path, before: str, after: str, question: str
) -> None:
    memory = tell(tmp_path, before, after)
    first, *rest = memory.search(question, user_id=USER).results
    assert after.removesuffix(".").split()[-1] in first.content
    assert all(not one.current for one in rest if before in one.content)


@pytest.mark.parametrize(
    "question",
    ["Does Ana still live in Utrecht?", "Does Ana live in Utrecht?"],
)
def test_3_a_speaker_asked_for_by_name_has_moved(
    tmp_path: Path, question: str
) -> None:
    memory = Memory.open(tmp_path / "memory", now=NOW)
    for number, text in enumerate(
        ("I live in Utrecht with my dog Pixel.", "I moved to Rotterdam.")
    ):
        memory.ingest(
            {
                "conversationId": f"c-{number}",
                "userId": USER,
                "messages": [
                    {
                        "role": "user",
                        "name": "Ana Ruiz",
                        "content": text,
                        "timestamp": f"2026-0{number + 1}-12T09:00:00Z",
                    }
                ],
            }
        )
    first, second = memory.search(question, user_id=USER).results
    assert "Rotterdam" in first.content
    assert not second.current
