"""Strands' agent and memory manager with our store."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

pytest.importorskip(
    "strands", reason="make test-integrations installs strands-agents"
)

from strands import Agent
from strands.memory import AddMessagesContext, MemoryManager
from strands.models import Model

from tests.integrations.contract import REPLY, TOLD, AdapterContract
from varve import Memory
from varve.integrations.strands import VarveMemoryStore


class WrittenModel(Model):
    """A model that gives one reply and lists its inputs."""

    def __init__(self, seen: list[str]) -> None:
        self.seen = seen

    def update_config(self, **given: Any) -> None:
        raise NotImplementedError

    def get_config(self) -> Any:
        return {}

    def structured_output(self, *given: Any, **named: Any) -> Any:
        raise NotImplementedError

    async def stream(self, messages: Any, *given: Any, **named: Any) -> Any:
        texts = [block["text"] for one in messages for block in one["content"]]
        self.seen.append("\n".join(texts))
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"start": {}}}
        yield {"contentBlockDelta": {"delta": {"text": REPLY}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn"}}


class StrandsTalker:
    def __init__(self, memory: Memory, user: str, conversation: str) -> None:
        self.seen: list[str] = []
        self.store = VarveMemoryStore(
            memory, user_id=user, conversation_id=conversation
        )
        self.again = VarveMemoryStore(
            memory, user_id=user, conversation_id=conversation
        )
        self.manager = MemoryManager(stores=[self.store])
        self.agent = Agent(
            model=WrittenModel(self.seen),
            plugins=[self.manager],
            callback_handler=None,
        )

    async def say(self, text: str) -> str:
        result = await self.agent.invoke_async(text)
        await self.manager.flush()
        return str(result).strip()

    async def repeat(self) -> None:
        numbers = list(range(len(self.agent.messages)))
        context = AddMessagesContext(sequence_numbers=numbers)
        await self.again.add_messages(self.agent.messages, context)


class TestStrands(AdapterContract):
    make_talker = StrandsTalker


def test_the_managers_own_search_and_add_reach_memory(tmp_path: Any) -> None:
    memory = Memory.open(tmp_path, environment={})
    manager = MemoryManager(stores=[VarveMemoryStore(memory, user_id="dana")])

    async def run() -> list[Any]:
        await manager.add(TOLD)
        await manager.add(TOLD)
        return await manager.search("Porto", {"max_search_results": 1})

    (entry,) = asyncio.run(run())
    assert "Porto" in entry.content
    assert entry.store_name == "varve"
    assert entry.metadata["_date"] == str(datetime.now(UTC).date())
    turns = memory.search(memory_types=["turn"]).results
    assert len(turns) == 1


class UnhurriedStore(VarveMemoryStore):
    """A store whose writes take some turns of the event loop."""

    async def add_messages(
        self, messages: list[Any], context: AddMessagesContext | None = None
    ) -> None:
        await asyncio.sleep(0.05)
        await super().add_messages(messages, context)


def test_a_synchronous_call_returns_after_its_turns_are_kept(
    tmp_path: Any,
) -> None:
    memory = Memory.open(tmp_path, environment={})
    store = UnhurriedStore(memory, user_id="dana")
    agent = Agent(
        model=WrittenModel([]),
        plugins=[MemoryManager(stores=[store])],
        callback_handler=None,
    )
    agent(TOLD)
    kept = [
        result.content
        for result in memory.search(memory_types=["turn"]).results
    ]
    assert any("Porto" in content for content in kept)
