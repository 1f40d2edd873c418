"""Memory as an MCP client meets it: a process of its own, asked by the SDK's client."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError

from varve.api.memory import Memory
from varve.cli import main
from varve.cli.mcp_refusals import find_request_id
from varve.integrations.tool_definitions import DEFINITIONS, describe_tools

ROOT = Path(__file__).parents[2]


def session(
    store: Path,
    asking: Callable[[Client], Awaitable[None]],
    *options: str,
    mode: str = "auto",
) -> None:
    """Start `varve mcp` on a store, and end it when all has been asked."""
    arguments = ["-m", "varve", "mcp", "--store", str(store), *options]
    environment = {"PYTHONPATH": str(ROOT / "shared")}
    started = StdioServerParameters(
        command=sys.executable, args=arguments, env=environment
    )

    async def run() -> None:
        async with Client(started, mode=mode) as client:
            await asking(client)

    asyncio.run(run())


async def call(client: Client, name: str, **arguments: Any) -> dict[str, Any]:
    """What a tool answers; the client checks it against the tool's output schema.

    Both forms of an answer say the same. An error is not of that schema.
    """
    result = await client.call_tool(name, arguments)
    (text,) = result.content
    answer: dict[str, Any] = json.loads(text.text)  # type: ignore[union-attr]
    assert result.is_error == ("error" in answer)
    assert result.structured_content == (None if result.is_error else answer)
    return answer


def test_what_a_client_remembers_it_finds_again_and_so_does_the_library(
    tmp_path: Path,
) -> None:
    async def asking(client: Client) -> None:
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
            client,
            "search_memory",
            queryText="where does Dana live?",
            maxResults=1,
        )
        assert found["results"][0]["conversationId"] == first["conversationId"]
        assert "Lisbon" in found["results"][0]["content"]

    session(tmp_path, asking)
    turns = (
        Memory.open(tmp_path, environment={})
        .search(memory_types=["turn"])
        .results
    )
    assert [turn.content for turn in turns] == [
        "Assistant: Which part?",
        "Dana: I moved to Lisbon.",
    ]


def test_invariant_7_whose_memory_it_is_never_comes_from_what_a_model_writes(
    tmp_path: Path,
) -> None:
    memory = Memory.open(tmp_path, environment={})
    for user in ("u-1", "u-2"):
        said = {
            "role": "user",
            "content": f"The code of {user} is {user}-4711.",
        }
        memory.ingest(
            {"conversationId": f"c-{user}", "userId": user, "messages": [said]}
        )

    async def asking(client: Client) -> None:
        for arguments in ({}, {"userId": "u-1"}, {"conversationId": "c-u-2"}):
            found = await call(client, "search_memory", **arguments)
            assert {result["userId"] for result in found["results"]} <= {"u-1"}
        for name in ("userId", "user_id", "workspaceId", "agentId"):
            refused = await call(client, "search_memory", **{name: "u-2"})
            assert refused["error"]["field"] == name
        message = {"content": "Mine is 4712."}
        for given, field in (
            (
                {"messages": [message | {"userId": "u-2"}]},
                "messages[0].userId",
            ),
            ({"messages": [message], "agentId": "other"}, "agentId"),
            (
                {"messages": [message], "conversationId": "../other"},
                "conversationId",
            ),
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
            ({"messages": [{"content": " "}]}, "messages[0].content"),
            (
                {
                    "messages": [
                        {"content": "I moved.", "timestamp": "yesterday"}
                    ]
                },
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
        command,
        input=b"",
        capture_output=True,
        check=False,
        cwd=ROOT / "shared",
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")


def test_without_the_sdk_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.setitem(sys.modules, "mcp.server.lowlevel", None)
    assert main(["mcp", "--store", str(tmp_path)]) == 2
    assert "pip install 'varve-memory[mcp]'" in capsys.readouterr().err


def test_a_user_that_is_no_id_is_refused_before_anything_is_served(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["mcp", "--store", str(tmp_path), "--user", "a b"]) == 2
    assert "--user" in capsys.readouterr().err


def test_a_gateway_is_told_of_the_same_tool() -> None:
    text = (ROOT / "docs" / "deploy.md").read_text("utf-8")
    target = json.loads(
        text.partition("cat > target.json <<'JSON'\n")[2].partition(
            "   JSON\n"
        )[0]
    )
    (tool,) = target["mcp"]["lambda"]["toolSchema"]["inlinePayload"]
    assert [tool] == describe_tools(["search_memory"], "bedrock")


DEEP = "[" * 100_000 + "]" * 100_000
SEARCH = (
    '{{"jsonrpc":"2.0","id":{id},"method":"tools/call",'
    '"params":{{"name":"search_memory","arguments":{{"queryText":{text}}}}}}}'
)


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[subprocess.Popen[bytes]]:
    """A server that has to answer one invalid line after the other."""
    store = str(tmp_path_factory.mktemp("store"))
    command = [sys.executable, "-m", "varve", "mcp", "--store", store]
    environment = {"PYTHONPATH": str(ROOT / "shared")}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    ) as process:
        yield process


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
    server: subprocess.Popen[bytes],
    line: str,
    id_: int | str | None,
    code: int,
) -> None:
    assert server.stdin
    assert server.stdout
    server.stdin.write(f"{line}\n".encode())
    server.stdin.flush()
    answer = json.loads(server.stdout.readline())
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


@pytest.mark.parametrize(
    ("mode", "version"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")]
)
def test_both_specifications_list_the_same_tools_with_schemas_and_annotations(
    tmp_path: Path, mode: str, version: str
) -> None:
    async def asking(client: Client) -> None:
        assert client.protocol_version == version
        listed = (await client.list_tools()).tools
        assert [tool.name for tool in listed] == [
            tool.name for tool in DEFINITIONS
        ]
        writing = set()
        for tool in listed:
            assert tool.input_schema["additionalProperties"] is False
            assert (tool.output_schema or {})["type"] == "object"
            assert tool.annotations
            assert tool.annotations.open_world_hint is False
            if not tool.annotations.read_only_hint:
                writing.add(tool.name)
                assert tool.annotations.destructive_hint is False
        assert writing == {"remember", "correct", "propose_forget"}
        found = await call(client, "search_memory", queryText="Lisbon")
        assert found["results"] == []

    session(tmp_path, asking, mode=mode)


def talk(user: str, *said: str) -> dict[str, Any]:
    messages = [
        {
            "role": "user",
            "name": user,
            "content": words,
            "timestamp": f"2026-03-0{day}T09:00:00Z",
        }
        for day, words in enumerate(said, 2)
    ]
    return {
        "conversationId": f"c-{user}",
        "userId": user,
        "messages": messages,
    }


@pytest.fixture
def two_users(tmp_path: Path) -> Memory:
    """A memory with two users' words and summaries."""
    memory = Memory.open(tmp_path, environment={})
    memory.ingest(
        talk("u-1", "I keep my boat in Faro.", "The boat is called Alva.")
    )
    memory.ingest(talk("u-2", "My locker has the code 4711."))
    memory.summarize()
    return memory


def test_records_and_periods_are_resources_of_the_pinned_user_alone(
    tmp_path: Path, two_users: Memory
) -> None:
    own = two_users.list(user_id="u-1", memory_types=["turn"]).records[0]
    other = two_users.list(user_id="u-2", memory_types=["turn"]).records[0]

    async def read(client: Client, uri: str) -> dict[str, Any]:
        (content,) = (await client.read_resource(uri)).contents
        assert content.mime_type == "application/json"
        found: dict[str, Any] = json.loads(content.text)  # type: ignore[union-attr]
        return found

    async def asking(client: Client) -> None:
        templates = (await client.list_resource_templates()).resource_templates
        assert [one.uri_template for one in templates] == [
            "varve://record/{id}",
            "varve://period/{label}",
        ]
        listed = [
            str(one.uri) for one in (await client.list_resources()).resources
        ]
        assert "varve://period/2026-03-03" in listed
        assert "varve://period/2026-W10" in listed
        record = await read(client, f"varve://record/{own.id}")
        assert record["sources"][0]["content"] == "The boat is called Alva."
        week = await read(client, "varve://period/2026-W10")
        assert {one["userId"] for one in week["summaries"]} == {"u-1"}
        assert "4711" not in json.dumps(week)
        for uri in (
            f"varve://record/{other.id}",
            "varve://record/turn-of-nothing",
            "varve://period/2019",
            "varve://period/next week",
            "varve://agent/other",
        ):
            with pytest.raises(MCPError):
                await client.read_resource(uri)

    session(tmp_path, asking, "--user", "u-1")


def test_experience_is_recalled_and_its_reads_are_counted(
    tmp_path: Path,
) -> None:
    memory = Memory.open(tmp_path, environment={})
    said = [
        {
            "role": "user",
            "content": "Requests time out under load.",
            "state": "debug",
        },
        {"role": "user", "content": "It works now.", "outcome": "SUCCESS"},
    ]
    memory.ingest({"conversationId": "c-1", "userId": "u-1", "messages": said})
    memory.record_outcome("c-1", "SUCCESS", resolution="Raise the pool size.")

    async def asking(client: Client) -> None:
        found = await call(
            client,
            "recall_experience",
            situation="requests time out",
            state="debug",
        )
        assert found["items"][0]["answer"] == "Raise the pool size."
        assert found["familiarity"] == round(found["familiarity"], 3)
        refused = await call(
            client, "recall_experience", situation="x", limit=51
        )
        assert refused["error"]["field"] == "limit"

    session(tmp_path, asking, "--user", "u-1")


def test_forgetting_is_proposed_and_only_a_person_confirms_it(
    tmp_path: Path, two_users: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    answers: list[dict[str, Any]] = []

    async def asking(client: Client) -> None:
        for query in ("boat", "boat", "locker code 4711"):
            answers.append(await call(client, "propose_forget", query=query))

    before = two_users.list(limit=1_000)
    session(tmp_path, asking, "--user", "u-1")
    first, again, other = answers
    assert len(first["statements"]) == 2
    assert again["proposal"] == first["proposal"] == 1
    assert other == {"proposal": None, "statements": [], "confirm": None}
    assert two_users.list(limit=1_000) == before
    waiting = (tmp_path / "audit/default/proposals/default.json").read_text()
    assert "boat" not in waiting
    assert all(one.id not in waiting for one in before.records)

    command = [*first["confirm"].split()[1:], "--store", str(tmp_path)]
    numbered = {one["content"]: one["number"] for one in first["statements"]}
    (alva,) = [number for words, number in numbered.items() if "Alva" in words]
    assert main([*command, "--only", str(alva), "--dry-run"]) == 0
    assert "Alva" in capsys.readouterr().out
    assert main([*command, "--only", str(alva), "--yes"]) == 0
    left = " ".join(one.content for one in two_users.list(limit=1_000).records)
    assert "Alva" not in left
    assert "Faro" in left
    assert main([*command, "--yes"]) == 2
    assert "no proposal 1 waits" in capsys.readouterr().err


def test_a_store_of_another_embedding_model_is_told_at_the_start(
    tmp_path: Path,
    two_users: Memory,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("VARVE_EMBEDDER", "openai:text-embedding-3-small:512")
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-of-the-tests")
    assert main(["mcp", "--store", str(tmp_path)]) == 2
    assert "was written with embedding model" in capsys.readouterr().err
