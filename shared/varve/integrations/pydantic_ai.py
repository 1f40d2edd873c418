"""Pydantic AI: a capability that recalls, keeps and offers a search tool.

Needs the extra `pydantic-ai`. Shapes: pydantic-ai 2.62 to 2.68, `pydantic_ai.capabilities`.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic_ai import RunContext, Tool
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    TextPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.run import AgentRunResult
from pydantic_ai.toolsets import AgentToolset, FunctionToolset

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

UserOf = Callable[[RunContext[Any]], str]
"""Returns the user of a run from its context, such as `lambda run: run.deps.user`."""


@dataclass
class VarveCapability(AbstractCapability[Any]):
    """Puts a block of memory before the newest prompt, and keeps the turn after it.

    `user_id` is a user's id, a function of the `RunContext` for an agent that serves
    many users, or None for the agent's whole memory. With `with_tool` the model may
    search by itself. The block enters the model's request only, never the history.

    >>> agent = Agent(model, capabilities=[VarveCapability(memory, user_id="dana")])
    """

    memory: Memory
    user_id: str | UserOf | None
    max_tokens: int = DEFAULT_TOKENS
    with_tool: bool = True
    _turns: TurnMemory = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._turns = TurnMemory(self.memory, self.max_tokens)

    def get_toolset(self) -> AgentToolset[Any] | None:
        """Return `search_memory`, unless `with_tool` is off."""
        if not self.with_tool:
            return None

        async def search(run: RunContext[Any], **arguments: Any) -> str:
            user = self._find_user(run)
            return await asyncio.to_thread(
                answer_search_text, self.memory, user, arguments
            )

        tool = Tool.from_schema(
            search, NAME, DESCRIPTION, SCHEMA, takes_ctx=True
        )
        return FunctionToolset([tool])

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Put the block of memory before the newest prompt."""
        messages = request_context.messages
        index = _find_last_prompt(messages)
        if index is None:
            return request_context
        prompt = "\n".join(_read_prompts(messages[index]))
        block = ""
        with tolerate("recall"):
            user = self._find_user(ctx)
            block = await asyncio.to_thread(
                self._turns.recall, prompt, user, turn=ctx.run_id
            )
        if not block:
            return request_context
        added = replace(
            messages[index],
            parts=[UserPromptPart(block), *messages[index].parts],
        )
        changed = [*messages[:index], added, *messages[index + 1 :]]
        return replace(request_context, messages=changed)

    async def after_run(
        self, ctx: RunContext[Any], *, result: AgentRunResult[Any]
    ) -> AgentRunResult[Any]:
        """Keep the words of the conversation's runs."""
        conversation = ctx.conversation_id or ctx.run_id or ""
        with tolerate("keep"):
            turns = _make_turns(result.all_messages(), conversation)
            user = self._find_user(ctx)
            await asyncio.to_thread(
                self._turns.keep, conversation, turns, user
            )
        return result

    def _find_user(self, run: RunContext[Any]) -> str | None:
        if callable(self.user_id):
            return require_user(self.user_id(run))
        return self.user_id


def _make_turns(
    messages: Sequence[ModelMessage], conversation: str
) -> list[Turn]:
    """Return the words of this conversation's runs, numbered within each run."""
    turns: list[Turn] = []
    numbers: Counter[str] = Counter()
    for message in messages:
        run = message.run_id
        if run is None or message.conversation_id != conversation:
            continue
        for role, text in _read_words(message):
            numbers[run] += 1
            message_id = f"{run}-{numbers[run]}"
            turns.append(
                make_turn(role, text, message_id, at=message.timestamp)
            )
    return turns


def _read_words(message: ModelMessage) -> Iterator[tuple[str, str]]:
    """Yield role and text of the spoken parts; tools' and instructions' are left out."""
    if isinstance(message, ModelRequest):
        for text in _read_prompts(message):
            yield "user", text
        return
    for part in message.parts:
        if isinstance(part, TextPart) and part.content.strip():
            yield "assistant", part.content


def _read_prompts(message: ModelMessage) -> Iterator[str]:
    for part in message.parts:
        if isinstance(part, UserPromptPart):
            content = part.content
            pieces = [content] if isinstance(content, str) else content
            text = "\n".join(
                piece for piece in pieces if isinstance(piece, str)
            )
            if text.strip():
                yield text


def _find_last_prompt(messages: Sequence[ModelMessage]) -> int | None:
    for index in range(len(messages) - 1, -1, -1):
        if any(_read_prompts(messages[index])):
            return index
    return None
