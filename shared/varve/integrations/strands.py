"""Strands Agents: a store for its `MemoryManager`.

Needs the extra `strands`. Shapes: strands-agents 1.62, `strands.memory.MemoryStore`.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from strands.hooks import AfterInvocationEvent, HookOrder
from strands.memory import (
    AddMessagesContext,
    ExtractionConfig,
    ExtractionTrigger,
    ExtractionTriggerContext,
    MemoryEntry,
    MemoryStore,
    SearchOptions,
)
from strands.types.content import Message

from varve.api.memory import Memory
from varve.domain.identity import digest
from varve.integrations.recalled import RecalledEntry, recall_entries
from varve.integrations.turns import Turn, make_turn, store_turns

DEFAULT_RESULTS = 5


class AwaitedTrigger(ExtractionTrigger):
    """Keeps the turns of each invocation before the invocation returns.

    Strands' own triggers save in the background. A synchronous call `agent(…)` cancels
    its background work when it returns, and with it a save that has not begun.
    """

    name = "awaited"

    def attach(self, context: ExtractionTriggerContext) -> None:
        """Fire after each invocation, and wait for the saves that this started."""

        async def save(event: AfterInvocationEvent) -> None:
            before = asyncio.all_tasks()
            context.fire()
            started = asyncio.all_tasks() - before
            if started:
                await asyncio.wait(started)

        context.agent.add_hook(
            save, AfterInvocationEvent, order=HookOrder.SDK_LAST
        )


class VarveMemoryStore(MemoryStore):
    """One user's memory, searched and written by Strands' `MemoryManager`.

    `user_id` None is the agent's whole memory. `conversation_id` must differ between
    agents; the default is a new one. The turns go in before each invocation returns,
    unless `extraction` says otherwise. Errors are raised, and the manager logs them.

    >>> store = VarveMemoryStore(memory, user_id="dana", conversation_id="c-1")
    >>> agent = Agent(model, plugins=[MemoryManager(stores=[store])])
    """

    def __init__(
        self,
        memory: Memory,
        *,
        user_id: str | None,
        conversation_id: str | None = None,
        name: str = "varve",
        description: str | None = "Earlier conversations, with their dates.",
        max_search_results: int | None = None,
        extraction: ExtractionConfig | bool | None = None,
    ) -> None:
        self.name = name
        self.description = description
        self.max_search_results = max_search_results
        self.writable = True
        self.extraction = extraction
        if extraction is None:
            self.extraction = ExtractionConfig(trigger=[AwaitedTrigger()])
        self._memory = memory
        self._user_id = user_id
        self._conversation_id = conversation_id or f"strands-{uuid4().hex}"

    async def search(
        self, query: str, options: SearchOptions | None = None
    ) -> list[MemoryEntry]:
        """Return the memories that bear on a query; none if all lie below the floor.

        Raises Rejected, Retryable, Misconfigured.
        """
        most = (options or {}).get(
            "max_search_results"
        ) or self.max_search_results
        found = await asyncio.to_thread(
            recall_entries,
            self._memory,
            query,
            self._user_id,
            most or DEFAULT_RESULTS,
        )
        return [_make_entry(entry) for entry in found]

    async def add(
        self, content: str, metadata: Mapping[str, Any] | None = None
    ) -> None:
        """Keep one statement; the same statement again adds nothing."""
        statement = make_turn(
            "user", content, f"added-{digest(content, length=24)}"
        )
        await self._store([statement])

    async def add_messages(
        self,
        messages: list[Message],
        context: AddMessagesContext | None = None,
    ) -> None:
        """Keep turns; the sequence numbers make a repeated batch add nothing.

        Raises Rejected, Retryable, Misconfigured.
        """
        numbers = context.sequence_numbers if context else None
        await self._store(_make_turns(messages, numbers))

    async def _store(self, turns: Sequence[Turn]) -> None:
        if turns:
            await asyncio.to_thread(
                store_turns,
                self._memory,
                self._conversation_id,
                turns,
                self._user_id,
            )


def _make_entry(entry: RecalledEntry) -> MemoryEntry:
    metadata = {"_id": entry.id, "_date": entry.date}
    return MemoryEntry(
        content=f"[{entry.date}] {entry.text}", metadata=metadata
    )


def _make_turns(
    messages: Sequence[Message], numbers: Sequence[int] | None
) -> list[Turn]:
    turns = []
    for place, message in enumerate(messages):
        text = "\n".join(
            block["text"] for block in message["content"] if "text" in block
        )
        number = place if numbers is None else numbers[place]
        if text.strip():
            # The numbers begin again with each agent, so the words tell them apart.
            message_id = f"{number}-{digest(text, length=16)}"
            turns.append(make_turn(message["role"], text, message_id))
    return turns
