"""A conversation of several speakers without user ids: each has values of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit.test_profile import LATER, entry
from tests.unit.test_told_last import FIRST, NOW, search
from varve import Memory
from varve.cli.main import main
from varve.domain.current_profile import select_current_entries
from varve.domain.profile import (
    ProfileEntry,
    find_confirmations,
    find_speakers,
)

SAID = [
    ("Tom", "I'm allergic to shellfish."),
    ("Lena", "I live in Hamburg and I work at Otto."),
    ("Tom", "I live in Kiel."),
    ("Tom", "I have moved to Bremen now."),
    ("Priya", "I'm vegan and I hate cilantro."),
]


def chat(user: str | None = None) -> dict[str, Any]:
    messages = [
        {
            "id": f"m{place}",
            "role": "user",
            "name": name,
            "content": text,
            "timestamp": FIRST.replace(minute=place).isoformat(),
        }
        for place, (name, text) in enumerate(SAID)
    ]
    told: dict[str, Any] = {"conversationId": "g1", "messages": messages}
    return told if user is None else {**told, "userId": user}


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory.open(tmp_path / "memory", now=NOW)


@pytest.mark.parametrize("user", [None, "team"])
def test_2_a_context_names_the_speaker_of_each_attribute(
    memory: Memory, user: str | None
) -> None:
    memory.ingest(chat(user))
    block = memory.context("Where does Lena live?", user_id=user).text
    for line in (
        "Lena's location: Hamburg",
        "Tom's location: Bremen",
        "Tom's allergies: shellfish",
        "Priya's diet: vegan",
    ):
        assert line in block
    assert "] location" not in block
    best = search(memory, "Where does Lena live?")[0]
    assert "Hamburg" in best.content


def test_a_profile_names_the_speakers(
    memory: Memory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    memory.ingest(chat())
    attributes = memory.profile()["attributes"]
    homes = {
        one["name"]: one["value"]
        for one in attributes
        if one["key"] == "location"
    }
    assert homes == {"Lena": "Hamburg", "Tom": "Bremen"}
    store = ["--store", str(tmp_path / "memory"), "--now", NOW.isoformat()]
    assert main(["profile", "show", *store]) == 0
    assert "Hamburg of Lena" in " ".join(capsys.readouterr().out.split())


def test_a_profile_of_one_speaker_names_none(memory: Memory) -> None:
    told = chat()
    told["messages"] = [
        one for one in told["messages"] if one["name"] == "Tom"
    ]
    memory.ingest(told)
    assert all("name" not in one for one in memory.profile()["attributes"])
    block = memory.context("Where do I live?").text
    assert "] location: Bremen" in block


def values(*entries: ProfileEntry) -> list[tuple[str, str]]:
    held = select_current_entries(entries, LATER)
    return sorted((one.subject, one.value) for one in held)


TOM = entry(value="Kiel", subject="Tom")
LENA = entry(value="Bonn", day=1, subject="Lena")


def test_speakers_of_one_conversation_have_values_of_their_own() -> None:
    assert values(TOM, LENA) == [("Lena", "Bonn"), ("Tom", "Kiel")]
    later = entry(value="Oslo", day=2, subject="Tom", conversation_id="c-2")
    assert values(TOM, LENA, later) == [("Lena", "Bonn"), ("Tom", "Oslo")]
    end = entry(value="Kiel", day=2, subject="Tom", ends=True)
    assert values(TOM, LENA, end) == [("Lena", "Bonn")]


def test_one_person_may_have_used_several_names() -> None:
    renamed = entry(value="Oslo", day=2, subject="Thomas", conversation_id="2")
    nameless = entry(value="Rome", day=3, subject="User")
    by_id = entry(value="Ulm", day=4, subject="u-42")
    assert values(TOM, renamed) == [("Thomas", "Oslo")]
    assert values(TOM, nameless) == [("User", "Rome")]
    assert values(TOM, by_id) == [("u-42", "Ulm")]


def test_a_value_set_by_hand_replaces_that_of_every_speaker() -> None:
    by_hand = entry(
        value="Oslo", day=2, subject="", conversation_id=None, message_ids=()
    )
    assert values(TOM, LENA, by_hand) == [("", "Oslo")]
    end = entry(
        value="",
        day=2,
        subject="",
        conversation_id=None,
        message_ids=(),
        ends=True,
    )
    assert values(TOM, LENA, end) == []


def test_a_speaker_confirms_no_value_of_another() -> None:
    same = entry(value="Kiel", day=5, subject="Lena")
    assert find_speakers([TOM, same]) == {"tom", "lena"}
    confirmed = find_confirmations([TOM, same], LATER)
    assert confirmed[TOM.id] == TOM.event_time
