"""Google ADK's runner with our memory service."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip(
    "google.adk", reason="make test-integrations installs google-adk"
)

from google.adk.agents import LlmAgent
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools import preload_memory
from google.genai import types

from tests.integrations.contract import ASKED, REPLY, TOLD, AdapterContract
from varve import Memory
from varve.integrations.adk import VarveMemoryService, keep_session

APP = "app"


class WrittenModel(BaseLlm):
    """A model that gives one reply and lists its inputs."""

    model: str = "written"
    seen: Any

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> Any:
        parts = [
            part for one in llm_request.contents for part in one.parts or []
        ]
        texts = [part.text or "" for part in parts]
        instruction = llm_request.config.system_instruction
        self.seen.append("\n".join([str(instruction), *texts]))
        reply = types.Content(role="model", parts=[types.Part(text=REPLY)])
        yield LlmResponse(content=reply)


class AdkTalker:
    def __init__(self, memory: Memory, user: str, conversation: str) -> None:
        self.seen: list[str] = []
        self.user = user
        self.conversation = conversation
        self.service = VarveMemoryService(memory)
        self.sessions = InMemorySessionService()
        agent = LlmAgent(
            name="assistant",
            model=WrittenModel(seen=self.seen),
            tools=[preload_memory],
            after_agent_callback=keep_session,
        )
        self.runner = Runner(
            app_name=APP,
            agent=agent,
            session_service=self.sessions,
            memory_service=self.service,
            auto_create_session=True,
        )

    async def say(self, text: str) -> str:
        given = types.Content(role="user", parts=[types.Part(text=text)])
        said = ""
        async for event in self.runner.run_async(
            user_id=self.user, session_id=self.conversation, new_message=given
        ):
            said = event.content.parts[0].text
        return said

    async def repeat(self) -> None:
        session = await self.sessions.get_session(
            app_name=APP, user_id=self.user, session_id=self.conversation
        )
        await self.service.add_session_to_memory(session)
        await self.service.add_events_to_memory(
            app_name=APP,
            user_id=self.user,
            events=session.events[-1:],
            session_id=session.id,
        )


class TestAdk(AdapterContract):
    make_talker = AdkTalker


def test_an_added_statement_is_found_with_its_id_and_date(
    tmp_path: Any,
) -> None:
    service = VarveMemoryService(Memory.open(tmp_path, environment={}))
    content = types.Content(parts=[types.Part(text=TOLD)])

    async def run() -> list[MemoryEntry]:
        for _ in range(2):
            await service.add_memory(
                app_name=APP,
                user_id="dana",
                memories=[MemoryEntry(content=content)],
            )
        found = await service.search_memory(
            app_name=APP, user_id="dana", query=ASKED
        )
        return found.memories

    found = asyncio.run(run())
    assert any("Porto" in str(entry.content) for entry in found)
    assert all(entry.id and entry.timestamp for entry in found)


def test_the_calls_of_one_turn_search_once(tmp_path: Any) -> None:
    memory = Memory.open(tmp_path, environment={})
    service = VarveMemoryService(memory)

    async def search(user: str) -> str:
        found = await service.search_memory(
            app_name=APP, user_id=user, query=ASKED
        )
        return str(found)

    async def run() -> tuple[str, str]:
        first = await search("dana")
        for user in ("dana", "marco"):
            said = {"role": "user", "content": TOLD}
            memory.ingest(
                {"conversationId": user, "userId": user, "messages": [said]}
            )
        assert await search("dana") == first
        return first, await search("marco")

    first, other = asyncio.run(run())
    assert "Porto" not in first
    assert "Porto" in other
