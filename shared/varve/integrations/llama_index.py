"""LlamaIndex: a memory block that recalls and keeps, and a search tool.

Needs the extra `llama-index`. Shapes: llama-index-core 0.14, `memory.BaseMemoryBlock`.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import BaseMemoryBlock
from llama_index.core.tools import FunctionTool, ToolMetadata
from pydantic import PrivateAttr

from varve.api.memory import Memory
from varve.domain.context import DEFAULT_TOKENS
from varve.domain.conversation import SPOKEN
from varve.domain.identity import digest
from varve.integrations.search_tool import (
    DESCRIPTION,
    NAME,
    SCHEMA,
    answer_search_text,
)
from varve.integrations.turns import Turn, TurnMemory, make_turn

SESSION = "session_id"


class VarveMemoryBlock(BaseMemoryBlock[str]):
    """Gives LlamaIndex's `Memory` a block of long-term memory, and keeps the words.

    `user_id` None is the agent's whole memory. LlamaIndex reads its blocks before a model
    call and after an agent's run; the block keeps the words that the session has then. A
    chat engine does not read after a reply, which goes in with the next turn.

    >>> block = VarveMemoryBlock(memory, user_id="dana")
    >>> memory_of_agent = Memory.from_defaults(session_id="c-1", memory_blocks=[block])
    """

    name: str = "varve"
    _turns: TurnMemory = PrivateAttr()
    _user_id: str | None = PrivateAttr()

    def __init__(
        self,
        memory: Memory,
        *,
        user_id: str | None,
        max_tokens: int = DEFAULT_TOKENS,
        name: str = "varve",
        priority: int = 0,
    ) -> None:
        super().__init__(name=name, priority=priority)
        self._turns = TurnMemory(memory, max_tokens)
        self._user_id = user_id

    async def _aget(
        self, messages: list[ChatMessage] | None = None, **given: Any
    ) -> str:
        """Keep the session's words, and return the block for its newest question."""
        said = messages or []
        session = str(given.get(SESSION))
        questions = [
            text for role, text in _read_words(said) if role == "user"
        ]
        # Recalled first: this turn's own words are no memory yet.
        block = ""
        if questions:
            block = await asyncio.to_thread(
                self._turns.recall,
                questions[-1],
                self._user_id,
                turn=(session, len(questions)),
            )
        await self._keep(session, said)
        return block

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Keep messages that leave the short-term memory."""
        if messages:
            session = messages[0].additional_kwargs.get(SESSION)
            await self._keep(str(session), messages)

    async def _keep(
        self, session: str, messages: Sequence[ChatMessage]
    ) -> None:
        turns = _make_turns(session, messages)
        await asyncio.to_thread(
            self._turns.keep, session, turns, self._user_id
        )


def make_search_tool(memory: Memory, *, user_id: str | None) -> FunctionTool:
    """Return `search_memory` as a tool, for one user or the whole memory."""

    async def search(**arguments: Any) -> str:
        return await asyncio.to_thread(
            answer_search_text, memory, user_id, arguments
        )

    metadata = _SearchMetadata(DESCRIPTION, NAME)
    return FunctionTool(async_fn=search, metadata=metadata)


class _SearchMetadata(ToolMetadata):
    """Metadata with the schema of the tool, where LlamaIndex wants a Pydantic model."""

    def get_parameters_dict(self) -> dict[str, Any]:
        return SCHEMA


def _make_turns(session: str, messages: Iterable[ChatMessage]) -> list[Turn]:
    """Return spoken messages, with ids from words and number among equals.

    LlamaIndex has no ids of messages, and the places change as old ones leave.
    """
    alike: Counter[tuple[str, str]] = Counter()
    turns = []
    for role, text in _read_words(messages):
        alike[role, text] += 1
        number = str(alike[role, text])
        message_id = digest(session, role, text, number, length=24)
        turns.append(make_turn(role, text, message_id))
    return turns


def _read_words(messages: Iterable[ChatMessage]) -> list[tuple[str, str]]:
    """Return role and text of spoken messages; tool calls and their results are left out."""
    words = []
    for message in messages:
        text = message.content or ""
        if message.role.value in SPOKEN and text.strip():
            words.append((message.role.value, text))
    return words
