"""Questions for one of several speakers by name, who told their states themselves."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from varve import Memory

NOW = datetime(2026, 11, 24, 10, tzinfo=UTC)
FIRST = NOW - timedelta(days=60)

ENGLISH = (
    ("Jonas", "I play the cello in an amateur orchestra."),
    ("Marta", "I play the violin, badly."),
    ("Jonas", "My daughter Lena plays the flute."),
    ("Ben", "I drive a Golf."),
    ("Ana", "I go running every morning."),
    ("Marta", "I sing in a choir."),
    ("Jonas", "I switched from the cello to the double bass."),
    ("Ben", "I sold the Golf and bought a Tesla."),
    ("Ana", "I stopped running, I swim now."),
)
SPANISH = (
    ("Jonas", "Toco el violonchelo en una orquesta."),
    ("Marta", "Yo toco el violín."),
    ("Jonas", "Mi hija Lena toca la flauta."),
    ("Ben", "Conduzco un Golf."),
    ("Marta", "Canto en un coro."),
    ("Jonas", "He cambiado el violonchelo por el contrabajo."),
    ("Ben", "He vendido el Golf y me he comprado un Tesla."),
)


def message(place: int, name: str, text: str) -> dict[str, Any]:
    at = FIRST + timedelta(days=place)
    return {
        "id": f"m{place}",
        "role": "user",
        "name": name,
        "content": text,
        "timestamp": at.isoformat(),
    }


def tell(
    path: Path, told: tuple[tuple[str, str], ...], *, users: bool = False
) -> Memory:
    """Return a memory of several speakers, each of them a user or all without one."""
    memory = Memory.open(path / "memory", now=NOW)
    for place, (name, text) in enumerate(told):
        conversation: dict[str, Any] = {
            "conversationId": f"c{place}",
            "messages": [message(place, name, text)],
        }
        if users:
            conversation["userId"] = f"u-{name.lower()}"
        memory.ingest(conversation)
    return memory


@pytest.mark.parametrize("users", [False, True])
@pytest.mark.parametrize(
    ("told", "question", "holds", "over"),
    [
        (ENGLISH, "What instrument does Jonas play?", "bass", "orchestra"),
        (ENGLISH, "What car does Ben drive?", "Tesla", "I drive a Golf"),
        (ENGLISH, "What sport does Ana do?", "swim", "every morning"),
        (SPANISH, "¿Qué instrumento toca Jonas?", "contrabajo", "orquesta"),
        (SPANISH, "¿Qué conduce Ben?", "Tesla", "Conduzco"),
    ],
)
def test_a_named_speaker_has_what_they_changed_last(
    tmp_path: Path,
    told: tuple[tuple[str, str], ...],
    question: str,
    holds: str,
    over: str,
    users: bool,
) -> None:
    memory = tell(tmp_path, told, users=users)
    results = memory.search(question).results
    assert holds in results[0].content
    assert results[0].current
    (before,) = (one for one in results if over in one.content)
    assert not before.current


@pytest.mark.parametrize(
    ("told", "question", "holds"),
    [
        (ENGLISH, "What instrument does Marta play?", "violin"),
        (SPANISH, "¿Qué instrumento toca Marta?", "violín"),
    ],
)
def test_a_named_speaker_keeps_what_another_changed(
    tmp_path: Path,
    told: tuple[tuple[str, str], ...],
    question: str,
    holds: str,
) -> None:
    first = tell(tmp_path, told).search(question).results[0]
    assert holds in first.content
    assert first.current


@pytest.mark.parametrize(
    "later",
    [
        "I almost gave up the cello.",
        "I bought a new bow for the cello.",
        "I started a cello blog.",
        "My brother switched from the cello to the drums.",
        "I moved to Porto.",
    ],
)
def test_a_named_speaker_keeps_what_no_own_change_names(
    tmp_path: Path, later: str
) -> None:
    told = (*ENGLISH[:2], ("Jonas", later))
    memory = tell(tmp_path, told)
    first = memory.search("What instrument does Jonas play?").results[0]
    assert "orchestra" in first.content
    assert first.current
