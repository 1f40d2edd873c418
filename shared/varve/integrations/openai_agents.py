"""OpenAI Agents SDK: a session that recalls and keeps, and a search tool.

Needs the extra `openai-agents`. Shapes: openai-agents 0.24, `agents.memory.Session`.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from agents import FunctionTool
from agents.run_config import CallModelData, ModelInputData

from varve.api.memory import Memory
from varve.domain.context import DEFAULT_TOKENS
from varve.domain.conversation import SPOKEN, Message
from varve.domain.identity import digest
from varve.integrations.search_tool import (
    DESCRIPTION,
    NAME,
    SCHEMA,
    answer_search_text,
)
from varve.integrations.turns import Turn, TurnMemory, make_turn

Item = Mapping[str, Any]


class VarveSession:
    """A `Session` around another that stores the items, such as `SQLiteSession`.

    Once the model has answered, the words of the session's items are kept in memory.
    `add_block` goes into the run's configuration; it puts a block of memory before the
    newest user message of a model call. Items that are popped or cleared stay in memory;
    `Memory.forget` erases them.

    >>> session = VarveSession(SQLiteSession("c-1"), memory, user_id="dana")
    >>> config = RunConfig(call_model_input_filter=session.add_block)
    >>> await Runner.run(agent, "Hello", session=session, run_config=config)
    """

    def __init__(
        self,
        items: Any,
        memory: Memory,
        *,
        user_id: str | None,
        max_tokens: int = DEFAULT_TOKENS,
    ) -> None:
        self.session_id: str = items.session_id
        self.session_settings = items.session_settings
        self._items = items
        self._turns = TurnMemory(memory, max_tokens)
        self._user_id = user_id

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """Return the newest `limit` items, or all, the oldest first."""
        found: list[Any] = await self._items.get_items(limit)
        return found

    async def add_items(self, items: list[Any]) -> None:
        """Store the items; if the model has answered, keep the words of the session."""
        await self._items.add_items(items)
        if any(item.get("role") == "assistant" for item in items):
            turns = self._make_turns(await self._items.get_items())
            await asyncio.to_thread(
                self._turns.keep, self.session_id, turns, self._user_id
            )

    async def pop_item(self) -> Any:
        """Remove the newest item and return it."""
        return await self._items.pop_item()

    async def clear_session(self) -> None:
        """Remove the session's items."""
        await self._items.clear_session()

    async def add_block(self, data: CallModelData[Any]) -> ModelInputData:
        """Return the model's input with the block of memory before the newest question."""
        items = data.model_data.input
        index = _find_last_question(items)
        if index is None:
            return data.model_data
        question = _read_text(items[index])
        block = await asyncio.to_thread(
            self._turns.recall, question, self._user_id, turn=index
        )
        if not block:
            return data.model_data
        added: Any = {"role": "user", "content": block}
        return replace(
            data.model_data, input=[*items[:index], added, *items[index:]]
        )

    def _make_turns(self, items: Sequence[Item]) -> list[Turn]:
        """Return what user and assistant said, numbered by their places in the session."""
        turns = []
        for number, item in enumerate(items):
            text = _read_text(item)
            if item.get("role") in SPOKEN and text.strip():
                # The place alone would come again after an item was popped.
                message_id = (
                    f"{self.session_id}-{number}-{digest(text, length=8)}"
                )
                turns.append(make_turn(item["role"], text, message_id))
        return turns


def make_search_tool(memory: Memory, *, user_id: str | None) -> FunctionTool:
    """Return `search_memory` as a function tool, for one user or the whole memory."""

    async def search(_: Any, arguments: str) -> str:
        given = json.loads(arguments or "{}")
        return await asyncio.to_thread(
            answer_search_text, memory, user_id, given
        )

    return FunctionTool(
        name=NAME,
        description=DESCRIPTION,
        params_json_schema=SCHEMA,
        on_invoke_tool=search,
        strict_json_schema=False,
    )


def _find_last_question(items: Sequence[Item]) -> int | None:
    for index in range(len(items) - 1, -1, -1):
        if items[index].get("role") == "user":
            return index
    return None


def _read_text(item: Item) -> str:
    if item.get("role") not in SPOKEN:
        return ""
    return Message(role=item["role"], content=item.get("content")).text
