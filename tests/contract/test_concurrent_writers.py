"""Invariant 4 without the queue: concurrent writers on one store and one graph.

The queue allows only one writer. Without it no acknowledged row is lost, and no id is
stored twice.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tests.support.builders import (
    ACME,
    DIMENSIONS,
    a_record,
    an_operation,
    embedded,
)
from tests.support.nightly import choose
from tests.support.processes import begin_together, run_together
from tests.support.s3 import s3_server
from varve.adapters.graph.parquet import ParquetGraph
from varve.adapters.lance_cache.cache_directory import Caching
from varve.adapters.lance_cache.records import LanceRecords
from varve.adapters.objects.store import (
    lance_options,
    local_objects,
    s3_objects,
)
from varve.domain.calendar import Grain
from varve.domain.errors import Retryable
from varve.domain.search.query import Filter
from varve.ports.objects import Objects

BUCKET = "varve-writers"
MODEL = f"words:{DIMENSIONS}"
COMMITS, TRIES = 3, 20
COUNTS = choose(by_day=[3], by_night=[2, 8])
EVERYBODYS = [f"Everybody says {n}." for n in range(3)]
"""Texts, and so record ids, that every writer writes in each of its commits."""


def objects_at(root: str) -> Objects:
    bucket, _, prefix = root.removeprefix("s3://").partition("/")
    return (
        s3_objects(bucket, prefix)
        if root.startswith("s3://")
        else local_objects(Path(root))
    )


def records_at(root: str, cache: Path) -> LanceRecords:
    options = lance_options() if root.startswith("s3://") else None
    return LanceRecords(
        root, objects_at(root), options, caching=Caching(cache)
    )


class Writer:
    """A writer of one process: its acknowledged records and its number of retries."""

    def __init__(self, root: str, number: int, cache: Path) -> None:
        self._records, self._graph = (
            records_at(root, cache),
            ParquetGraph(objects_at(root)),
        )
        self._number = number
        self.texts: list[str] = []
        self.objects: list[str] = []
        self.retries = 0

    def run(self) -> Writer:
        for turn in range(COMMITS):
            texts = [
                f"Writer {self._number} says {turn}-{n}." for n in range(3)
            ] + EVERYBODYS
            self._until_acknowledged(self._write, texts)
            self.texts += texts
            place = f"Place {self._number}-{turn}"
            self._until_acknowledged(self._tell, place)
            self.objects += [place, "Everywhere"]
        return self

    def _write(self, texts: Sequence[str]) -> None:
        self._records.upsert(
            ACME, Grain.WORKING, embedded(*map(a_record, texts)), MODEL
        )

    def _tell(self, place: str) -> None:
        both = [
            an_operation(place, "visited"),
            an_operation("Everywhere", "visited"),
        ]
        self._graph.apply(ACME, both)

    def _until_acknowledged(self, write: Any, what: Any) -> None:
        """Repeat a failed write, as the queue delivers it again."""
        for _ in range(TRIES):
            try:
                return write(what)
            except Retryable:
                self.retries += 1
        raise AssertionError(f"not written after {TRIES} tries")


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    with s3_server(BUCKET) as endpoint:
        yield endpoint


@pytest.fixture(params=["directory", "s3"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "directory":
        return str(tmp_path / "store")
    request.getfixturevalue("s3")
    return f"s3://{BUCKET}/{request.node.name.replace('[', '-').rstrip(']')}"


def as_threads(root: str, count: int, cache: Path) -> list[dict[str, Any]]:
    writers = [Writer(root, number, cache) for number in range(count)]
    with ThreadPoolExecutor(count) as pool:
        return [told(writer) for writer in pool.map(Writer.run, writers)]


def as_processes(root: str, count: int, cache: Path) -> list[dict[str, Any]]:
    """Start all writers together: each waits for a line on its input."""
    ended = run_together("tests.contract.test_concurrent_writers", root, count)
    return [json.loads(out) for out, _ in ended]


def told(writer: Writer) -> dict[str, Any]:
    return {
        "texts": writer.texts,
        "objects": writer.objects,
        "retries": writer.retries,
    }


@pytest.mark.parametrize(
    "kind", [as_threads, as_processes], ids=["threads", "processes"]
)
@pytest.mark.parametrize("count", COUNTS)
def test_invariant_4_writers_without_the_queue_lose_nothing_and_double_nothing(
    root: str, count: int, kind: Any, tmp_path: Path
) -> None:
    began = time.perf_counter()
    acknowledged = kind(root, count, tmp_path)
    took = time.perf_counter() - began
    reader = records_at(root, tmp_path / "reader")
    rows = reader.browse(ACME, Grain.WORKING, where=Filter(), limit=10_000)
    told_texts = {text for each in acknowledged for text in each["texts"]}
    assert Counter(row.content for row in rows) == dict.fromkeys(told_texts, 1)
    assert (
        len({row.id for row in rows})
        == len(rows)
        == count * COMMITS * 3 + len(EVERYBODYS)
    )
    triples = ParquetGraph(objects_at(root)).triples(ACME)
    assert Counter(t.evidence[0].object for t in triples) == dict.fromkeys(
        {name for each in acknowledged for name in each["objects"]}, 1
    )
    retries = sum(each["retries"] for each in acknowledged)
    print(
        f"\n{count} {kind.__name__} {root[:2]}: {len(rows)} rows, {retries} deliveries again, {took:.1f} s"
    )


if __name__ == "__main__":
    with TemporaryDirectory() as own:
        this = Writer(sys.argv[1], int(sys.argv[2]), Path(own))
        begin_together()
        print(json.dumps(told(this.run())))
