"""LangChain: a middleware that recalls and keeps, and a search tool.

Needs the extra `langchain`. Shapes: langchain 1.x, `langchain.agents.middleware`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any
from uuid import uuid4

from langchain.agents.middleware import AgentMiddleware, ModelRequest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.tools import StructuredTool
from langgraph.config import get_config

from varve.api.memory import Memory
from varve.domain.context import DEFAULT_TOKENS
from varve.integrations.search_tool import (
    DESCRIPTION,
    NAME,
    SCHEMA,
    answer_search_text,
)
from varve.integrations.turns import (
    Turn,
    TurnMemory,
    make_turn,
    require_user,
    tolerate,
)

UserOf = Callable[[Any], str]
"""Returns the user of a run from LangChain's `Runtime`."""
ROLES = {HumanMessage: "user", AIMessage: "assistant"}


class VarveMiddleware(AgentMiddleware):
    """Puts a block of memory before the newest user message, and keeps the turn after it.

    `user_id` is a user's id, a function of the `Runtime` for an agent that serves many
    users, or None for the agent's whole memory. The thread's id names the conversation;
    without one, each run is a conversation. The block enters the model's request only,
    never the agent's state.

    >>> agent = create_agent(model, middleware=[VarveMiddleware(memory, user_id="dana")])
    """

    def __init__(
        self,
        memory: Memory,
        *,
        user_id: str | UserOf | None,
        max_tokens: int = DEFAULT_TOKENS,
    ) -> None:
        super().__init__()
        self._turns = TurnMemory(memory, max_tokens)
        self._user_id = user_id

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Any],
    ) -> Any:
        """Call the model with the block of memory."""
        return handler(self._with_block(request))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[Any]],
    ) -> Any:
        """Call the model with the block of memory; the loop goes on while memory is read."""
        return await handler(
            await asyncio.to_thread(self._with_block, request)
        )

    def after_agent(self, state: Any, runtime: Any) -> None:
        """Keep the words of the run."""
        self._keep(state["messages"], runtime, _read_thread())

    async def aafter_agent(self, state: Any, runtime: Any) -> None:
        """Keep the words of the run; the loop goes on while memory is written."""
        thread = _read_thread()
        await asyncio.to_thread(self._keep, state["messages"], runtime, thread)

    def _with_block(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        index = _find_last_question(request.messages)
        if index is None:
            return request
        question = request.messages[index]
        block = ""
        with tolerate("recall"):
            user = self._find_user(request.runtime)
            block = self._turns.recall(question.text, user, turn=question.id)
        if not block:
            return request
        messages = list(request.messages)
        messages.insert(index, HumanMessage(block))
        return request.override(messages=messages)

    def _keep(
        self, messages: Sequence[BaseMessage], runtime: Any, thread: str | None
    ) -> None:
        if thread is None:
            thread = f"langchain-{uuid4().hex}"
            messages = messages[_find_last_question(messages) or 0 :]
        with tolerate("keep"):
            user = self._find_user(runtime)
            self._turns.keep(thread, _make_turns(messages), user)

    def _find_user(self, runtime: Any) -> str | None:
        if callable(self._user_id):
            return require_user(self._user_id(runtime))
        return self._user_id


def make_search_tool(memory: Memory, *, user_id: str | None) -> StructuredTool:
    """Return `search_memory` as a LangChain tool, for one user or the whole memory."""

    def search(**arguments: Any) -> str:
        return answer_search_text(memory, user_id, arguments)

    async def search_in_thread(**arguments: Any) -> str:
        return await asyncio.to_thread(search, **arguments)

    return StructuredTool(
        name=NAME,
        description=DESCRIPTION,
        args_schema=SCHEMA,
        func=search,
        coroutine=search_in_thread,
    )


def _make_turns(messages: Sequence[BaseMessage]) -> list[Turn]:
    """Return what user and assistant said; tools' messages and empty ones are left out."""
    turns = []
    for message in messages:
        role = ROLES.get(type(message))
        if role is not None and message.text.strip():
            message_id = message.id or uuid4().hex
            turns.append(make_turn(role, message.text, message_id))
    return turns


def _find_last_question(messages: Sequence[BaseMessage]) -> int | None:
    for index in range(len(messages) - 1, -1, -1):
        if isinstance(messages[index], HumanMessage):
            return index
    return None


def _read_thread() -> str | None:
    """Return the thread's id of the run, from LangGraph's configuration."""
    thread = get_config().get("configurable", {}).get("thread_id")
    return None if thread is None else str(thread)
