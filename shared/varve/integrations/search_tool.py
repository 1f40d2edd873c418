"""The `search_memory` tool, as frameworks and MCP servers show it to a model."""

import json
from collections.abc import Mapping
from typing import Any

from varve.api.memory import Memory
from varve.domain.errors import Rejected, VarveError
from varve.domain.search.query import SearchRequest, parse_search_request
from varve.integrations.tool_schema import describe_arguments
from varve.messages.tool_calls import error_answer, pinned

NAME = "search_memory"
DESCRIPTION = (
    "Search long-term memory of earlier conversations. "
    "Without queryText: the newest first."
)
SCHEMA: dict[str, Any] = describe_arguments(SearchRequest)
"""Arguments that a model sees: types and descriptions, all an AgentCore Gateway has."""


def answer_search(
    memory: Memory, user_id: str | None, arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """Answer a model's call as JSON values; a failed call gives an `error` with its reason.

    `user_id` pins the search; a user that the model names does not count.
    """
    try:
        request = parse_search_request(pinned(arguments, user_id))
        answer: dict[str, Any] = shorten(memory.answer(request).to_dict())
        return answer
    except VarveError as error:
        return describe_error(error)


def answer_search_text(
    memory: Memory, user_id: str | None, arguments: Mapping[str, Any]
) -> str:
    """Answer a model's call as JSON text."""
    answer = answer_search(memory, user_id, arguments)
    return json.dumps(answer, ensure_ascii=False)


def shorten(value: Any) -> Any:
    """Return JSON values with numbers of three digits after the point; a model needs no more."""
    if isinstance(value, float):
        return round(value, 3)
    if isinstance(value, dict):
        return {name: shorten(item) for name, item in value.items()}
    if isinstance(value, list):
        return [shorten(item) for item in value]
    return value


def describe_error(error: VarveError) -> dict[str, Any]:
    """Return the error as a tool's answer, so that a model can correct its arguments."""
    if isinstance(error, Rejected):
        return error_answer(error)
    return {"error": {"type": type(error).__name__, "reason": str(error)}}
