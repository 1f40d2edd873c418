"""The MCP server of one memory, and its Streamable HTTP on loopback.

Needs the extra `mcp`. Shapes: Model Context Protocol 2026-07-28 and 2025-11-25.
"""

import json
import secrets
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import anyio.to_thread
import uvicorn
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
)
from starlette.responses import PlainTextResponse

from varve import __version__
from varve.integrations.mcp_tools import INSTRUCTIONS, TOOLS, Tools

LOOPBACK = "127.0.0.1"
PATH = "/mcp"

Message = MutableMapping[str, Any]
App = Callable[
    [Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]],
    Awaitable[None],
]
"""An ASGI application."""


def build_server(tools: Tools) -> Server[Any]:
    """Return the server of some tools; it answers one call at a time."""
    one_at_a_time = anyio.CapacityLimiter(1)
    listed = ListToolsResult.model_validate({"tools": TOOLS})

    async def list_tools(
        _: ServerRequestContext, __: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return listed

    async def call_tool(
        _: ServerRequestContext, call: CallToolRequestParams
    ) -> CallToolResult:
        if call.name not in (tool.name for tool in listed.tools):
            raise MCPError(INVALID_PARAMS, f"there is no tool {call.name[:40]!r}")
        answer = await anyio.to_thread.run_sync(
            tools.answer, call.name, call.arguments or {}, limiter=one_at_a_time
        )
        text = TextContent(text=json.dumps(answer, ensure_ascii=False))
        return CallToolResult(
            content=[text], structured_content=answer, is_error="error" in answer
        )

    return Server(
        "varve",
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def serve_http(tools: Tools, listener: socket.socket, token: str) -> None:
    """Serve Streamable HTTP on a listening socket until interrupted.

    Every request stands alone, and must carry the token. The SDK refuses other Host and
    Origin headers than loopback's.
    """
    server = build_server(tools)
    app = server.streamable_http_app(
        streamable_http_path=PATH, stateless_http=True, json_response=True
    )
    config = uvicorn.Config(require_token(app, token), log_level="warning")
    uvicorn.Server(config).run(sockets=[listener])


def require_token(app: App, token: str) -> App:
    """Return the application behind `Authorization: Bearer TOKEN`; others get 401."""
    expected = f"Bearer {token}".encode()

    async def guarded(
        scope: Message,
        receive: Callable[[], Awaitable[Message]],
        send: Callable[[Message], Awaitable[None]],
    ) -> None:
        if scope["type"] == "lifespan" or _is_authorized(scope, expected):
            await app(scope, receive, send)
            return
        refusal = PlainTextResponse(
            "the bearer token is missing or wrong",
            status_code=401,
            headers={"WWW-Authenticate": "Bearer"},
        )
        await refusal(scope, receive, send)

    return guarded


def _is_authorized(scope: Message, expected: bytes) -> bool:
    given = [value for name, value in scope["headers"] if name == b"authorization"]
    return len(given) == 1 and secrets.compare_digest(given[0], expected)
