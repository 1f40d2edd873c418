"""MCP as deployed: a signed client, McpFunction as a process, the queues, the writer."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from tests.support.deployment import Deployment
from tests.support.function_url import FunctionUrl, SignedAuth, role_session

pytestmark = pytest.mark.e2e

ASSISTANT = role_session("assistant")


async def call(client: Client, name: str, **arguments: Any) -> dict[str, Any]:
    (text,) = (await client.call_tool(name, arguments)).content
    answer: dict[str, Any] = json.loads(text.text)  # type: ignore[union-attr]
    return answer


def test_what_a_client_remembers_goes_through_the_queues_and_is_found(
    rehearsal: Deployment,
) -> None:
    async def talk(url: str) -> tuple[dict[str, Any], dict[str, Any]]:
        async with httpx2.AsyncClient(auth=SignedAuth(ASSISTANT), timeout=60) as http:
            transport = streamable_http_client(url, http_client=http)
            async with Client(transport) as client:
                told = [{"content": "I moved to Lisbon last Friday."}]
                await call(client, "remember", messages=told)
                await asyncio.to_thread(rehearsal.run)
                found = await call(client, "search_memory", queryText="Lisbon")
                proposed = await call(client, "propose_forget", query="Lisbon")
                return found, proposed

    invoke = rehearsal.functions["McpFunction"].invoke
    with FunctionUrl(invoke, [ASSISTANT]) as server:
        found, proposed = asyncio.run(talk(server.url))
    assert found["results"][0]["userId"] == "dana"
    assert "Lisbon" in found["results"][0]["content"]
    assert proposed["confirm"].endswith("--agent assistant --proposal 1")
    assert "memory/audit/mcp/proposals/assistant.json" in rehearsal.keys("memory/audit")
    assert "Lisbon" not in rehearsal.functions["McpFunction"].logs
