"""The command line: defaults from the environment, proposals, agents, failures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from varve import Memory, Rejected
from varve.cli.main import main

NOW = "2026-03-10T08:00:00Z"


def told(folder: Path, agent: str, user: str) -> None:
    memory = Memory.open(folder, workspace="acme", agent=agent, environment={})
    message = {"role": "user", "content": f"I am {user} and live in Porto."}
    timed = {**message, "timestamp": "2026-03-02T09:15:00Z"}
    memory.ingest({"conversationId": "c-1", "userId": user, "messages": [timed]})


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, Any]:
    code = main([*map(str, words), "--json", "--now", NOW])
    captured = capsys.readouterr()
    return code, json.loads(captured.out) if captured.out else captured.err


def test_agents_lists_what_each_remembers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told(tmp_path, "sales", "u-1")
    told(tmp_path, "support", "u-2")
    code, listed = run(capsys, "agents", "--store", tmp_path, "--workspace", "acme")
    assert code == 0
    names = [agent["agentId"] for agent in listed["agents"]]
    assert names == ["sales", "support"]
    for agent in listed["agents"]:
        assert (agent["users"], agent["newest"]) == (1, "2026-03-02T09:15:00Z")
        assert agent["records"] >= 1
        assert agent["bytes"] > 0


def test_the_environment_names_workspace_agent_and_user(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told(tmp_path, "support", "u-1")
    told(tmp_path, "support", "u-2")
    monkeypatch.setenv("VARVE_WORKSPACE", "acme")
    monkeypatch.setenv("VARVE_AGENT", "support")
    monkeypatch.setenv("VARVE_USER", "u-2")
    code, found = run(capsys, "search", "Porto", "--store", tmp_path)
    assert code == 0
    assert {result["userId"] for result in found["results"]} == {"u-2"}
    _, found = run(capsys, "search", "Porto", "--store", tmp_path, "--user", "u-1")
    assert {result["userId"] for result in found["results"]} == {"u-1"}


def test_forget_takes_no_user_from_the_environment(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("VARVE_USER", "u-2")
    code, said = run(capsys, "forget", "--yes", "--store", tmp_path)
    assert code == 2
    assert "user" in said


@pytest.mark.parametrize(
    ("words", "meant"),
    [(["serach", "x"], "search"), (["search", "x", "--max-result=3"], "--max-results")],
)
def test_a_misspelt_word_gets_a_proposal(
    words: list[str], meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert f"did you mean '{meant}'?" in capsys.readouterr().err


def test_a_misspelt_setting_gets_a_proposal(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path, environment={})
    with pytest.raises(Rejected, match=r"did you mean retention\.daily\?"):
        memory.setting("retention.dayly")


def test_summarize_says_why_every_period_failed(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told(tmp_path, "default", "u-1")

    def failing(memory: Memory, **_: object) -> dict[str, int]:
        return {"built": 0, "unchanged": 0, "failed": 2}

    def explained(memory: Memory) -> dict[str, Any]:
        failed = [{"period": "2026-03-02", "reason": "llm: is down"}]
        return {"grains": {"daily": {"periods": {"failed": failed}}}}

    monkeypatch.setattr(Memory, "summarize", failing)
    monkeypatch.setattr(Memory, "status", explained)
    assert main(["summarize", "--store", str(tmp_path)]) == 1
    assert "every period failed: 2026-03-02: llm: is down" in capsys.readouterr().err
