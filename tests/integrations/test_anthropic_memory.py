"""Claude's memory tool over notes, against the SDK's own tool over files."""

from __future__ import annotations

import asyncio
import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("anthropic", reason="make test-integrations installs it")

import httpx2 as httpx
from anthropic import Anthropic
from anthropic.tools import ToolError
from anthropic.tools.memory import BetaLocalFilesystemMemoryTool
from hypothesis import given, settings
from hypothesis import strategies as st

from varve import Memory
from varve.integrations.anthropic_memory import (
    VarveAsyncMemoryTool,
    VarveMemoryTool,
)

NOW = datetime(2026, 3, 3, 12, tzinfo=UTC)
LINES = "one\ntwo\nthree\nfour\nfive\nsix\n"


def ask(tool: Any, **command: Any) -> str:
    """Return a tool's answer or the error that the model reads, without directories' sizes."""
    try:
        answer = str(tool.call(command))
    except ToolError as error:
        answer = f"error: {error}"
    asked = re.escape(str(command.get("path")))
    sizes = re.compile(rf"^[\d.]+[BKMG]\t(?=\S*/$|{asked}$)", re.MULTILINE)
    return sizes.sub("\t", answer)


def create(path: str, text: str = LINES) -> dict[str, Any]:
    return {"command": "create", "path": path, "file_text": text}


def view(path: str, **more: Any) -> dict[str, Any]:
    return {"command": "view", "path": path, **more}


def replace(path: str, old: str, new: str) -> dict[str, Any]:
    return {
        "command": "str_replace",
        "path": path,
        "old_str": old,
        "new_str": new,
    }


def insert(path: str, line: int, text: str) -> dict[str, Any]:
    return {
        "command": "insert",
        "path": path,
        "insert_line": line,
        "insert_text": text,
    }


def delete(path: str) -> dict[str, Any]:
    return {"command": "delete", "path": path}


def rename(old: str, new: str) -> dict[str, Any]:
    return {"command": "rename", "old_path": old, "new_path": new}


A = "/memories/a.md"
SEQUENCES: dict[str, list[dict[str, Any]]] = {
    "an empty memory": [view("/memories"), view(A), delete(A)],
    "files and directories": [
        create(A),
        create("/memories/dir/b.md", "é" * 700),
        create("/memories/dir/deep/c.md", "x" * 2048),
        create("/memories/dir/deep/er/d.md"),
        create("/memories/.hidden"),
        create("/memories/Upper Case.md", ""),
        view("/memories"),
        view("/memories/dir"),
        view("/memories/"),
        view("/memories/dir/b.md"),
    ],
    "create again": [create(A, "x"), create(A, "x"), create(A, "y"), view(A)],
    "views of a part": [
        create(A),
        view(A, view_range=[2, 3]),
        view(A, view_range=[5, -1]),
        view(A, view_range=[0, 1]),
        view(A, view_range=[9, 12]),
        view(A, view_range=[2]),
    ],
    "a text replaced": [
        create(A),
        replace(A, "three", "3\n3.5"),
        view(A),
        replace(A, "nine", "9"),
        replace(A, "e", "E"),
        replace("/memories/no.md", "a", "b"),
        create("/memories/dir/b.md"),
        replace("/memories/dir", "a", "b"),
        replace(A, "one\n", ""),
        view(A),
    ],
    "a text inserted": [
        create(A),
        insert(A, 0, "zero\n"),
        insert(A, 7, "last"),
        insert(A, 99, "no"),
        insert(A, -1, "no"),
        view(A),
        create("/memories/e.md", ""),
        insert("/memories/e.md", 0, "x"),
        view("/memories/e.md"),
        insert("/memories/no.md", 0, "x"),
        create("/memories/cr.md", "a\r\nb"),
        insert("/memories/cr.md", 1, "c\n\n"),
        view("/memories/cr.md"),
    ],
    "deletions": [
        create(A),
        create("/memories/dir/b.md"),
        create("/memories/dir/sub/c.md"),
        delete("/memories/dir"),
        view("/memories"),
        delete("/memories/dir"),
        delete(A),
        view("/memories"),
        delete("/memories"),
    ],
    "moves": [
        create(A),
        create("/memories/dir/b.md"),
        rename(A, "/memories/new/a.md"),
        view("/memories/new"),
        view(A),
        rename("/memories/dir", "/memories/moved"),
        view("/memories/moved/b.md"),
        rename(A, "/memories/x"),
        rename("/memories/new/a.md", "/memories/moved/b.md"),
        rename("/memories", "/memories/y"),
    ],
    "paths outside": [
        view("/etc/passwd"),
        create("/memories/../x"),
        view("relative"),
        delete("/memories/../../a"),
    ],
}


@pytest.fixture
def tool(tmp_path: Path) -> VarveMemoryTool:
    memory = Memory.open(tmp_path / "memory", now=NOW, environment={})
    return VarveMemoryTool(memory, user_id="dana")


@pytest.mark.parametrize("name", SEQUENCES)
def test_every_answer_is_that_of_the_tool_over_files(
    name: str, tool: VarveMemoryTool, tmp_path: Path
) -> None:
    local = BetaLocalFilesystemMemoryTool(str(tmp_path / "files"))
    for command in SEQUENCES[name]:
        assert ask(tool, **command) == ask(local, **command), command


paths = st.sampled_from([A, "/memories/b", "/memories/c/d"])
texts = st.text("ab\n", max_size=6)
commands = st.lists(
    st.one_of(
        st.builds(create, paths, texts),
        st.builds(
            replace, paths, st.text("ab\n", min_size=1, max_size=2), texts
        ),
        st.builds(insert, paths, st.integers(-1, 4), texts),
        st.builds(delete, paths),
        st.builds(rename, paths, paths),
        st.builds(view, paths),
    ),
    max_size=8,
)


@settings(max_examples=6, deadline=None)
@given(commands)
def test_any_commands_have_the_same_answers(
    tmp_path_factory: pytest.TempPathFactory, given_: list[dict[str, Any]]
) -> None:
    root = tmp_path_factory.mktemp("tool")
    memory = Memory.open(root / "memory", now=NOW, environment={})
    tool = VarveMemoryTool(memory, user_id=None)
    local = BetaLocalFilesystemMemoryTool(str(root / "files"))
    for command in given_:
        assert ask(tool, **command) == ask(local, **command), command


def test_two_users_have_files_of_their_own(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path, now=NOW, environment={})
    ask(VarveMemoryTool(memory, user_id="dana"), **create(A, "Dana's"))
    other = VarveMemoryTool(memory, user_id="marco")
    assert "does not exist" in ask(other, **view(A))
    assert other.clear_all_memory() == "All memory cleared"
    (note,) = memory.notes.list(user_id="dana")
    assert (note.path, note.content) == ("memories/a.md", "Dana's")


def test_what_memory_refuses_is_an_answer(tool: VarveMemoryTool) -> None:
    assert "100,000" in ask(tool, **create(A, "x" * 100_001))
    assert "error: path" in ask(tool, **create("/memories/ a", "x"))


def test_an_edit_that_another_writer_overtakes_is_made_again(
    tool: VarveMemoryTool, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(tool, **create(A))
    notes = tool._notes
    read = notes.get
    path = "memories/a.md"

    def read_and_be_overtaken(*given_: Any, **named: Any) -> Any:
        note = read(*given_, **named)
        monkeypatch.setattr(notes, "get", read)
        notes.put(path, LINES + "seven\n", overwrite=True, user_id="dana")
        return note

    monkeypatch.setattr(notes, "get", read_and_be_overtaken)
    assert "edited" in ask(tool, **replace(A, "two", "2"))
    note = read(path, user_id="dana")
    assert note is not None
    assert note.content == "one\n2\nthree\nfour\nfive\nsix\nseven\n"


def test_the_asynchronous_tool_answers_alike(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path, now=NOW, environment={})
    tool = VarveAsyncMemoryTool(memory, user_id="dana")

    async def use() -> list[Any]:
        asked = [
            create(A),
            replace(A, "two", "2"),
            insert(A, 0, "zero"),
            rename(A, "/memories/b.md"),
            view("/memories/b.md"),
            delete("/memories/b.md"),
        ]
        answers = [await tool.call(command) for command in asked]
        return [*answers, await tool.clear_all_memory()]

    assert [str(one).split()[0] for one in asyncio.run(use())] == [
        "File",
        "The",
        "The",
        "Successfully",
        "Here's",
        "Successfully",
        "All",
    ]


def make_client() -> Anthropic:
    """Return a client whose model writes one file, then ends its turn."""
    call = {
        "type": "tool_use",
        "id": "t1",
        "name": "memory",
        "input": create("/memories/dana.md", "Dana moved to Porto."),
    }
    answers = [
        {"content": [call], "stop_reason": "tool_use"},
        {
            "content": [{"type": "text", "text": "Noted."}],
            "stop_reason": "end_turn",
        },
    ]

    def answer(_request: httpx.Request) -> httpx.Response:
        body = {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": "written",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
            **answers.pop(0),
        }
        return httpx.Response(200, json=json.loads(json.dumps(body)))

    transport = httpx.MockTransport(answer)
    return Anthropic(
        api_key="none", http_client=httpx.Client(transport=transport)
    )
