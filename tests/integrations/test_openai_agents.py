"""The OpenAI Agents SDK's runner with our session and tool."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

pytest.importorskip(
    "agents", reason="make test-integrations installs openai-agents"
)

from agents import (
    Agent,
    Model,
    ModelResponse,
    RunConfig,
    Runner,
    Session,
    SQLiteSession,
    Usage,
)
from openai.types.responses import ResponseOutputMessage, ResponseOutputText

from tests.integrations.contract import (
    REPLY,
    TOLD,
    AdapterContract,
    list_memory,
)
from varve import Memory
from varve.integrations.openai_agents import VarveSession, make_search_tool


class WrittenModel(Model):
    """A model that gives one reply and lists its inputs."""

    def __init__(self, seen: list[str]) -> None:
        self.seen = seen

    async def get_response(
        self, system_instructions: Any, input: Any, *given: Any, **named: Any
    ) -> ModelResponse:
        self.seen.append("\n".join(str(item["content"]) for item in input))
        text = ResponseOutputText(
            text=REPLY, type="output_text", annotations=[]
        )
        message = ResponseOutputMessage(
            id="__fake_id__",  # as for chat completions: the same for every message
            content=[text],
            role="assistant",
            status="completed",
            type="message",
        )
        return ModelResponse(output=[message], usage=Usage(), response_id=None)

    def stream_response(self, *given: Any, **named: Any) -> Any:
        raise NotImplementedError


class OpenAITalker:
    def __init__(self, memory: Memory, user: str, conversation: str) -> None:
        self.seen: list[str] = []
        self.memory = memory
        self.user = user
        self.log = SQLiteSession(conversation)
        self.session = VarveSession(self.log, memory, user_id=user)
        self.agent = Agent("assistant", model=WrittenModel(self.seen))
        self.config = RunConfig(
            call_model_input_filter=self.session.add_block,
            tracing_disabled=True,
        )

    async def say(self, text: str) -> str:
        result = await Runner.run(
            self.agent, text, session=self.session, run_config=self.config
        )
        return str(result.final_output)

    async def repeat(self) -> None:
        # Another process with the same log of items.
        again = VarveSession(self.log, self.memory, user_id=self.user)
        answered = {"role": "assistant", "content": []}
        await again.add_items([answered])


class TestOpenAIAgents(AdapterContract):
    make_talker = OpenAITalker


def test_it_is_a_session_of_the_sdk(tmp_path: Any) -> None:
    memory = Memory.open(tmp_path, environment={})
    assert isinstance(
        VarveSession(SQLiteSession("c"), memory, user_id="dana"), Session
    )


def test_popped_and_cleared_items_leave_the_session(tmp_path: Any) -> None:
    memory = Memory.open(tmp_path, environment={})

    async def run() -> None:
        talker = OpenAITalker(memory, "dana", "c-1")
        await talker.say(TOLD)
        assert len(await talker.session.get_items(1)) == 1
        popped = await talker.session.pop_item()
        assert popped["role"] == "assistant"
        await talker.session.clear_session()
        assert await talker.session.get_items() == []

    asyncio.run(run())
    assert any(
        "Porto" in result.content for result in list_memory(memory).results
    )


def test_the_tool_searches_one_users_memory(tmp_path: Any) -> None:
    memory = Memory.open(tmp_path, environment={})
    for user, city in (("dana", "Porto"), ("marco", "Braga")):
        said = {"role": "user", "content": f"I moved to {city}."}
        memory.ingest(
            {"conversationId": city, "userId": user, "messages": [said]}
        )
    tool = make_search_tool(memory, user_id="dana")
    arguments = json.dumps({"queryText": "moved", "userId": "marco"})
    given: Any = None
    answer = json.loads(asyncio.run(tool.on_invoke_tool(given, arguments)))
    assert {result["userId"] for result in answer["results"]} == {"dana"}
