"""A store in a directory is a person's own: it keeps everything, and cleanup asks."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.support.forgetful import Conversation
from varve import Memory
from varve.cli.main import main

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)
LATER = MONDAY + timedelta(days=6)
DECADES = MONDAY + timedelta(days=20 * 365)
TEA: Conversation = {
    "conversationId": "c-1",
    "userId": "u-a",
    "messages": [
        {
            "role": "user",
            "content": "I like tea.",
            "timestamp": MONDAY.isoformat(),
        }
    ],
}


class Terminal(io.StringIO):
    """Standard input of a person who types this."""

    def isatty(self) -> bool:
        return True


def open_at(root: Path, now: datetime) -> Memory:
    environment = {"VARVE_LLM": "offline", "VARVE_EMBEDDER": "embedded"}
    return Memory.open(str(root), environment=environment, now=now)


def told(root: Path) -> Memory:
    memory = open_at(root, MONDAY)
    memory.ingest(TEA)
    memory = open_at(root, LATER)
    memory.summarize()
    return memory


def working(root: Path, now: datetime = LATER) -> int:
    count: int = open_at(root, now).status()["grains"]["working"]["records"]
    return count


def cleanup(root: Path, *words: str, now: datetime = LATER) -> int:
    return main(
        ["cleanup", "--store", str(root), "--now", now.isoformat(), *words]
    )


@pytest.fixture
def free(tmp_path: Path) -> Path:
    """A directory whose owner has chosen a plan under which a day has expired."""
    memory = told(tmp_path)
    memory.configure("plan", "free")
    assert working(tmp_path)
    return tmp_path


def test_item_14_a_directory_without_a_plan_keeps_everything(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    memory = told(tmp_path)
    before = working(tmp_path)
    assert (memory.setting("plan"), memory.status()["plan"]) == (
        "none",
        "none",
    )
    memory = open_at(tmp_path, DECADES)
    memory.summarize()
    assert cleanup(tmp_path, "--json", now=DECADES) == 0
    report = json.loads(capsys.readouterr().out)
    assert {one["limit"] for one in report["grains"].values()} == {"forever"}
    assert {one["oldestKept"] for one in report["grains"].values()} == {None}
    assert working(tmp_path, DECADES) == before > 0
    assert memory.search("tea").results


def test_item_14_cleanup_of_a_directory_asks_before_it_deletes(
    free: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.stdin", Terminal("n\n"))
    assert cleanup(free) == 2
    asked = capsys.readouterr().err
    assert "2 records of 1 period would be deleted" in asked
    assert "not confirmed; nothing was deleted" in asked
    assert working(free)
    monkeypatch.setattr("sys.stdin", Terminal("y\n"))
    assert cleanup(free) == 0
    assert not working(free)


def test_item_14_cleanup_without_a_terminal_needs_yes(
    free: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    assert cleanup(free) == cleanup(free, "--json") == 2
    assert "--yes" in capsys.readouterr().err
    assert working(free)
    assert cleanup(free, "--dry-run") == 0
    assert working(free)
    assert cleanup(free, "--yes") == 0
    assert not working(free)


def test_item_14_cleanup_asks_nothing_if_there_is_nothing_to_delete(
    free: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cleanup(free, "--yes")
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert cleanup(free) == 0


def test_item_14_a_limit_may_be_forever(free: Path) -> None:
    memory = open_at(free, LATER)
    memory.configure("retention.working", "forever")
    assert cleanup(free, "--yes") == 0
    assert working(free)
