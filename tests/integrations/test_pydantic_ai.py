"""Pydantic AI's agent with our capability."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip(
    "pydantic_ai", reason="make test-integrations installs pydantic-ai-slim"
)

from pydantic_ai import Agent
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import FunctionModel

from tests.integrations.contract import (
    ASKED,
    REPLY,
    TOLD,
    AdapterContract,
    list_memory,
)
from varve import Memory
from varve.integrations.pydantic_ai import VarveCapability


def read_texts(messages: list[ModelMessage]) -> str:
    kinds = (UserPromptPart, TextPart, ToolReturnPart)
    parts = [part for message in messages for part in message.parts]
    return "\n".join(
        str(part.content) for part in parts if isinstance(part, kinds)
    )


def make_model(seen: list[str], *calls: ToolCallPart) -> FunctionModel:
    """A model that first makes the calls, then gives one reply."""
    left = list(calls)

    def answer(messages: list[ModelMessage], info: Any) -> ModelResponse:
        seen.append(read_texts(messages))
        return ModelResponse([left.pop(0) if left else TextPart(REPLY)])

    return FunctionModel(answer)


class PydanticTalker:
    def __init__(self, memory: Memory, user: str, conversation: str) -> None:
        self.seen: list[str] = []
        self.conversation = conversation
        self.messages: list[ModelMessage] = []
        self.capability = VarveCapability(memory, user)
        self.make_anew = lambda: VarveCapability(memory, user)
        self.agent = Agent(
            make_model(self.seen), capabilities=[self.capability]
        )

    async def say(self, text: str) -> str:
        result = await self.agent.run(
            text,
            message_history=self.messages,
            conversation_id=self.conversation,
        )
        self.messages = result.all_messages()
        return result.output

    async def repeat(self) -> None:
        run: Any = SimpleNamespace(
            conversation_id=self.conversation, run_id="r"
        )
        result: Any = SimpleNamespace(all_messages=lambda: self.messages)
        await self.make_anew().after_run(run, result=result)


class TestPydanticAI(AdapterContract):
    make_talker = PydanticTalker


def test_the_block_stays_out_of_the_history(tmp_path: Any) -> None:
    memory = Memory.open(tmp_path, environment={})
    asyncio.run(PydanticTalker(memory, "dana", "c-1").say(TOLD))
    talker = PydanticTalker(memory, "dana", "c-2")
    asyncio.run(talker.say(ASKED))
    assert talker.seen[0].startswith("<varve-memory")
    assert read_texts(talker.messages) == f"{ASKED}\n{REPLY}"


def test_the_tool_searches_the_users_memory_in_the_same_turn(
    tmp_path: Any,
) -> None:
    memory = Memory.open(tmp_path, environment={})
    for user, city in (("dana", "Porto"), ("marco", "Braga")):
        said = {"role": "user", "content": f"I moved to {city}."}
        memory.ingest(
            {"conversationId": city, "userId": user, "messages": [said]}
        )
    seen: list[str] = []
    call = ToolCallPart(
        "search_memory", {"queryText": "moved", "userId": "marco"}
    )
    agent = Agent(
        make_model(seen, call),
        deps_type=str,
        capabilities=[VarveCapability(memory, lambda run: run.deps)],
    )
    asyncio.run(agent.run(ASKED, deps="dana"))
    assert seen[1].startswith(seen[0])
    assert "Porto" in seen[1].removeprefix(seen[0])
    assert "Braga" not in seen[1]


def test_a_run_whose_user_is_unknown_reads_and_keeps_nothing(
    tmp_path: Any,
) -> None:
    memory = Memory.open(tmp_path, environment={})
    asyncio.run(PydanticTalker(memory, "dana", "c-1").say(TOLD))
    before = list_memory(memory).results
    seen: list[str] = []
    capability = VarveCapability(memory, lambda run: run.deps)
    agent: Any = Agent(make_model(seen), capabilities=[capability])
    asyncio.run(agent.run(ASKED))
    assert "Porto" not in seen[0]
    assert list_memory(memory).results == before


def test_history_of_another_origin_is_not_kept(tmp_path: Any) -> None:
    memory = Memory.open(tmp_path, environment={})
    capability = VarveCapability(memory, "dana")
    agent = Agent(make_model([]), capabilities=[capability])
    history: Any = [ModelRequest([UserPromptPart("I sing in a choir.")])]
    asyncio.run(agent.run(TOLD, message_history=history))
    shown = " ".join(result.content for result in list_memory(memory).results)
    assert "Porto" in shown
    assert "choir" not in shown
