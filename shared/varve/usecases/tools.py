"""What SearchFunction answers: `search_memory`, and two more tools for a direct caller."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from varve.domain.context import (
    DEFAULT_TOKENS,
    ContextBlock,
    parse_context_request,
    parse_load_request,
)
from varve.domain.listing import parse_record_request
from varve.domain.search.query import parse_search_request
from varve.domain.text import estimated_tokens
from varve.messages.tool_calls import CONTEXT, RECORD, ToolCall
from varve.usecases.records import get_record
from varve.usecases.session import Session


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """A tool's answer as JSON values, and how many memories it holds."""

    memories: int
    answer: dict[str, Any]


def answer_call(session: Session, call: ToolCall) -> ToolAnswer:
    """Answer a tool call. Raises Rejected: names the argument; Misconfigured, Retryable."""
    if call.tool == CONTEXT:
        block = _answer_context(session, call.arguments)
        return ToolAnswer(len(block.ids), block.to_dict())
    if call.tool == RECORD:
        id_ = parse_record_request(call.arguments).id
        record = get_record(session, id_, hide_forgotten=True)
        found = record and record.to_dict()
        return ToolAnswer(int(record is not None), {"record": found})
    from varve.usecases.search.search import (
        search,  # loads numpy: on first use
    )

    response = search(session, parse_search_request(call.arguments))
    return ToolAnswer(len(response.results), response.to_dict())


def load_context(
    session: Session, arguments: Mapping[str, Any]
) -> ContextBlock:
    """Build the block for a conversation's start: the context and recap of the last one.

    It is the user's last conversation, or one that goes on.
    Raises Rejected, Misconfigured, Retryable.
    """
    from varve.usecases.context.context import context
    from varve.usecases.context.recap import (
        fit_recap,
        read_last_conversation,
        with_recap,
    )

    asked = parse_load_request(arguments)
    last = read_last_conversation(
        session, asked.user_id, asked.conversation_id
    )
    budget = asked.max_tokens or DEFAULT_TOKENS
    recap = fit_recap(last.recap, budget)
    given = {
        "prompt": last.words,
        "user_id": asked.user_id,
        "max_tokens": budget - estimated_tokens(recap) - bool(recap),
    }
    block = context(session, parse_context_request(given))
    return with_recap(block, recap)


def _answer_context(
    session: Session, arguments: Mapping[str, Any]
) -> ContextBlock:
    """Return the context of a prompt; without one the block for a conversation's start."""
    from varve.usecases.context.context import context

    if "prompt" in arguments:
        return context(session, parse_context_request(arguments))
    return load_context(session, arguments)
