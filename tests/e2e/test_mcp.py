"""Memory as an MCP client meets it: a process of its own, asked by the SDK's client."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError

from varve.api.memory import Memory
from varve.cli import main
from varve.cli.mcp_refusals import find_request_id
from varve.domain.search.query import SearchRequest
from varve.integrations.mcp_tools import TOOLS
from varve.integrations.search_tool import ARGUMENTS

ROOT = Path(__file__).parents[2]


def session(
    store: Path, asking: Callable[[Client], Awaitable[None]], *options: str
) -> None:
    """Start `varve mcp` on a store, and end it when all has been asked."""
    arguments = ["-m", "varve", "mcp", "--store", str(store), *options]
    environment = {"PYTHONPATH": str(ROOT / "shared")}
    started = StdioServerParameters(
        command=sys.executable, args=arguments, env=environment
    )

    async def run() -> None:
        async with Client(started) as client:
            await asking(client)

    asyncio.run(run())


async def call(client: Client, name: str, **arguments: Any) -> dict[str, Any]:
    """What a tool answers; both forms of it say the same, and an error is one."""
    result = await client.call_tool(name, arguments)
    (text,) = result.content
    assert json.loads(text.text) == result.structured_content  # type: ignore[union-attr]
    answer: dict[str, Any] = result.structured_content
    assert result.is_error == ("error" in answer)
    return answer


def test_what_a_client_remembers_it_finds_again_and_so_does_the_library(
    tmp_path: Path,
) -> None:
    async def asking(client: Client) -> None:
        assert [tool.name for tool in (await client.list_tools()).tools] == [
            "search_memory",
            "remember",
            "correct",
            "get_context",
        ]
        said = {
            "name": "Dana",
            "content": "I moved to Lisbon.",
            "timestamp": "2026-03-02T09:15:00Z",
        }
        first = await call(client, "remember", messages=[said])
        reply = {
            "role": "assistant",
            "content": "Which part?",
            "timestamp": "2026-03-02T09:16:00Z",
        }
        second = await call(client, "remember", messages=[reply])
        assert (first["stored"]["turns"], second["stored"]["turns"]) == (1, 1)
        assert first["conversationId"] == second["conversationId"]
        again = await call(client, "remember", messages=[said])
        assert again["stored"]["turns"] == 0
        found = await call(
            client, "search_memory", queryText="where does Dana live?", maxResults=1
        )
        assert found["results"][0]["conversationId"] == first["conversationId"]
        assert "Lisbon" in found["results"][0]["content"]

    session(tmp_path, asking)
    turns = Memory.open(tmp_path, environment={}).search(memory_types=["turn"]).results
    assert [turn.content for turn in turns] == [
        "Assistant: Which part?",
        "Dana: I moved to Lisbon.",
    ]


def test_invariant_7_whose_memory_it_is_never_comes_from_what_a_model_writes(
    tmp_path: Path,
) -> None:
    memory = Memory.open(tmp_path, environment={})
    for user in ("u-1", "u-2"):
        said = {"role": "user", "content": f"The code of {user} is {user}-4711."}
        memory.ingest(
            {"conversationId": f"c-{user}", "userId": user, "messages": [said]}
        )

    async def asking(client: Client) -> None:
        for arguments in ({}, {"userId": "u-2"}, {"conversationId": "c-u-2"}):
            found = await call(client, "search_memory", **arguments)
            assert {result["userId"] for result in found["results"]} <= {"u-1"}
        for name in ("user_id", "workspaceId", "agentId"):
            refused = await call(client, "search_memory", **{name: "u-2"})
            assert refused["error"]["field"] == name
        message = {"content": "Mine is 4712."}
        for given, field in (
            ({"messages": [message | {"userId": "u-2"}]}, "messages[0].userId"),
            ({"messages": [message], "agentId": "other"}, "agentId"),
            ({"messages": [message], "conversationId": "../other"}, "conversationId"),
        ):
            refused = await call(client, "remember", **given)
            assert refused["error"]["field"] == field
        await call(client, "remember", messages=[message])
        found = await call(client, "search_memory", queryText="4712")
        assert found["results"][0]["userId"] == "u-1"

    session(tmp_path, asking, "--user", "u-1")


def test_what_is_wrong_with_a_call_is_told_and_the_next_is_answered(
    tmp_path: Path,
) -> None:
    async def asking(client: Client) -> None:
        for arguments, field in (
            ({}, "messages"),
            ({"messages": "I moved."}, "messages"),
            ({"messages": []}, "messages"),
            ({"messages": ["I moved."]}, "messages[0]"),
            (
                {"messages": [{"content": "I moved.", "timestamp": "yesterday"}]},
                "messages[0].timestamp",
            ),
        ):
            refused = await call(client, "remember", **arguments)
            assert refused["error"]["type"] == "Rejected"
            assert refused["error"]["field"] == field
        refused = await call(client, "search_memory", maxResults=500)
        assert refused["error"]["field"] == "maxResults"
        with pytest.raises(MCPError, match="there is no tool 'forget'"):
            await client.call_tool("forget", {})
        assert (await call(client, "search_memory"))["hint"].startswith(
            "This memory is empty"
        )

    session(tmp_path, asking)
    assert list(tmp_path.iterdir()) == []


def test_it_ends_when_its_client_closes(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "varve", "mcp", "--store", str(tmp_path)]
    ended = subprocess.run(
        command, input=b"", capture_output=True, check=False, cwd=ROOT / "shared"
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")


def test_without_the_sdk_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "mcp.server.lowlevel", None)
    assert main(["mcp", "--store", str(tmp_path)]) == 2
    assert "pip install 'varve-memory[mcp]'" in capsys.readouterr().err


def test_a_user_that_is_no_id_is_refused_before_anything_is_served(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["mcp", "--store", str(tmp_path), "--user", "a b"]) == 2
    assert "--user" in capsys.readouterr().err


def test_every_argument_that_a_model_is_told_of_is_one_of_the_contract() -> None:
    names = {field.alias for field in SearchRequest.model_fields.values()}
    assert ARGUMENTS.keys() <= names


def test_a_gateway_is_told_of_the_same_tool() -> None:
    text = (ROOT / "docs" / "deploy.md").read_text("utf-8")
    target = json.loads(
        text.partition("cat > target.json <<'JSON'\n")[2].partition("   JSON\n")[0]
    )
    (tool,) = target["mcp"]["lambda"]["toolSchema"]["inlinePayload"]
    told = {name: value for name, value in TOOLS[0].items() if name != "annotations"}
    assert tool == told


DEEP = "[" * 100_000 + "]" * 100_000
SEARCH = (
    '{{"jsonrpc":"2.0","id":{id},"method":"tools/call",'
    '"params":{{"name":"search_memory","arguments":{{"queryText":{text}}}}}}}'
)


@pytest.mark.parametrize(
    ("line", "id_", "code"),
    [
        (SEARCH.format(id=2, text='"\\ud800"'), 2, -32700),
        (SEARCH.format(id='"a-3"', text=DEEP), "a-3", -32700),
        (SEARCH.format(id='"\\udfff"', text='"x"'), None, -32700),
        ("no JSON at all", None, -32700),
        ('{"id": 7, "method": "tools/list"}', 7, -32600),
        ("[1, 2]", None, -32600),
    ],
)
def test_a_line_that_is_no_valid_message_is_answered_with_an_error(
    tmp_path: Path, line: str, id_: int | str | None, code: int
) -> None:
    server = [sys.executable, "-m", "varve", "mcp", "--store", str(tmp_path)]
    environment = {"PYTHONPATH": str(ROOT / "shared")}
    with subprocess.Popen(
        server, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(f"{line}\n".encode())
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        process.stdin.close()
    assert answer["id"] == id_
    assert answer["error"]["code"] == code


@pytest.mark.parametrize(
    ("line", "id_"),
    [
        ('{"params": {"id": 9, "x": [{"id": 8}]}, "id": 3}', 3),
        ('{"method": "{\\"id\\": 9}", "id": "\\\\\\"", "y": []', None),
        ('{"id": true}', None),
        ('{"id": "x' + "\\" * 9, None),
        ("}" * 9 + '{"id": 1}', None),
    ],
)
def test_the_id_of_an_invalid_line_is_that_of_the_request_itself(
    line: str, id_: int | str | None
) -> None:
    assert find_request_id(line) == id_
