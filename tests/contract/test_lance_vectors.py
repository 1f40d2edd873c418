"""Tables large enough for an index of their vectors are searched by it as exactly as without."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.support.lanes import hits
from tests.support.s3 import s3_server
from varve.adapters.lance.upkeep import Upkeep
from varve.adapters.lance_cache.cache_directory import Caching
from varve.adapters.lance_cache.records import LanceRecords
from varve.adapters.objects.store import (
    lance_options,
    local_objects,
    s3_objects,
)
from varve.domain.calendar import Grain
from varve.domain.identity import Scope
from varve.domain.record import EmbeddedRecord, MemoryType, Record
from varve.domain.search.query import Filter
from varve.ports.objects import Objects

DIMENSIONS = 32
MODEL = f"vectors:{DIMENSIONS}"
SCOPE = Scope("acme", "support")
T0 = datetime(2026, 3, 2, tzinfo=UTC)
ANY = Filter()
UPKEEP = Upkeep(
    max_fragments=2, keep_for=timedelta(milliseconds=1), index_rows=400
)
BUCKET = "varve-test"
prefixes = (f"vectors-{number}" for number in count())

VECTORS: NDArray[np.float32] = (
    np.random.default_rng(7).normal(size=(800, DIMENSIONS)).astype(np.float32)
)
VECTORS /= np.linalg.norm(VECTORS, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def moto() -> Iterator[str]:
    with s3_server(BUCKET) as endpoint:
        yield endpoint


@pytest.fixture(params=["directory", "replica", "s3"])
def place(
    request: pytest.FixtureRequest, tmp_path: Path
) -> tuple[str, Objects, Caching]:
    """A root, what lies there, and how much of it may be copied."""
    caching = Caching(tmp_path, 10**8 if request.param == "replica" else 0)
    if request.param == "directory":
        return str(tmp_path), local_objects(tmp_path), caching
    request.getfixturevalue("moto")
    prefix = next(prefixes)
    return f"s3://{BUCKET}/{prefix}", s3_objects(BUCKET, prefix), caching


@pytest.fixture
def objects(place: tuple[str, Objects, Caching]) -> Objects:
    return place[1]


@pytest.fixture
def records(place: tuple[str, Objects, Caching]) -> LanceRecords:
    root, objects, caching = place
    return LanceRecords(
        root,
        objects,
        lance_options() if root.startswith("s3") else None,
        UPKEEP,
        caching,
    )


def embedded(number: int) -> EmbeddedRecord:
    """Record `r-…` on one of eight days and of one of two users."""
    record = Record(
        id=f"r-{number:05d}",
        memory_type=MemoryType.FACT,
        content=f"Dana saw bird number {number}",
        period=f"2026-03-{1 + number % 8:02}",
        event_time=T0 + timedelta(minutes=number),
        created_at=T0,
        source_ids=("m1",),
        conversation_id=f"c-{number // 20}",
        position=number % 20,
        user_id="u-rare" if number % 40 == 0 else "u-1",
    )
    return EmbeddedRecord(record, VECTORS[number])


def write(records: LanceRecords, start: int, stop: int) -> None:
    records.upsert(
        SCOPE, Grain.WORKING, [embedded(n) for n in range(start, stop)], MODEL
    )


def filled(records: LanceRecords) -> None:
    """More rows than it takes, in as many commits as bring a compaction."""
    write(records, 0, 250)
    write(records, 250, 500)


def found(
    records: LanceRecords, near: int, where: Filter = ANY, limit: int = 10
) -> list[str]:
    """The ids of the nearest rows; no word of the question is in any."""
    return [
        hit.id
        for hit in hits(
            records,
            SCOPE,
            text="zzz",
            vector=VECTORS[near],
            where=where,
            limit=limit,
        )
    ]


def nearest(near: int, among: range, limit: int = 10) -> list[str]:
    """The same by comparing with every row, as float16 keeps them."""
    rows = VECTORS[list(among)].astype(np.float16).astype(np.float32)
    cosines = rows @ VECTORS[near] / np.linalg.norm(rows, axis=1)
    return [f"r-{among[int(row)]:05d}" for row in np.argsort(-cosines)[:limit]]


def indexed(records: LanceRecords) -> bool:
    table = records.open_newest(SCOPE, Grain.WORKING)
    return table is not None and any(
        index.columns == ["vector"] for index in table.list_indices()
    )


def codes(objects: Objects) -> set[bytes]:
    """What lies in the store of vector indices, also of those of old versions."""
    keys = [
        info.key
        for info in objects.list("vectordb")
        if info.key.endswith("/auxiliary.idx")
    ]
    return {stored.data for key in keys if (stored := objects.get(key))}


def test_a_table_gets_its_index_with_the_first_compaction_above_the_size(
    records: LanceRecords,
) -> None:
    write(records, 0, 300)
    assert not indexed(records)
    filled(records)
    assert indexed(records)


def test_what_the_index_finds_is_what_comparing_with_every_row_finds(
    records: LanceRecords,
) -> None:
    filled(records)
    asked = range(0, 500, 25)
    hits = [
        len(set(found(records, n, limit=100)) & set(nearest(n, range(500))))
        for n in asked
    ]
    assert sum(hits) >= 0.95 * 10 * len(hits)
    assert all(found(records, n)[0] == f"r-{n:05d}" for n in asked)


def test_filters_apply_before_the_limit(records: LanceRecords) -> None:
    filled(records)
    rare = range(0, 500, 40)
    assert set(found(records, 3, Filter(user_id="u-rare"), limit=20)) == set(
        nearest(3, rare, limit=20)
    )


def test_rows_written_after_the_index_are_found_at_once(
    records: LanceRecords,
) -> None:
    filled(records)
    for number in range(700, 710):
        write(records, number, number + 1)
        assert found(records, number)[0] == f"r-{number:05d}"
    write(records, 700, 710)
    assert len(set(found(records, 705, limit=600))) == 510


def test_what_was_said_around_a_row_is_found_with_the_index_and_since(
    records: LanceRecords,
) -> None:
    filled(records)
    write(records, 500, 503)
    for number, around in (
        (10, (9, 10, 11)),
        (300, (300, 301)),
        (501, (500, 501, 502)),
    ):
        found = records.candidates(
            SCOPE,
            Grain.WORKING,
            text="zzz",
            vector=VECTORS[number],
            model=MODEL,
            where=ANY,
            limit=1,
            reach=1,
        )
        assert list(found.ids) == [f"r-{n:05d}" for n in around]


def test_rows_replaced_after_the_index_are_found_by_their_new_vectors_alone(
    records: LanceRecords,
) -> None:
    filled(records)
    changed = EmbeddedRecord(
        replace(embedded(5).record, content="Dana saw a swan"), VECTORS[750]
    )
    records.upsert(SCOPE, Grain.WORKING, [changed], MODEL)
    assert found(records, 750)[0] == "r-00005"
    assert len(found(records, 5, limit=500)) == 500


def test_a_purged_vector_leaves_no_code_and_the_next_compaction_makes_the_index_anew(
    records: LanceRecords, objects: Objects
) -> None:
    filled(records)
    before = codes(objects)
    assert before
    records.delete_periods(SCOPE, Grain.WORKING, ["2026-03-01"])
    assert not indexed(records)
    assert not codes(objects)
    left = [n for n in range(500) if n % 8]
    assert set(found(records, 8, limit=500)) == {f"r-{n:05d}" for n in left}
    for number in (700, 701):
        write(records, number, number + 1)
    assert indexed(records)
    assert codes(objects)
    assert not codes(objects) & before


def test_a_table_that_is_purged_below_the_size_has_no_index(
    records: LanceRecords,
) -> None:
    filled(records)
    records.delete_periods(
        SCOPE, Grain.WORKING, [f"2026-03-{day:02}" for day in range(1, 5)]
    )
    assert not indexed(records)
    assert found(records, 6)[0] == "r-00006"
