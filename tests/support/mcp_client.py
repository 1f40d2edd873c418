"""The SDK's MCP client over Streamable HTTP, for servers on loopback."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client


def talk(
    url: str,
    asking: Callable[[Client], Awaitable[None]],
    mode: str = "auto",
    **options: Any,
) -> None:
    """Connect a client, let it ask, and close it; `options` are those of the HTTP client."""

    async def run() -> None:
        async with httpx2.AsyncClient(timeout=60, **options) as http:
            transport = streamable_http_client(url, http_client=http)
            async with Client(transport, mode=mode) as client:
                await asking(client)

    asyncio.run(run())


async def call(client: Client, name: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool and return its answer."""
    (text,) = (await client.call_tool(name, arguments)).content
    answer: dict[str, Any] = json.loads(text.text)  # type: ignore[union-attr]
    return answer
