"""Google ADK: a memory service.

Needs the extra `adk`. Shapes: google-adk 2.13, `google.adk.memory.BaseMemoryService`.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from google.adk.agents.callback_context import CallbackContext
from google.adk.events.event import Event
from google.adk.memory.base_memory_service import (
    BaseMemoryService,
    SearchMemoryResponse,
)
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions.session import Session
from google.genai import types

from varve.api.memory import Memory
from varve.domain.identity import digest
from varve.integrations.recalled import RecalledEntry, recall_entries
from varve.integrations.turns import Turn, make_turn, store_turns, tolerate

CACHE_SECONDS = 10
"""How long an answer serves the further model calls of one turn."""
CACHE_SIZE = 64


class VarveMemoryService(BaseMemoryService):
    """One agent's memory; ADK's user id pins every search and every turn.

    A session may be added several times: an event's id makes it known. `search_memory`
    answers empty if memory fails. Adding raises, because the application calls it.
    `app_name` is not used: the memory belongs to one agent.

    >>> runner = Runner(agent=agent, memory_service=VarveMemoryService(memory), ...)
    """

    def __init__(self, memory: Memory, *, max_results: int = 10) -> None:
        self._memory = memory
        self._max_results = max_results
        self._answers: dict[
            tuple[str, str], tuple[float, list[RecalledEntry]]
        ] = {}

    async def add_session_to_memory(self, session: Session) -> None:
        """Keep the session's words. Raises Rejected, Retryable, Misconfigured."""
        await self._store(session.user_id, session.id, session.events)

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Keep the words of some events. Raises Rejected, Retryable, Misconfigured."""
        await self._store(user_id, session_id or f"adk-{user_id}", events)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Keep statements; the same again adds nothing."""
        turns = []
        for entry in memories:
            text = _read_text(entry.content)
            entry_id = entry.id or f"added-{digest(text, length=24)}"
            turns.append(make_turn("user", text, entry_id))
        await self._store_turns(user_id, f"adk-{user_id}", turns)

    async def search_memory(
        self, *, app_name: str, user_id: str, query: str
    ) -> SearchMemoryResponse:
        """Return what bears on a query in the user's memory, and nothing below the floor."""
        found = await asyncio.to_thread(self._recall, query, user_id)
        return SearchMemoryResponse(
            memories=[_make_entry(entry) for entry in found]
        )

    def _recall(self, query: str, user_id: str) -> list[RecalledEntry]:
        """Return the entries; `preload_memory` asks the same before each model call."""
        known = self._answers.get((user_id, query))
        now = time.monotonic()
        if known is not None and now - known[0] < CACHE_SECONDS:
            return known[1]
        with tolerate("recall"):
            found = recall_entries(
                self._memory, query, user_id, self._max_results
            )
            if len(self._answers) >= CACHE_SIZE:
                self._answers.clear()
            self._answers[user_id, query] = (now, found)
            return found
        return []

    async def _store(
        self, user_id: str, session_id: str, events: Sequence[Event]
    ) -> None:
        await self._store_turns(user_id, session_id, _make_turns(events))

    async def _store_turns(
        self, user_id: str, session_id: str, turns: Sequence[Turn]
    ) -> None:
        if turns:
            await asyncio.to_thread(
                store_turns, self._memory, session_id, turns, user_id
            )


async def keep_session(callback_context: CallbackContext) -> None:
    """Add the session to the runner's memory; a failure is logged and the turn goes on.

    >>> agent = LlmAgent(..., after_agent_callback=keep_session)
    """
    with tolerate("keep"):
        await callback_context.add_session_to_memory()


def _make_turns(events: Sequence[Event]) -> list[Turn]:
    """Return the events with words; calls of tools and their answers have none."""
    turns = []
    for event in events:
        text = _read_text(event.content)
        if event.partial or not text:
            continue
        role = "user" if event.author == "user" else "assistant"
        at = datetime.fromtimestamp(event.timestamp, UTC)
        turns.append(make_turn(role, text, event.id, at=at))
    return turns


def _read_text(content: types.Content | None) -> str:
    parts = (content.parts if content else None) or []
    texts = [part.text for part in parts if part.text and not part.thought]
    return "\n".join(texts).strip()


def _make_entry(entry: RecalledEntry) -> MemoryEntry:
    content = types.Content(role="user", parts=[types.Part(text=entry.text)])
    return MemoryEntry(content=content, id=entry.id, timestamp=entry.date)
