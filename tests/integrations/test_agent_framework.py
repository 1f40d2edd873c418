"""Microsoft Agent Framework's agent with our context provider and tool."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

pytest.importorskip(
    "agent_framework",
    reason="make test-integrations installs agent-framework-core",
)

from agent_framework import (
    Agent,
    AgentSession,
    BaseChatClient,
    ChatResponse,
    Message,
)

from tests.integrations.contract import (
    ASKED,
    REPLY,
    TOLD,
    AdapterContract,
    open_memory,
)
from varve import Memory
from varve.integrations.agent_framework import (
    VarveContextProvider,
    make_search_tool,
)


class WrittenClient(BaseChatClient):
    """A chat client that gives one reply and lists its inputs."""

    def __init__(self, seen: list[str]) -> None:
        super().__init__()
        self.seen = seen

    async def _inner_get_response(self, *, messages: Any, **given: Any) -> Any:
        self.seen.append("\n".join(message.text for message in messages))
        reply = Message("assistant", [REPLY])
        return ChatResponse(messages=[reply])


class RecordingProvider(VarveContextProvider):
    """Remembers what a run gave to it."""

    given: dict[str, Any]

    async def after_run(self, **given: Any) -> None:
        self.given = given
        await super().after_run(**given)


class AgentFrameworkTalker:
    def __init__(self, memory: Memory, user: str, conversation: str) -> None:
        self.seen: list[str] = []
        self.memory = memory
        self.user = user
        self.provider = RecordingProvider(memory, user_id=user)
        self.agent = Agent(
            WrittenClient(self.seen), context_providers=[self.provider]
        )
        self.session = AgentSession(session_id=conversation)

    async def say(self, text: str) -> str:
        answer = await self.agent.run(text, session=self.session)
        return str(answer.text)

    async def repeat(self) -> None:
        # Another process has no list of the kept turns.
        other = VarveContextProvider(self.memory, user_id=self.user)
        await other.after_run(**self.provider.given)


class TestAgentFramework(AdapterContract):
    make_talker = AgentFrameworkTalker


def test_the_block_is_not_stored_in_the_sessions_history(
    tmp_path: Any,
) -> None:
    memory = open_memory(tmp_path)

    async def run() -> tuple[str, str]:
        await AgentFrameworkTalker(memory, "dana", "c-1").say(TOLD)
        talker = AgentFrameworkTalker(memory, "dana", "c-2")
        await talker.say(ASKED)
        stored = json.dumps(talker.session.to_dict())
        await talker.say("And where is it?")
        return talker.seen[0], stored

    seen, stored = asyncio.run(run())
    assert "Porto" in seen
    assert ASKED in stored
    assert "Porto" not in stored


def test_the_tool_searches_one_users_memory(tmp_path: Any) -> None:
    memory = open_memory(tmp_path)
    for user, city in (("dana", "Porto"), ("marco", "Braga")):
        said = {"role": "user", "content": f"I moved to {city}."}
        memory.ingest(
            {"conversationId": city, "userId": user, "messages": [said]}
        )
    tool = make_search_tool(memory, user_id="dana")
    arguments = {"queryText": "moved", "userId": "marco"}
    given = asyncio.run(tool.invoke(arguments=arguments))
    answer = json.loads(given[0].text)
    assert {result["userId"] for result in answer["results"]} == {"dana"}
