"""The `search_memory` tool, as frameworks and MCP servers show it to a model."""

import json
from collections.abc import Mapping
from typing import Any

from varve.api.memory import Memory
from varve.domain.errors import Rejected, VarveError
from varve.domain.search.query import parse_search_request
from varve.messages.tool_calls import error_answer, pinned

NAME = "search_memory"
DESCRIPTION = (
    "Search long-term memory of earlier conversations. "
    "Without queryText: the newest first."
)
ARGUMENTS: dict[str, Any] = {
    "queryText": {
        "type": "string",
        "description": "What to look for, in plain words. Leave out to browse by time.",
    },
    "grain": {
        "type": "string",
        "description": "auto (default), working, daily, weekly, monthly, quarterly or yearly",
    },
    "minimumDaysAgo": {
        "type": "integer",
        "description": "Only what is at least this many days old; default 0",
    },
    "maximumDaysAgo": {
        "type": "integer",
        "description": "Only what is at most this many days old; no limit by default",
    },
    "since": {
        "type": "string",
        "description": "Only from this ISO 8601 date or time on",
    },
    "until": {
        "type": "string",
        "description": "Only up to this ISO 8601 date, which is included, or time",
    },
    "maxResults": {"type": "integer", "description": "1 to 100; default 10"},
}
"""Arguments that a model sees: types and descriptions, all an AgentCore Gateway has."""
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": ARGUMENTS,
    "required": [],
}


def answer_search(
    memory: Memory, user_id: str | None, arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """Answer a model's call as JSON values; a failed call gives an `error` with its reason.

    `user_id` pins the search; a user that the model names does not count.
    """
    try:
        request = parse_search_request(pinned(arguments, user_id))
        answer: dict[str, Any] = _shorten(memory.answer(request).to_dict())
        return answer
    except VarveError as error:
        return describe_error(error)


def answer_search_text(
    memory: Memory, user_id: str | None, arguments: Mapping[str, Any]
) -> str:
    """Answer a model's call as JSON text."""
    answer = answer_search(memory, user_id, arguments)
    return json.dumps(answer, ensure_ascii=False)


def _shorten(value: Any) -> Any:
    """Return JSON values with numbers of three digits after the point; a model needs no more."""
    if isinstance(value, float):
        return round(value, 3)
    if isinstance(value, dict):
        return {name: _shorten(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_shorten(item) for item in value]
    return value


def describe_error(error: VarveError) -> dict[str, Any]:
    """Return the error as a tool's answer, so that a model can correct its arguments."""
    if isinstance(error, Rejected):
        return error_answer(error)
    return {"error": {"type": type(error).__name__, "reason": str(error)}}
