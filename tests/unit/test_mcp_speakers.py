"""Who speaks in what an MCP client remembers without a name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit.test_told_last import NOW
from varve import Memory
from varve.integrations.mcp_tools import Tools


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory.open(tmp_path, now=NOW)


def tell(memory: Memory, name: str, text: str, user: str = "u-1") -> None:
    message = {
        "role": "user",
        "name": name,
        "content": text,
        "timestamp": "2026-03-02T09:15:00Z",
    }
    conversation = f"c-{user}-{name}"
    memory.ingest(
        {"conversationId": conversation, "userId": user, "messages": [message]}
    )


def remember(
    memory: Memory, *messages: dict[str, Any], user: str | None = "u-1"
) -> dict[str, Any]:
    tools = Tools(memory, user, conversation_id="mcp-1")
    return tools.answer("remember", {"messages": list(messages)})


def list_speakers(memory: Memory) -> set[str | None]:
    records = memory.list(memory_types=["turn"], limit=100).records
    return {one.about for one in records if one.conversation_id == "mcp-1"}


@pytest.mark.parametrize(
    ("told", "asked"),
    [
        ("My phone number is 0612345678.", "Please forget my phone number."),
        ("Mi teléfono es el 612345678.", "Olvida mi número de teléfono."),
    ],
)
def test_a_request_without_a_name_hides_what_its_user_told_by_name(
    memory: Memory, told: str, asked: str
) -> None:
    tell(memory, "Ana", told)
    tell(memory, "Bo", told, user="u-2")
    (request,) = remember(memory, {"content": asked})["forgetRequests"]
    assert request["hidden"] == 1
    left = memory.search("phone 612345678 teléfono").results
    assert {one.user_id for one in left if "612345678" in one.content} == {
        "u-2"
    }


def test_a_repeated_message_stays_one_when_its_speakers_name_becomes_known(
    memory: Memory,
) -> None:
    said = {"content": "I play the cello."}
    remember(memory, said)
    tell(memory, "Ana", "I live in Utrecht.")
    assert remember(memory, said)["stored"]["turns"] == 0


@pytest.mark.parametrize(
    ("names", "message", "user", "speaker"),
    [
        (["Ana"], {"content": "I live in Faro."}, "u-1", "Ana"),
        (["Ana"], {"content": "I live in Faro.", "name": "Bo"}, "u-1", "Bo"),
        (["Ana", "Bo"], {"content": "I live in Faro."}, "u-1", "u-1"),
        (["Ana"], {"content": "I live in Faro."}, "u-2", "u-2"),
    ],
)
def test_only_the_one_known_name_of_the_user_is_given(
    memory: Memory,
    names: list[str],
    message: dict[str, Any],
    user: str,
    speaker: str,
) -> None:
    for name in names:
        tell(memory, name, "I have a dog.")
    remember(memory, message, user=user)
    assert list_speakers(memory) == {speaker}


def test_an_answer_and_a_server_without_a_user_get_no_name(
    memory: Memory,
) -> None:
    tell(memory, "Ana", "I live in Utrecht.")
    answer = {"role": "assistant", "content": "Utrecht has old canals."}
    remember(memory, answer)
    remember(memory, {"content": "I live in Faro."}, user=None)
    assert "Ana" not in list_speakers(memory)
