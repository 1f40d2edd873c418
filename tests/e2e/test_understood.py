"""Whoever stores a request to forget is told what it hides and how to erase it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.test_once import conversation, open_memory
from varve.cli import main
from varve.integrations.mcp_tools import Tools

PHONE = "My phone number is 555-0134. I like tea."
REQUEST = "Forget my phone number."


def run(
    capsys: pytest.CaptureFixture[str], *command: str
) -> tuple[str, list[str]]:
    """Run a command; return its output and the output's lines."""
    assert main([*command]) == 0
    output = capsys.readouterr().out
    return output, output.splitlines()


def test_remember_tells_what_a_request_to_forget_hides(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ("--store", str(tmp_path), "--user", "u-1")
    _, lines = run(capsys, "remember", PHONE, *where)
    assert len(lines) == 1
    output, lines = run(capsys, "remember", REQUEST, *where)
    assert f"asked to forget: u-1: {REQUEST}" in lines
    assert "hidden from now on: 1 statement" in output
    assert "My phone number is 555-0134." in output
    assert "I like tea" not in output
    assert "varve review" in lines[-1]
    assert "varve forget" in lines[-1]


def test_ingest_tells_the_requests_of_a_file_in_their_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = conversation(
        "c-1",
        "Vivo en Vigo. Soy alérgica al polen.",
        "Olvida dónde vivo.",
        "Don't forget my dog's birthday.",
        "Forget my shoe size.",
    )
    path = tmp_path / "said.json"
    path.write_text(json.dumps(said), "utf-8")
    command = ("ingest", str(path), "--store", str(tmp_path / "store"))
    output, lines = run(capsys, *command)
    asked = [line for line in lines if line.startswith("asked to forget")]
    assert [line.rpartition(": ")[2] for line in asked] == [
        "Olvida dónde vivo.",
        "Forget my shoe size.",
    ]
    assert "Vivo en Vigo." in output
    assert "polen" not in output
    assert "nothing in memory says it" in output
    again, _ = run(capsys, *command)
    assert "asked to forget" not in again


def test_the_outcome_names_the_hidden_statements(tmp_path: Path) -> None:
    memory = open_memory(tmp_path)
    told = memory.ingest(conversation("c-1", PHONE))
    assert not told.forget_requests
    assert "forgetRequests" not in told.to_dict()
    asked = memory.ingest(conversation("c-2", REQUEST, day="2026-03-03"))
    [request] = asked.forget_requests
    [hidden] = request.hidden
    assert hidden.content == "My phone number is 555-0134."
    assert hidden.date == "2026-03-02"
    told_as_json: Any = asked.to_dict()["forgetRequests"]
    assert told_as_json == [request.to_dict()]
    assert len(memory.review().proposals) == 1


def test_forget_everything_hides_no_request_to_forget(tmp_path: Path) -> None:
    memory = open_memory(tmp_path)
    memory.ingest(conversation("c-1", PHONE))
    memory.remember(REQUEST, user_id="u-ana")
    [request] = memory.remember(
        "Forget everything you know about me.", user_id="u-ana"
    ).forget_requests
    assert [one.content for one in request.hidden] == [PHONE]


def test_a_model_is_told_how_much_is_hidden_and_no_words(
    tmp_path: Path,
) -> None:
    tools = Tools(open_memory(tmp_path), "u-ana")
    for text in (PHONE, REQUEST):
        messages = [{"role": "user", "content": text}]
        answer = tools.answer("remember", {"messages": messages})
    [request] = answer["forgetRequests"]
    assert request["hidden"] == 1
    assert request["confirm"].startswith("varve review --workspace")
    assert "555" not in json.dumps(answer)
