"""A long file is stored by several processes; memory is as if one had stored it."""

from __future__ import annotations

import json
import os
import signal
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import pytest

from varve.api.memory import Memory
from varve.cli.main import main
from varve.domain.calendar import Grain
from varve.importers import run
from varve.importers.workers import WorkerPool

NOW = "2026-11-20T12:00:00Z"
CITIES = ("Lisbon", "Porto", "Oslo", "Rome")


def build_conversation(number: int, user: str) -> dict[str, Any]:
    messages = [
        {
            "id": f"m{number}-{index}",
            "role": "user",
            "content": f"I live in {CITIES[index]}. It is day {number}.",
            "timestamp": f"2026-10-{1 + number:02d}T09:{index:02d}:00Z",
        }
        for index in range(len(CITIES))
    ]
    return {
        "conversationId": f"c{number % 9}",
        "userId": user,
        "messages": messages,
    }


@pytest.fixture
def history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of three batches; later parts of conversations come in later ones."""
    monkeypatch.setattr(run, "BATCH_CONVERSATIONS", 4)
    file = tmp_path / "history.json"
    parts = [build_conversation(one, f"u{one % 2}") for one in range(12)]
    file.write_text(json.dumps(parts))
    return file


def read_memory(store: Path) -> Any:
    memory = Memory.open(store)
    with memory.sessions.open(memory.scope) as session:
        records = [
            record
            for label in session.records.periods(memory.scope, Grain.WORKING)
            for record in session.records.in_period(
                memory.scope, Grain.WORKING, label
            )
        ]
        triples = session.graph.triples(memory.scope)
    profiles = [memory.profile(user_id=user) for user in ("u0", "u1")]
    return (
        sorted(records, key=lambda one: one.id),
        sorted(triples, key=lambda one: one.id),
        profiles,
    )


def ingest(history: Path, store: Path, workers: int) -> None:
    given = ["ingest", str(history), "--store", str(store), "--now", NOW]
    main([*given, "--workers", str(workers)])


def test_several_processes_store_what_one_would(
    history: Path, tmp_path: Path
) -> None:
    ingest(history, tmp_path / "one", 1)
    ingest(history, tmp_path / "two", 2)
    alone = read_memory(tmp_path / "one")
    assert len(alone[0]) > 48
    assert read_memory(tmp_path / "two") == alone
    assert not active_children()


def test_what_an_ended_process_had_is_stored_all_the_same(
    history: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    share = WorkerPool.share

    def kill_one(pool: WorkerPool, *given: Any) -> Any:
        yield from share(pool, *given)
        for child in active_children()[:1]:
            if child.pid is not None:
                os.kill(child.pid, signal.SIGKILL)

    monkeypatch.setattr(WorkerPool, "share", kill_one)
    ingest(history, tmp_path / "store", 2)
    assert "new: 48 messages" in capsys.readouterr().out
    memory = Memory.open(tmp_path / "store")
    assert memory.status()["grains"]["working"]["records"] > 48
