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


def tell_users(path: Path, told: dict[str, tuple[str, ...]]) -> Memory:
    """Return a memory of users without names in their messages."""
    memory = Memory.open(path / "memory", now=NOW)
    for number, (user, texts) in enumerate(told.items()):
        for place, text in enumerate(texts):
            said = message(7 * place + number, "", text)
            del said["name"]
            memory.ingest(
                {
                    "conversationId": f"{user}-{place}",
                    "userId": user,
                    "messages": [said],
                }
            )
    return memory


USERS = {
    "u-1": (
        "Hi, I'm Ana Ruiz",
        "I live in Utrecht and work at Globex.",
        "My dog is Rex.",
        "I moved to Porto.",
    ),
    "u-2": (
        "Hola, soy Ana Gil",
        "Vivo en Vigo y trabajo en Acme.",
        "Soy alérgica a los gatos.",
        "Me he mudado a Oviedo.",
    ),
    "u-3": (
        "I'm Robert Smith, everybody calls me Bob.",
        "I work at Initech.",
        "I'm allergic to nuts.",
        "I quit Initech, I'm at Umbrella now.",
    ),
}


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    """Return a memory of users who told their names; no test changes it."""
    return tell_users(tmp_path_factory.mktemp("users"), USERS)


@pytest.mark.parametrize(
    ("question", "user", "answer"),
    [
        ("Where does Ana Ruiz live?", "u-1", "Porto"),
        ("¿Dónde vive Ana Gil?", "u-2", "Oviedo"),
        ("¿Dónde trabaja Ana Gil?", "u-2", "Acme"),
        ("Where does Bob work?", "u-3", "Umbrella"),
        ("Where does Robert work?", "u-3", "Umbrella"),
        ("What are Bob's allergies?", "u-3", "nuts"),
        ("What's Robert's name?", "u-3", "Robert Smith"),
    ],
)
def test_a_user_is_asked_about_by_the_name_that_they_gave(
    users: Memory, question: str, user: str, answer: str
) -> None:
    first = users.search(question).results[0]
    assert answer in first.content
    assert first.user_id == user
    for other in USERS.keys() - {user}:
        pinned = users.search(question, user_id=other).results
        assert all(one.user_id == other for one in pinned)


def test_a_name_of_two_users_tells_no_single_one(users: Memory) -> None:
    answer = users.search("Where does Ana live?")
    assert "Ana Gil, Ana Ruiz" in str(answer.hint)
    assert {"u-1", "u-2"} <= {one.user_id for one in answer.results}


def test_what_another_tells_of_a_named_user_keeps_its_place(
    tmp_path: Path,
) -> None:
    told = {**USERS, "u-4": ("Hi, I'm Lena.", "Bob plays the tuba.")}
    memory = tell_users(tmp_path, told)
    first = memory.search("What instrument does Bob play?").results[0]
    assert "tuba" in first.content
