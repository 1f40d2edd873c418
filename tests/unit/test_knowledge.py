"""The knowledge verbs: what is set by hand goes through the writer, filtered like everything else."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.support.drivers import MAX_KEYS
from varve import Memory
from varve.domain.errors import Rejected

NOW = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
SECRET = "AKIA" + "IOSFODNN7EXAMPLQ"


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory.open(
        tmp_path / "store",
        workspace="acme",
        agent="support",
        now=NOW,
        environment={},
    )


def test_what_is_set_stands_from_now_on(memory: Memory) -> None:
    memory.set_profile("language", "French", user_id="u-42")
    (held,) = memory.profile(user_id="u-42")["attributes"]
    assert (held["key"], held["value"], held["since"]) == (
        "language",
        "French",
        "2026-03-02T09:15:00Z",
    )
    assert (held["conversationId"], held["messageIds"]) == (None, [])
    assert memory.profile()["attributes"] == []
    assert memory.profile()["userId"] == "default"


def test_setting_the_same_at_the_same_time_again_changes_nothing(
    memory: Memory,
) -> None:
    for _ in range(3):
        memory.set_profile("language", "French")
    assert len(memory.profile()["history"]) == 1


def test_a_secret_in_a_value_is_not_kept(
    memory: Memory, tmp_path: Path
) -> None:
    memory.set_profile("preferences", f"uses the key {SECRET}")
    (held,) = memory.profile()["attributes"]
    assert SECRET not in held["value"]
    assert held["value"].startswith("uses the key")
    assert not [
        p
        for p in tmp_path.rglob("*")
        if p.is_file() and SECRET.encode() in p.read_bytes()
    ]


def test_personal_data_leave_the_prompt_before_memory_is_asked(
    memory: Memory,
) -> None:
    memory.configure("privacy.email", "redact")
    said = {
        "role": "user",
        "name": "Dana",
        "content": "The boiler mail goes to dana@example.com, please.",
    }
    memory.ingest(
        {"conversationId": "c-1", "userId": "u-42", "messages": [said]}
    )
    document = "Boiler support: help@example.com answers within a day."
    block = memory.context(
        "Where does the boiler mail dana@example.com go?", documents=[document]
    )
    assert not block.empty
    assert "example.com" not in block.text


def test_a_profile_has_room_for_so_many_keys(memory: Memory) -> None:
    for number in range(MAX_KEYS):
        memory.set_profile(f"key_{number}", "x")
    memory.set_profile("key_0", "y", now=datetime(2026, 3, 3, tzinfo=UTC))
    with pytest.raises(Rejected, match=str(MAX_KEYS)):
        memory.set_profile("one_more", "x")


def test_tenants_have_profiles_of_their_own(
    memory: Memory, tmp_path: Path
) -> None:
    memory.set_profile("language", "French", user_id="u-42")
    other = Memory.open(
        tmp_path / "store",
        workspace="rival",
        agent="support",
        now=NOW,
        environment={},
    )
    assert other.profile(user_id="u-42")["history"] == []
