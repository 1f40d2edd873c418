"""Answers to lines of an MCP client that are no valid messages.

The SDK drops such a line, and its sender would wait for an answer for ever.
Source: JSON-RPC 2.0, "Error object" and "Response object": the codes, and the id, which
is null where it cannot be read.
"""

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError

if TYPE_CHECKING:
    from mcp.shared._stream_protocols import ReadStream, WriteStream

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[\]{}]|[^"\[\]{}]+', re.DOTALL)
_NOT_JSON = (
    "is not valid JSON, holds a lone surrogate, or is nested too deeply"
)
_NOT_RPC = "is not a JSON-RPC 2.0 message"


@asynccontextmanager
async def refusing(
    incoming: "ReadStream[SessionMessage | Exception]",
    outgoing: "WriteStream[SessionMessage]",
) -> AsyncIterator["ReadStream[SessionMessage | Exception]"]:
    """Give the valid messages of `incoming`; answer the other lines with errors."""
    send, valid = anyio.create_memory_object_stream[
        SessionMessage | Exception
    ](0)

    async def relay() -> None:
        async with send:
            async for message in incoming:
                if isinstance(message, Exception):
                    await outgoing.send(refuse(message))
                else:
                    await send.send(message)

    async with anyio.create_task_group() as group:
        group.start_soon(relay)
        yield valid


def refuse(error: Exception) -> SessionMessage:
    """Return the error that answers a line which the SDK could not read."""
    line: Any = None
    if isinstance(error, ValidationError):
        line = error.errors(include_url=False)[0]["input"]
    is_text = isinstance(line, str)
    data = ErrorData(
        code=PARSE_ERROR if is_text else INVALID_REQUEST,
        message=f"the message {_NOT_JSON if is_text else _NOT_RPC}",
    )
    id_ = find_request_id(line) if isinstance(line, str) else _valid_id(line)
    return SessionMessage(JSONRPCError(jsonrpc="2.0", id=id_, error=data))


def find_request_id(line: str) -> int | str | None:
    """Return the id of the request in a line, or None if it cannot be read.

    Nested values are skipped without recursion: they may be too deep for a parser.
    """
    outline: list[str] = []
    depth = 0
    for token in _TOKEN.findall(line):
        if token in ("{", "["):
            depth += 1
            outline += {1: [token], 2: ["null"]}.get(depth, [])
        elif token in ("}", "]"):
            depth -= 1
            outline += [token] if depth == 0 else []
        elif depth == 1:
            outline.append(token)
    try:
        return _valid_id(json.loads("".join(outline)))
    except ValueError:
        return None


def _valid_id(request: object) -> int | str | None:
    id_ = request.get("id") if isinstance(request, dict) else None
    if isinstance(id_, bool) or not isinstance(id_, int | str):
        return None
    try:
        str(id_).encode()
    except UnicodeEncodeError:
        return None
    return id_
