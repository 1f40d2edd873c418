"""The MCP server of one memory, and its Streamable HTTP.

Needs the extra `mcp`. Shapes: Model Context Protocol 2026-07-28 and 2025-11-25.
"""

import json
import secrets
import socket
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any, TypeAlias, TypeVar

import anyio.to_thread
import uvicorn
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    TextContent,
)
from starlette.responses import PlainTextResponse

from varve import __version__
from varve.domain.errors import Rejected, VarveError
from varve.integrations.mcp_resources import (
    MIME_TYPE,
    TEMPLATES,
    list_resources,
    read_resource,
)
from varve.integrations.mcp_tools import INSTRUCTIONS, Tools
from varve.integrations.tool_definitions import offer_agents

LOOPBACK = "127.0.0.1"
PATH = "/mcp"
PUBLIC_FOR_AN_HOUR = CacheHint(ttl_ms=3_600_000, scope="public")

Answer = TypeVar("Answer")
Context: TypeAlias = ServerRequestContext
Page: TypeAlias = PaginatedRequestParams | None

Message = MutableMapping[str, Any]
App = Callable[
    [
        Message,
        Callable[[], Awaitable[Message]],
        Callable[[Message], Awaitable[None]],
    ],
    Awaitable[None],
]
"""An ASGI application."""


def build_server(tools: Tools) -> Server[Any]:
    """Return the server of some tools; it answers one call at a time."""
    one_at_a_time = anyio.CapacityLimiter(1)
    listed = ListToolsResult.model_validate(
        {"tools": [tool.as_mcp() for tool in offer_agents(tools.agents)]}
    )

    async def run(work: Callable[[], Any]) -> Any:
        return await anyio.to_thread.run_sync(work, limiter=one_at_a_time)

    async def list_tools(_: Context, __: Page) -> ListToolsResult:
        return listed

    async def call_tool(
        _: Context, call: CallToolRequestParams
    ) -> CallToolResult:
        _check_name(call.name, listed)
        arguments = call.arguments or {}
        answer = await run(lambda: tools.answer(call.name, arguments))
        return build_result(answer)

    async def list_templates(
        _: Context, __: Page
    ) -> ListResourceTemplatesResult:
        return ListResourceTemplatesResult.model_validate(
            {"resourceTemplates": TEMPLATES}
        )

    async def list_all_resources(_: Context, __: Page) -> ListResourcesResult:
        found = await run(lambda: refuse_as_mcp(lambda: list_resources(tools)))
        return ListResourcesResult.model_validate({"resources": found})

    async def read(
        _: Context, wanted: ReadResourceRequestParams
    ) -> ReadResourceResult:
        uri = str(wanted.uri)
        text = await run(
            lambda: refuse_as_mcp(lambda: read_resource(tools, uri))
        )
        contents = {"uri": uri, "mimeType": MIME_TYPE, "text": text}
        return ReadResourceResult.model_validate({"contents": [contents]})

    return Server(
        "varve",
        version=__version__,
        instructions=INSTRUCTIONS,
        # The tools are the same for every caller, and change with the version alone.
        cache_hints={
            "tools/list": PUBLIC_FOR_AN_HOUR,
            "resources/templates/list": PUBLIC_FOR_AN_HOUR,
        },
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_all_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read,
    )


def _check_name(name: str, listed: ListToolsResult) -> None:
    if name not in {tool.name for tool in listed.tools}:
        raise MCPError(INVALID_PARAMS, f"there is no tool {name[:40]!r}")


def build_result(answer: Mapping[str, Any]) -> CallToolResult:
    """Return a tool's answer as the protocol's result.

    An error has no structured content, because it is not of the output schema.
    """
    text = TextContent(text=json.dumps(answer, ensure_ascii=False))
    if "error" in answer:
        return CallToolResult(content=[text], is_error=True)
    return CallToolResult(content=[text], structured_content=answer)


def refuse_as_mcp(read: Callable[[], Answer]) -> Answer:
    """Return what `read` returns. Raises MCPError with the reason why it cannot."""
    try:
        return read()
    except Rejected as error:
        raise MCPError(INVALID_PARAMS, str(error)) from error
    except VarveError as error:
        raise MCPError(INTERNAL_ERROR, str(error)) from error


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
    given = [
        value for name, value in scope["headers"] if name == b"authorization"
    ]
    return len(given) == 1 and secrets.compare_digest(given[0], expected)
