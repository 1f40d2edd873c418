"""The command line: defaults from the environment, proposals, agents, failures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.rights import reachable, without_rights
from varve import Memory, Rejected
from varve.cli.forgetting import MAX_RECORDS
from varve.cli.main import main

NOW = "2026-03-10T08:00:00Z"


def told(folder: Path, agent: str, user: str) -> None:
    memory = Memory.open(folder, workspace="acme", agent=agent, environment={})
    message = {"role": "user", "content": f"I am {user} and live in Porto."}
    timed = {**message, "timestamp": "2026-03-02T09:15:00Z"}
    memory.ingest(
        {"conversationId": "c-1", "userId": user, "messages": [timed]}
    )


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, Any]:
    code = main([*map(str, words), "--json", "--now", NOW])
    captured = capsys.readouterr()
    return code, json.loads(captured.out) if captured.out else captured.err


def test_agents_lists_what_each_remembers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told(tmp_path, "sales", "u-1")
    told(tmp_path, "support", "u-2")
    code, listed = run(
        capsys, "agents", "--store", tmp_path, "--workspace", "acme"
    )
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
    _, found = run(
        capsys, "search", "Porto", "--store", tmp_path, "--user", "u-1"
    )
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
    ("words", "said"),
    [
        (["serach", "x"], "'serach' is not a command; did you mean 'search'?"),
        (["zork"], "'zork' is not a command (varve --help lists all)"),
        (
            ["search", "x", "--max-result=3"],
            "--max-result is not an option of varve search; did you mean '--max-results'?",
        ),
        (["search", "x", "--exp"], "varve search; did you mean '--explain'?"),
        (["search", "x", "y"], "'y' is one argument too many"),
        (
            ["status", "--user", "u-1"],
            "--user is not an option of varve status\n",
        ),
    ],
)
def test_an_unknown_word_is_named_with_a_proposal(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


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
    assert (
        "every period failed: 2026-03-02: llm: is down"
        in capsys.readouterr().err
    )


def test_an_empty_memory_names_the_agents_that_are_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told(tmp_path, "support", "u-1")
    for words in (
        ["search", "Porto"],
        ["status"],
        ["context", "Where in Porto?"],
    ):
        main(
            [
                *words,
                "--store",
                str(tmp_path),
                "--workspace",
                "acme",
                "--agent",
                "x",
            ]
        )
        said = capsys.readouterr().err
        assert (
            "acme/x is empty. These agents are not: acme/support (2 records)"
            in said
        )
    main(["search", "Porto", "--store", str(tmp_path)])
    assert "default/default is empty" in capsys.readouterr().err
    where = ["--workspace", "acme", "--agent", "support"]
    main(["search", "--user", "u-9", "--store", str(tmp_path), *where])
    assert "is empty" not in capsys.readouterr().err


def test_a_result_names_its_grain_period_user_and_type(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told(tmp_path, "default", "u-1")
    where = ["--store", str(tmp_path), "--workspace", "acme"]
    assert main(["search", "Porto", "--max-results", "1", *where]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("     working 2026-03-02 · u-1 · ")
    assert "  c-1  " in lines[1]


def test_messages_sent_again_after_forget_are_refused_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = [f"I have been to town number {number}." for number in range(2)]
    messages = [
        {"id": f"m{n}", "role": "user", "content": w}
        for n, w in enumerate(said)
    ]
    path = tmp_path / "chat.json"
    path.write_text(
        json.dumps({"conversationId": "c-1", "messages": messages})
    )
    store = ["--store", str(tmp_path / "store"), "--now", NOW]
    assert main(["ingest", str(path), *store]) == 0
    assert main(["forget", "--conversation", "c-1", "--yes", *store]) == 0
    capsys.readouterr()
    assert main(["ingest", str(path), *store]) == 0
    refused = "new: 0 messages, 0 turns, 0 facts, 0 triple operations; refused 2 messages"
    assert (
        f"{refused} that this memory has forgotten" in capsys.readouterr().out
    )
    _, again = run(capsys, "ingest", path, "--store", tmp_path / "store")
    assert again["stored"]["forgotten"] == 2


def test_a_long_plan_of_forget_is_summed_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    day = "2026-03-02T09:15:00Z"
    messages = [
        {
            "id": f"m{n}",
            "role": "user",
            "content": f"Town {n} is wet.",
            "timestamp": day,
        }
        for n in range(40)
    ]
    memory = Memory.open(tmp_path, environment={})
    memory.ingest(
        {"conversationId": "c-1", "userId": "u-1", "messages": messages}
    )
    words = ["forget", "--user", "u-1", "--dry-run", "--store", str(tmp_path)]
    assert main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == MAX_RECORDS + 2
    assert lines[-2:] == [
        "  and 30 more; --json lists all",
        "40 facts and turns, 40 messages, of 2026-03-02",
    ]
    assert main([*words, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["records"]) == 40


def test_a_store_that_cannot_be_written_is_named_with_the_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = tmp_path / "store"
    store.mkdir(mode=0o555)
    reachable(tmp_path)
    with without_rights():
        code = main(["remember", "I like tea.", "--store", str(store)])
    said = capsys.readouterr().err
    assert (code, said) == (
        2,
        f"varve: store {store} cannot be written: permission denied\n",
    )
