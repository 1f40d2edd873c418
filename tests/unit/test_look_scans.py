"""The pages as files scan memory once for requests to forget, and tell the same."""

from __future__ import annotations

from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from varve import Memory
from varve.look.files import write_pages
from varve.usecases.forget import asked_to_forget, forgotten_statements

NOW = datetime(2026, 4, 20, 10, tzinfo=UTC)
TOLD = ("I live in Leeds. I like fado.", "Forget where I live.")


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    opened = Memory.open(tmp_path / "store", now=NOW)
    for text in TOLD:
        opened.remember(text, user_id="u-dana")
    return opened


def count_scans(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return a list that gets the scope of each scan."""
    scans: list[Any] = []
    read = forgotten_statements.read_forgotten_words

    def count(scope: Any, reader: Any) -> Any:
        scans.append(scope)
        return read(scope, reader)

    for module in (asked_to_forget, forgotten_statements):
        monkeypatch.setattr(module, "read_forgotten_words", count)
    return scans


def read_pages(memory: Memory, directory: Path) -> dict[str, str]:
    written = write_pages(memory, "./memory", directory)
    pages = written.index.parent.glob("*.html")
    return {path.name: path.read_text("utf-8") for path in pages}


def test_a_run_of_pages_scans_memory_once_and_tells_the_same(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scans = count_scans(monkeypatch)
    once = read_pages(memory, tmp_path / "once")
    assert len(scans) == 1
    assert any("asked to forget" in page for page in once.values())
    monkeypatch.setattr(memory.sessions, "read_once", nullcontext)
    each = read_pages(memory, tmp_path / "each")
    assert len(scans) > 2
    assert once == each


def test_a_request_after_a_run_is_seen(memory: Memory) -> None:
    with memory.sessions.read_once():
        assert memory.graph.entity("u-dana", history=True)["facts"]
    memory.remember("Forget that I like fado.", user_id="u-dana")
    asked = [
        one["askedToForget"]
        for one in memory.graph.entity("u-dana", history=True)["facts"]
        if "fado" in one["target"]
    ]
    assert any(asked)
