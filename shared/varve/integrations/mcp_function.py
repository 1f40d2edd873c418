"""MCP behind a Lambda Function URL: each invocation is one request and its answer."""

import logging
from collections.abc import Callable, Mapping
from typing import Any

import anyio
import httpx2
from mcp.server.transport_security import TransportSecuritySettings

from varve.domain.errors import Rejected
from varve.domain.identity import Identity
from varve.integrations.mcp_server import PATH, build_server
from varve.integrations.mcp_tools import Tools
from varve.messages.function_url import (
    UrlRequest,
    build_url_answer,
    find_caller,
    parse_url_event,
    refuse_url_request,
)

OpenTools = Callable[[Identity], Tools]

# The SDK's warnings quote what a client sent, and no content may enter a log.
logging.getLogger("mcp").setLevel(logging.CRITICAL)

_ROOT_PATHS = ("", "/", PATH)
_DROPPED = frozenset({"host", "content-length", "connection"})
# IAM has authenticated the request; a browser's page cannot sign one.
_SECURITY = TransportSecuritySettings(enable_dns_rebinding_protection=False)


def answer_url_event(
    event: Any, identities: Mapping[str, Identity], open_tools: OpenTools
) -> dict[str, Any]:
    """Answer an MCP request with the memory that its signer is bound to.

    A request without a signer, or of a signer without an entry, gets 403.
    Raises Retryable: reads of experience could not be counted.
    """
    try:
        request = parse_url_event(event)
        identity = find_caller(request.caller, identities)
    except Rejected as error:
        return refuse_url_request(error)
    tools = open_tools(identity)
    try:
        return anyio.run(_answer, tools, request)
    finally:
        tools.close()


async def _answer(tools: Tools, request: UrlRequest) -> dict[str, Any]:
    server = build_server(tools)
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,
        json_response=True,
        transport_security=_SECURITY,
    )
    path = PATH if request.path in _ROOT_PATHS else request.path
    headers = {
        name: value
        for name, value in request.headers.items()
        if name not in _DROPPED
    }
    async with (
        server.session_manager.run(),
        httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app), base_url="http://varve"
        ) as client,
    ):
        response = await client.request(
            request.method, path, headers=headers, content=request.body
        )
    return build_url_answer(
        response.status_code, response.text, response.headers
    )
