"""The rows that a page reads, over a memory of 100,000 records: bounded, by count."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.builders import a_record
from tests.support.drivers import open_memory
from tests.support.look import page_of
from varve import Memory
from varve.adapters.lance_cache.records import LanceRecords
from varve.adapters.objects.store import local_objects
from varve.domain.calendar import Grain, iso
from varve.domain.identity import Scope
from varve.domain.notes import encode_note, next_version, note_key
from varve.domain.record import EmbeddedRecord, MemoryType
from varve.usecases.timeline import write_lines

RECORDS, BATCH, DIMENSIONS = 100_000, 20_000, 4
CONVERSATIONS = 300
"""Conversations on the busiest day."""
USERS = 1_000
MODEL = f"random:{DIMENSIONS}"
SCOPE = Scope("acme", "support")
START = datetime(2025, 1, 6, 8, tzinfo=UTC)
NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
BUSY = "2025-01-06"
MOST_ROWS = 250
"""Records that any page may read with their words."""
MOST_GETS = 150
"""Records by id and objects that any page may get: those of a page of conversations."""


class Counting:
    """A port that counts what its methods return."""

    def __init__(self, inner: Any, counts: Counter[str]) -> None:
        self._inner = inner
        self._counts = counts

    def at(self, *_: Any, **__: Any) -> Counting:
        return self

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._inner, name)
        if not callable(method):
            return method

        def call(*args: Any, **given: Any) -> Any:
            answer = method(*args, **given)
            size = len(answer) if isinstance(answer, list) else 1
            self._counts[name] += size
            return answer

        return call


@pytest.fixture(scope="module")
def counts() -> Counter[str]:
    return Counter()


@pytest.fixture(scope="module")
def memory(
    tmp_path_factory: pytest.TempPathFactory, counts: Counter[str]
) -> Memory:
    root = tmp_path_factory.mktemp("large") / "store"
    fill(root)
    memory = open_memory(
        SCOPE,
        root,
        NOW,
        wrap_records=lambda inner: Counting(inner, counts),
        wrap_objects=lambda inner: Counting(inner, counts),
    )
    for grain in (
        "working",
        "daily",
        "weekly",
        "monthly",
        "quarterly",
        "yearly",
    ):
        memory.configure(f"retention.{grain}", "50 years")
    return memory


def fill(root: Path) -> None:
    objects = local_objects(root)
    records = LanceRecords(str(root), objects)
    vector = np.full(DIMENSIONS, 0.5, np.float32)
    for start in range(0, RECORDS, BATCH):
        batch = [make_record(number) for number in range(start, start + BATCH)]
        embedded = [EmbeddedRecord(one, vector) for one in batch]
        records.upsert(SCOPE, Grain.WORKING, embedded, MODEL)
    for number in range(CONVERSATIONS):
        message = {
            "id": f"m-{number}",
            "role": "user",
            "content": f"Word {number}.",
        }
        line = {"position": 0, "at": iso(START), "message": message}
        write_lines([line], SCOPE, BUSY, f"c-{number}", objects=objects)
        note = next_version(None, "Word.", START, f"{number}.md", None)
        key = note_key(SCOPE, note.path, None)
        objects.put(key, encode_note(note))


def make_record(number: int) -> Any:
    at = START + timedelta(minutes=6 * number)
    if number < BATCH:  # a fifth of all on one day
        at = START + timedelta(seconds=number)
    return a_record(
        f"Word {number}.",
        at=at,
        id=f"turn-{number}",
        memory_type=MemoryType.TURN if number % 5 else MemoryType.FACT,
        conversation_id=f"c-{number % CONVERSATIONS}",
        user_id=f"u-{number % USERS}",
        source_ids=(f"m-{number}",),
    )


@pytest.mark.parametrize(
    "where",
    [
        ("timeline",),
        ("period", "2025"),
        ("period", "2025-Q1"),
        ("period", "2025-01"),
        ("period", "2025-W02"),
        ("period", BUSY),
        ("conversation", BUSY, "c-7"),
        ("record", "turn-7"),
        ("users",),
        ("user", "u-7"),
        ("entities",),
        ("experience",),
        ("notes",),
        ("health",),
        ("costs",),
    ],
    ids="/".join,
)
def test_a_page_reads_a_bounded_number_of_rows(
    memory: Memory, counts: Counter[str], where: tuple[str, ...]
) -> None:
    counts.clear()
    page = page_of(memory, *where)
    assert page.status == 200
    assert counts["in_period"] == 0
    assert counts["browse"] <= MOST_ROWS, counts
    assert counts["get"] <= MOST_GETS, counts
    assert len(page.html) < 400_000


def test_a_filter_by_user_counts_that_user_alone(
    memory: Memory, counts: Counter[str]
) -> None:
    counts.clear()
    page = page_of(memory, "timeline", user="u-7")
    assert "100 turns" in page.html
    assert counts["browse"] <= MOST_ROWS


def test_a_long_list_is_paged(memory: Memory) -> None:
    first = page_of(memory, "period", BUSY).html
    assert first.count('class="name" href="/conversation/') == 50
    assert f"/period/{BUSY}?start=50" in first
    last = page_of(memory, "period", BUSY, start=250).html
    assert last.count('class="name" href="/conversation/') == 50
    assert "start=300" not in last
    users = page_of(memory, "users", start=950).html
    assert "1000 data subjects" in users.replace(",", "")
    assert users.count("<tr data-item>") == 50
