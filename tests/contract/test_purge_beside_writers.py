"""A purge of a store on S3 beside writers that never pause: it ends, and they go on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Condition, Event

import pytest

from tests.contract.test_concurrent_writers import (
    MODEL,
    objects_at,
    records_at,
)
from tests.support.builders import ACME, a_record, embedded
from tests.support.nightly import choose
from tests.support.s3 import s3_server
from varve.adapters.lance_cache.inspection import LanceInspector
from varve.adapters.lance_cache.records import LanceRecords
from varve.adapters.objects.store import lance_options
from varve.domain.calendar import Grain
from varve.domain.errors import Retryable
from varve.domain.search.query import Filter
from varve.usecases.write.contention import until_uncontended

BUCKET = "varve-purges"
WRITERS = choose(by_day=2, by_night=3)
PURGES = choose(by_day=1, by_night=3)
COMMITS = choose(by_day=3, by_night=6)
TRIES = 20
DOOMED = [f"Forget {number}." for number in range(4)]


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    with s3_server(BUCKET) as endpoint:
        yield endpoint


@pytest.fixture
def root(s3: str, request: pytest.FixtureRequest) -> str:
    name = request.node.name.replace("[", "-").rstrip("]")
    return f"s3://{BUCKET}/{name[:60]}"


class Busy:
    """Writers, each with its own connections, that commit one record after the other."""

    def __init__(self, root: str, cache: Path) -> None:
        self._root, self._cache = root, cache
        self._stop, self._changed = Event(), Condition()
        self.written: list[str] = []
        self._running: list[Future[None]] = []

    @contextmanager
    def at_work(self) -> Iterator[None]:
        with ThreadPoolExecutor(WRITERS) as pool:
            self._running = [
                pool.submit(self._write, n) for n in range(WRITERS)
            ]
            try:
                yield
            finally:
                self._stop.set()
        for one in self._running:
            one.result()

    def await_commits(self, count: int) -> None:
        """Wait for so many commits more; fail if a writer has ended."""
        wanted = len(self.written) + count

        def done() -> bool:
            ended = any(one.done() for one in self._running)
            return ended or len(self.written) >= wanted

        with self._changed:
            assert self._changed.wait_for(done, timeout=300)
        assert len(self.written) >= wanted

    def _write(self, number: int) -> None:
        records = records_at(self._root, self._cache)
        turn = 0
        while not self._stop.is_set():
            text = f"Writer {number} says {turn}."
            record = embedded(a_record(text))
            # A write that lost a race may be committed: repeat it to the end.
            until_acknowledged(
                partial(records.upsert, ACME, Grain.WORKING, record, MODEL)
            )
            turn += 1
            with self._changed:
                self.written.append(text)
                self._changed.notify_all()


def test_a_purge_ends_beside_busy_writers_and_they_go_on(
    root: str, tmp_path: Path
) -> None:
    purger = records_at(root, tmp_path)
    doomed = [a_record(text) for text in DOOMED]
    purger.upsert(ACME, Grain.WORKING, embedded(*doomed), MODEL)
    busy = Busy(root, tmp_path)
    with busy.at_work():
        busy.await_commits(COMMITS)
        ids = [one.id for one in doomed]
        until_acknowledged(partial(purger.delete, ACME, Grain.WORKING, ids))
        busy.await_commits(COMMITS)
    found = purger.browse(ACME, Grain.WORKING, where=Filter(), limit=100_000)
    assert sorted(one.content for one in found) == sorted(busy.written)


def test_an_inspection_beside_busy_writers_and_purges_ends(
    root: str, tmp_path: Path
) -> None:
    """Versions that were listed may be pruned before they are read."""
    purger = records_at(root, tmp_path)
    purger.upsert(ACME, Grain.WORKING, embedded(a_record("Stay.")), MODEL)
    inspector = LanceInspector(root, objects_at(root), lance_options())
    busy = Busy(root, tmp_path)
    with busy.at_work(), ThreadPoolExecutor(1) as pool:
        busy.await_commits(3)
        purges = pool.submit(purge_often, purger)
        while not purges.done():
            inspected = inspector.inspect(ACME, Grain.WORKING)
            assert any("Stay." in text for text in inspected.texts)
        purges.result()


def purge_often(purger: LanceRecords) -> None:
    for _ in range(PURGES):
        until_acknowledged(partial(purger.delete, ACME, Grain.WORKING, []))


def until_acknowledged(attempt: Callable[[], object]) -> None:
    """Repeat what lost its races, as the writer's use case and the queue do."""
    for _ in range(TRIES - 1):
        try:
            until_uncontended(attempt)
        except Retryable:
            continue
        return
    attempt()
