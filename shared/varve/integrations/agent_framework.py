"""Microsoft Agent Framework: a context provider that recalls and keeps, and a search tool.

Needs the extra `agent-framework`. Shapes: agent-framework-core 1.23, `ContextProvider`.
"""

import asyncio
from collections.abc import Iterable, Iterator
from typing import Any
from uuid import uuid4

from agent_framework import (
    AgentSession,
    ContextProvider,
    FunctionTool,
    Message,
    SessionContext,
)

from varve.api.memory import Memory
from varve.domain.context import DEFAULT_TOKENS
from varve.domain.conversation import SPOKEN
from varve.integrations.search_tool import (
    DESCRIPTION,
    NAME,
    SCHEMA,
    answer_search_text,
)
from varve.integrations.turns import Turn, TurnMemory, make_turn

RUN = "run"
"""The key in the provider's state that holds the id of the session's newest run."""


class VarveContextProvider(ContextProvider):
    """Puts a block of memory before a run's messages, and keeps the run's words after it.

    `user_id` None is the agent's whole memory. The block is the provider's own context:
    history providers do not store it. The session's id names the conversation.

    >>> provider = VarveContextProvider(memory, user_id="dana")
    >>> agent = Agent(client, context_providers=[provider])
    """

    def __init__(
        self,
        memory: Memory,
        *,
        user_id: str | None,
        max_tokens: int = DEFAULT_TOKENS,
        source_id: str = "varve",
    ) -> None:
        super().__init__(source_id)
        self._turns = TurnMemory(memory, max_tokens)
        self._user_id = user_id

    async def before_run(
        self,
        *,
        agent: Any,
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        """Add the block that bears on the run's messages."""
        state[RUN] = uuid4().hex
        words = [text for role, text in _read_words(context.input_messages)]
        block = await asyncio.to_thread(
            self._turns.recall, "\n".join(words), self._user_id
        )
        if block:
            context.extend_messages(self, [Message("user", [block])])

    async def after_run(
        self,
        *,
        agent: Any,
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        """Keep the words of the run."""
        answered = context.response.messages if context.response else []
        turns = _make_turns([*context.input_messages, *answered], state[RUN])
        await asyncio.to_thread(
            self._turns.keep, session.session_id, turns, self._user_id
        )


def make_search_tool(memory: Memory, *, user_id: str | None) -> FunctionTool:
    """Return `search_memory` as a tool, for one user or the whole memory."""

    async def search(**arguments: Any) -> str:
        return await asyncio.to_thread(
            answer_search_text, memory, user_id, arguments
        )

    return FunctionTool(
        name=NAME, description=DESCRIPTION, func=search, input_model=SCHEMA
    )


def _make_turns(messages: Iterable[Message], run: str) -> list[Turn]:
    """Return the words of user and assistant, numbered within the run."""
    return [
        make_turn(role, text, f"{run}-{number}")
        for number, (role, text) in enumerate(_read_words(messages), 1)
    ]


def _read_words(messages: Iterable[Message]) -> Iterator[tuple[str, str]]:
    """Yield role and text of spoken messages; tool calls and their results are left out."""
    for message in messages:
        if message.role in SPOKEN and message.text.strip():
            yield str(message.role), message.text
