"""The examples of LangGraph and of Strands behind an AgentCore Gateway, with written models."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("strands", reason="make test-integrations installs it")
pytest.importorskip("langchain", reason="make test-integrations installs it")

from examples import langgraph_agent, strands_gateway
from tests.integrations import test_langchain, test_strands
from tests.support.loopback import LoopbackHandler, LoopbackServer
from tests.support.search_function import Search, serve_search
from varve import Memory
from varve.integrations.tool_definitions import describe_tools

TOLD = "I moved to Porto last week."
ASKED = "Which city did I move to?"


def test_a_langgraph_thread_recalls_another_one(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path, environment={})
    seen: list[str] = []
    model = test_langchain.WrittenModel(seen=seen)
    agent = langgraph_agent.build_agent(model, memory, "dana")
    langgraph_agent.reply(agent, "c-1", TOLD)
    langgraph_agent.reply(agent, "c-2", ASKED)
    assert "Porto" in seen[1]
    stranger = langgraph_agent.build_agent(model, memory, "marco")
    langgraph_agent.reply(stranger, "c-3", ASKED)
    assert "Porto" not in seen[2]


class Gateway(LoopbackServer):
    """An AgentCore Gateway with one target, whose tool is SearchFunction."""

    def __init__(self, search: Search) -> None:
        self.search = search
        self.calls: list[Any] = []
        super().__init__(_GatewayHandler)

    def answer(self, method: str, given: Any) -> Any:
        """Return the result of an MCP request."""
        if method == "initialize":
            version = given["protocolVersion"]
            server = {"name": "gateway", "version": "1"}
            capabilities: Any = {"tools": {}}
            about = {"protocolVersion": version, "serverInfo": server}
            return {**about, "capabilities": capabilities}
        if method == "tools/list":
            tools = describe_tools(["search_memory"], "bedrock", ())
            named = [
                {**one, "name": f"search-memory___{one['name']}"}
                for one in tools
            ]
            return {"tools": named}
        self.calls.append(given)
        custom = {
            "bedrockAgentCoreToolName": given["name"],
            "bedrockAgentCoreTargetId": "TARGET0001",
        }
        found = self.search(given["arguments"], custom)
        text = json.dumps(found, ensure_ascii=False)
        return {"content": [{"type": "text", "text": text}]}


class _GatewayHandler(LoopbackHandler):
    def do_DELETE(self) -> None:  # noqa: N802 - http.server names it
        self.answer(405)

    def post(self) -> None:
        gateway: Gateway = self.server.owner  # type: ignore[attr-defined]
        assert self.headers["Authorization"] == "Bearer token"
        asked = json.loads(self.body())
        if "id" not in asked:
            self.answer(202)
            return
        known = {"initialize", "tools/list", "tools/call"}
        if asked["method"] in known:
            given = asked.get("params")
            told = {"result": gateway.answer(asked["method"], given)}
        else:  # the client then speaks the specification before 2026-07-28
            told = {"error": {"code": -32601, "message": "Method not found"}}
        self.answer_json(200, {"jsonrpc": "2.0", "id": asked["id"], **told})


class SearchingModel(test_strands.WrittenModel):
    """A model that searches first, and then says what it found."""

    async def stream(self, messages: Any, *given: Any, **named: Any) -> Any:
        last = messages[-1]["content"][0]
        if "toolResult" not in last:
            question = {"queryText": "moved", "maxResults": 1}
            use = {"toolUseId": "t-1", "name": "search-memory___search_memory"}
            yield {"messageStart": {"role": "assistant"}}
            yield {"contentBlockStart": {"start": {"toolUse": use}}}
            delta = {"toolUse": {"input": json.dumps(question)}}
            yield {"contentBlockDelta": {"delta": delta}}
            yield {"contentBlockStop": {}}
            yield {"messageStop": {"stopReason": "tool_use"}}
            return
        found = last["toolResult"]["content"][0]["text"]
        self.seen.append(found)
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"start": {}}}
        yield {"contentBlockDelta": {"delta": {"text": found}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn"}}


@pytest.fixture
def gateway(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Gateway]:
    identities = '{"search-memory": "acme/support/dana"}'
    with (
        serve_search(tmp_path, monkeypatch, identities) as search,
        Gateway(search) as served,
    ):
        yield served


def test_a_strands_agent_searches_through_the_gateway_and_keeps_turns(
    gateway: Gateway, tmp_path: Path
) -> None:
    memory = Memory.open(
        tmp_path, workspace="acme", agent="support", environment={}
    )
    memory.save_context(
        "c-1", [{"role": "user", "content": TOLD}], user_id="dana"
    )
    model = SearchingModel([])
    url = f"http://{gateway.address}/mcp"
    with strands_gateway.open_tools(url, "token") as tools:
        assistant = strands_gateway.Assistant(model, tools, memory, "dana")
        answer = assistant.reply(ASKED)
    assert "Porto" in json.loads(answer)["results"][0]["content"]
    (call,) = gateway.calls
    assert call["arguments"]["maxResults"] == 1
    turns = memory.search(memory_types=["turn"], user_id="dana").results
    assert any(ASKED in turn.content for turn in turns)
