"""Reads that count though the process ends, forgetting that runs, and regimes."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from varve import Memory
from varve.domain.identity import Scope
from varve.usecases.experience.rows import read_past

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
ANALOGOUS = """
import sys
from varve import Memory
memory = Memory.open(sys.argv[1], environment={})
print(memory.experience.answers.analogous("credit", "Does ACME pay?")[0][0].id)
"""


def opened(path: Path, day: int = 0) -> Memory:
    now = START + timedelta(days=day)
    return Memory.open(path, now=now, environment={})


def reads(memory: Memory) -> dict[str, int]:
    with memory.sessions.open(memory.scope) as session:
        counted = read_past(session).reads
    return {id_: count for id_, (count, _) in counted.items()}


def test_reads_count_though_the_process_ends_without_close(
    tmp_path: Path,
) -> None:
    memory = opened(tmp_path)
    memory.experience.answers.remember("ACME", "credit", "Pays ACME?", "yes")
    script = [sys.executable, "-c", ANALOGOUS, str(tmp_path)]
    read = subprocess.run(script, check=True, capture_output=True, text=True)
    assert reads(opened(tmp_path)) == {read.stdout.strip(): 1}


def test_each_write_of_experience_writes_the_reads(tmp_path: Path) -> None:
    memory = opened(tmp_path)
    book = memory.experience
    id_ = book.answers.remember("A", "t", "Pays A?", "yes").id
    book.answers.analogous("t", "Pays A?")
    book.research.note("log", "fact", "A pays late.")
    assert reads(memory) == {id_: 1}
    for _ in range(2):
        book.answers.analogous("t", "Pays A?")
    book.lessons.add(
        "Ask", when="a debtor pays late", then="ask", evidence=[id_]
    )
    assert reads(memory) == {id_: 3}


def test_a_search_for_prior_answers_reads_them(tmp_path: Path) -> None:
    memory = opened(tmp_path)
    kept = memory.experience.answers.remember("A", "t", "Pays A?", "yes")
    memory.search("Pays A?", memory_types=["prior_answer"])
    memory.close()
    assert reads(memory) == {kept.id: 1}


def notes(memory: Memory) -> list[str]:
    objects = memory.sessions.open(memory.scope).objects
    found = objects.list("ledger")
    return [one.key for one in found if one.key.endswith("/yearly")]


def test_a_workspace_that_forgets_is_due_for_the_next_nightly_cleanup(
    tmp_path: Path,
) -> None:
    memory = opened(tmp_path)
    memory.experience.answers.remember("A", "t", "Pays A?", "yes")
    assert notes(memory) == []
    memory.configure("experience.evict", "true")
    assert [key.split("/")[2] for key in notes(memory)] == ["2026-03-02T09"]
    later = Memory(memory.sessions, Scope("default", "other"))
    later.experience.answers.remember("A", "t", "Pays A?", "yes")
    others = [key for key in notes(later) if "/other/" in key]
    assert [key.split("/")[2] for key in others] == ["2026-03-03T09"]


def test_answers_of_another_regime_come_later(tmp_path: Path) -> None:
    book = opened(tmp_path).experience.answers
    for subject, rates in (("A", "low"), ("B", "high")):
        book.remember(
            subject, "t", "Will it pay?", "yes", regime={"rates": rates}
        )
    subjects = [
        one.subject
        for one, _ in book.analogous(
            "t", "Will it pay?", regime={"rates": "high"}
        )
    ]
    assert subjects == ["B", "A"]


def ask(memory: Memory, **given: Any) -> str | None:
    situation = "Requests time out, threads wait for connections."
    return memory.recall_experience(situation, **given).items[0].answer


def test_episodes_of_another_regime_weigh_less(tmp_path: Path) -> None:
    memory = opened(tmp_path, day=9)
    said = "Requests time out, threads wait for connections."
    for number, load in enumerate(("low", "high")):
        at = START + timedelta(days=number)
        message = {"role": "user", "content": said, "state": "debugging"}
        message |= {"timestamp": at.isoformat()}
        memory.ingest(
            {
                "conversationId": f"c-{number}",
                "messages": [message | {"metadata": {"regime.load": load}}],
            }
        )
        memory.record_outcome(
            f"c-{number}", "SUCCESS", decision=f"fix for {load} load", at=at
        )
    assert ask(memory, regime={"load": "low"}) == "fix for low load"
    assert ask(memory, regime={"load": "high"}) == "fix for high load"
    (first, _) = memory.experience.episodes()
    assert first["regime"] == {"load": "high"}
