"""MCP as deployed: a signed client, McpFunction as a process, the queues, the writer."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from mcp.client import Client

from tests.support.deployment import Deployment
from tests.support.function_url import FunctionUrl, SignedAuth, role_session
from tests.support.mcp_client import call, talk

pytestmark = pytest.mark.e2e

ASSISTANT = role_session("assistant")


def test_what_a_client_remembers_goes_through_the_queues_and_is_found(
    rehearsal: Deployment,
) -> None:
    answers: list[dict[str, Any]] = []

    async def ask(client: Client) -> None:
        told = [{"content": "I moved to Lisbon last Friday."}]
        await call(client, "remember", messages=told)
        await asyncio.to_thread(rehearsal.run)
        answers.append(await call(client, "search_memory", queryText="Lisbon"))
        answers.append(await call(client, "propose_forget", query="Lisbon"))

    invoke = rehearsal.functions["McpFunction"].invoke
    with FunctionUrl(invoke, [ASSISTANT]) as server:
        talk(server.url, ask, auth=SignedAuth(ASSISTANT))
    found, proposed = answers
    assert found["results"][0]["userId"] == "dana"
    assert "Lisbon" in found["results"][0]["content"]
    assert proposed["confirm"].endswith("--agent assistant --proposal 1")
    assert "memory/audit/mcp/proposals/assistant.json" in rehearsal.keys(
        "memory/audit"
    )
    assert "Lisbon" not in rehearsal.functions["McpFunction"].logs
