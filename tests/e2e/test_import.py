"""Foreign histories through the command line, into real stores."""

from __future__ import annotations

import json
import re
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from tests.support.model_server import ModelServer, Request, prompt
from varve import Memory
from varve.cli.main import main
from varve.importers.formats import find_format
from varve.importers.items import ImportOptions

NOW = "2026-03-10T08:00:00Z"


def a_claude_chat(number: int, words: str) -> dict[str, Any]:
    message = {
        "uuid": f"m-{number}",
        "sender": "human",
        "text": words,
        "created_at": f"2026-03-02T09:{number % 60:02}:00Z",
    }
    return {"uuid": f"c-{number}", "chat_messages": [message]}


def run(
    *words: object, capsys: pytest.CaptureFixture[str]
) -> tuple[int, Any, str]:
    code = main([str(word) for word in [*words, "--now", NOW, "--json"]])
    captured = capsys.readouterr()
    return (
        code,
        json.loads(captured.out) if captured.out else None,
        captured.err,
    )


def test_a_foreign_history_is_found_and_again_adds_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "conversations.json"
    file.write_text(
        json.dumps([a_claude_chat(1, "I moved to Lisbon last week.")])
    )
    ingest = ("ingest", file, "--user", "u-42", "--store", tmp_path / "store")
    code, report, _ = run(*ingest, "--dry-run", capsys=capsys)
    assert (code, report["files"][str(file)]["messages"]) == (0, 1)
    assert not (tmp_path / "store").exists()
    code, report, _ = run(*ingest, capsys=capsys)
    assert (code, report["stored"]["messages"]) == (0, 1)
    code, report, _ = run(*ingest, capsys=capsys)
    assert (code, report["stored"]["messages"]) == (0, 0)
    memory = Memory.open(tmp_path / "store", environment={})
    found = memory.search("Where did I move?", user_id="u-42").results
    assert "Lisbon" in found[0].content


def test_facts_of_a_graph_keep_their_intervals(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edge = {
        "source_node_uuid": "n1",
        "target_node_uuid": "n2",
        "name": "LIVES_IN",
        "valid_at": "2025-01-01T00:00:00Z",
        "invalid_at": "2026-03-01T00:00:00Z",
    }
    nodes = [{"uuid": "n1", "name": "Dana"}, {"uuid": "n2", "name": "Lisbon"}]
    file = tmp_path / "graph.json"
    file.write_text(json.dumps({"nodes": nodes, "edges": [edge]}))
    store = tmp_path / "store"
    ingest = ("ingest", file, "--store", store)
    code, report, _ = run(*ingest, capsys=capsys)
    assert (code, report["files"][str(file)]["facts"]) == (0, 2)
    assert report["stored"]["tripleOperations"] == 2
    _, again, _ = run(*ingest, capsys=capsys)
    assert again["stored"]["tripleOperations"] == 0
    memory = Memory.open(store, environment={})
    (fact,) = memory.graph.entity("Dana", history=True)["facts"]
    assert "lisbon" in str(fact).lower()
    assert fact["validAt"].startswith("2025-01-01")
    assert fact["invalidAt"].startswith("2026-03-01")


def test_one_bad_reply_of_a_model_stops_no_other_conversation(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def reply(request: Request) -> str | dict[str, Any]:
        if "poison" in prompt(request):
            return "no JSON at all"
        return {"facts": [], "triples": []}

    chats = [
        a_claude_chat(1, "fine"),
        a_claude_chat(2, "poison"),
        a_claude_chat(3, "ok"),
    ]
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps(chats))
    with ModelServer(reply) as model:
        for name, value in model.environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("VARVE_LLM", "openai:some-model")
        ingest = ("ingest", file, "--store", tmp_path / "store")
        code, report, said = run(*ingest, capsys=capsys)
    assert code == 2
    assert report["accepted"]["conversations"] >= 2
    assert report["files"][str(file)]["failed"] == 1
    assert re.search(r"conversations.json: \[1\]: ", said)
    assert "the others are stored" in said


def test_a_large_file_is_read_in_bounded_memory(tmp_path: Path) -> None:
    file = tmp_path / "conversations.json"
    chat = json.dumps(a_claude_chat(1, "x" * 10_000))
    with file.open("w") as out:
        out.write("[" + chat)
        for _ in range(3_000):
            out.write("," + chat)
        out.write("]")
    size = file.stat().st_size
    with file.open("rb") as source:
        format_ = find_format("auto", source)
        tracemalloc.start()
        count = sum(1 for _ in format_.read(source, ImportOptions("export")))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert count == 3_001
    assert peak < size / 10
