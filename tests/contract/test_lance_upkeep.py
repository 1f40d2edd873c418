"""How a LanceDB store bears many small writes, readers in flight and a second writer."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from threading import Barrier, Event
from typing import Any

import numpy as np
import pytest
from lancedb.merge import LanceMergeInsertBuilder
from lancedb.table import LanceTable

from tests.support.internals import (
    confirm_always,
    fail_making_tables,
    find_no_table_once,
)
from tests.support.lanes import hits
from tests.support.moto_process import PROJECT
from tests.support.nightly import choose
from tests.support.s3 import s3_server
from varve.adapters.lance.upkeep import Upkeep
from varve.adapters.lance_cache.records import LanceRecords
from varve.adapters.objects.store import (
    lance_options,
    local_objects,
    s3_objects,
)
from varve.domain.calendar import Grain
from varve.domain.errors import Retryable
from varve.domain.identity import Scope
from varve.domain.record import EmbeddedRecord, MemoryType, Record, Vector
from varve.domain.search.query import Filter

MODEL = "upkeep:8"
SCOPE = Scope("acme", "support")
T0 = datetime(2026, 3, 2, tzinfo=UTC)
ANY = Filter()
BUCKET = "varve-test"
prefixes = (f"prefix-{number}" for number in count())

Open = Callable[[], LanceRecords]


@pytest.fixture(scope="module")
def moto() -> Iterator[str]:
    with s3_server(BUCKET) as endpoint:
        yield endpoint


@pytest.fixture(params=["directory", "s3"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "directory":
        return str(tmp_path / "store")
    request.getfixturevalue("moto")
    return f"s3://{BUCKET}/{next(prefixes)}"


POLICY = Upkeep()


def few(root: str, many: int) -> int:
    """So many in a directory, by day half, and a third on S3, where each write takes longer."""
    if root.startswith("s3://"):
        return many // 3
    return choose(by_day=many // 2, by_night=many)


def open_records(root: str, upkeep: Upkeep = POLICY) -> LanceRecords:
    """The store as a process of its own would open it."""
    if not root.startswith("s3://"):
        return LanceRecords(root, local_objects(Path(root)), upkeep=upkeep)
    bucket, _, prefix = root.removeprefix("s3://").partition("/")
    return LanceRecords(
        root, s3_objects(bucket, prefix), lance_options(), upkeep
    )


def embedded(number: int, content: str = "Dana likes tea") -> EmbeddedRecord:
    """Record `r-…`; the later the higher its number."""
    vector: Vector = np.zeros(8, dtype=np.float32)
    vector[number % 8] = 1.0
    made = Record(
        id=f"r-{number:05d}",
        memory_type=MemoryType.FACT,
        content=f"{content}, number {number}",
        period="2026-03-02",
        event_time=T0 + timedelta(seconds=number),
        created_at=T0,
        source_ids=("m1",),
        user_id="u-1",
    )
    return EmbeddedRecord(made, vector)


def write(
    records: LanceRecords, *numbers: int, content: str = "Dana likes tea"
) -> int:
    """Upsert as the write queue does it: what was not acknowledged comes again."""
    batch = [embedded(number, content) for number in numbers]
    for _ in range(20):
        try:
            return records.upsert(SCOPE, Grain.WORKING, batch, MODEL).changed
        except Retryable:
            continue
    raise AssertionError("twenty tries were not enough")


def rows(records: LanceRecords) -> Counter[str]:
    """How many rows each id has, as the table holds them."""
    browsed = [
        r.id
        for r in records.browse(SCOPE, Grain.WORKING, where=ANY, limit=100_000)
    ]
    total = records.count(SCOPE, Grain.WORKING, where=ANY)
    counted = Counter(browsed)
    counted["without an own id"] = total - len(set(browsed))
    return counted


def each_once(*numbers: int) -> Counter[str]:
    return Counter(
        {f"r-{number:05d}": 1 for number in numbers} | {"without an own id": 0}
    )


class TestManySmallWrites:
    """A version leaves a manifest, a transaction, a data file and now and then one of deleted rows."""

    FILES_PER_VERSION = 4
    FILES_PER_INDEX = 12

    def bound(self, upkeep: Upkeep) -> int:
        """The files that the policy allows: those of the versions that stay until the next compaction.

        A compaction (data, then index) adds two versions of its own and an index of at most so many files.
        """
        writes = upkeep.max_versions + upkeep.max_fragments
        compactions = writes // upkeep.max_fragments + 1
        return self.FILES_PER_VERSION * (
            writes + 2 * compactions
        ) + self.FILES_PER_INDEX * (compactions + 1)

    def files(self, root: Path) -> int:
        return sum(1 for path in root.rglob("*") if path.is_file())

    @pytest.mark.parametrize(
        "upkeep",
        [
            Upkeep(),
            Upkeep(
                max_fragments=8, keep_for=timedelta(hours=1), max_versions=16
            ),
        ],
        ids=["default", "tight"],
    )
    def test_leave_a_bounded_number_of_files(
        self, tmp_path: Path, upkeep: Upkeep
    ) -> None:
        records = open_records(str(tmp_path), upkeep)
        # Without compactions these writes would leave more files than the bound.
        writes = choose(
            by_day=self.bound(upkeep) // self.FILES_PER_VERSION + 27,
            by_night=300,
        )
        most = 0
        for number in range(writes):
            write(records, number)
            if number % 10 == 9:
                most = max(most, self.files(tmp_path))
        assert most <= self.bound(upkeep)
        assert rows(records) == each_once(*range(writes))
        (whole,) = records.tally(SCOPE, Grain.WORKING, (), where=ANY)
        newest = T0 + timedelta(seconds=writes - 1)
        assert (whole.oldest, whole.newest) == (T0, newest)

    def test_stay_bounded_when_they_replace_rows(self, tmp_path: Path) -> None:
        upkeep = Upkeep(
            max_fragments=8, keep_for=timedelta(hours=1), max_versions=16
        )
        records = open_records(str(tmp_path), upkeep)
        rounds = choose(by_day=75, by_night=150)
        for number in range(rounds):
            write(records, number % 5, content=f"round {number}")
        assert self.files(tmp_path) <= self.bound(upkeep)
        assert rows(records) == each_once(*range(5))
        newest = records.browse(SCOPE, Grain.WORKING, where=ANY, limit=5)
        assert [r.content.partition(",")[0] for r in newest] == [
            f"round {n}" for n in range(rounds - 1, rounds - 6, -1)
        ]

    def test_stay_bounded_when_they_change_nothing(
        self, tmp_path: Path
    ) -> None:
        upkeep = Upkeep(
            max_fragments=8, keep_for=timedelta(hours=1), max_versions=16
        )
        records = open_records(str(tmp_path), upkeep)
        rounds = choose(by_day=75, by_night=150)
        told = [write(records, *range(5)) for _ in range(rounds)]
        assert told == [5] + [0] * (rounds - 1)
        assert self.files(tmp_path) <= self.bound(upkeep)
        assert rows(records) == each_once(*range(5))

    def test_are_bounded_on_s3_too(self, moto: str) -> None:
        upkeep = Upkeep(
            max_fragments=8, keep_for=timedelta(hours=1), max_versions=8
        )
        prefix = next(prefixes)
        records = open_records(f"s3://{BUCKET}/{prefix}", upkeep)
        for number in range(30):
            write(records, number)
        assert sum(
            1 for _ in s3_objects(BUCKET, prefix).list("vectordb")
        ) <= self.bound(upkeep)
        assert rows(records) == each_once(*range(30))


class TestReadersInFlight:
    @pytest.mark.parametrize(
        "upkeep",
        [
            Upkeep(
                max_fragments=4,
                keep_for=timedelta(seconds=90),
                max_versions=16,
            ),
            Upkeep(
                max_fragments=4,
                keep_for=timedelta(milliseconds=1),
                max_versions=1,
            ),
        ],
        ids=["policy", "merciless"],
    )
    def test_read_right_while_a_writer_writes_and_compacts(
        self, root: str, upkeep: Upkeep
    ) -> None:
        commits = few(root, 24) + 1
        write(open_records(root), 0)
        reader, writer, done = (
            open_records(root),
            open_records(root, upkeep),
            Event(),
        )
        assert rows(reader) == each_once(0)

        def keep_writing() -> None:
            try:
                for number in range(1, commits):
                    write(writer, number)
            finally:
                done.set()

        with ThreadPoolExecutor(1) as pool:
            writing = pool.submit(keep_writing)
            seen, rounds = 1, 0
            while not done.is_set() or rounds < 5:
                seen = self.read(reader, seen)
                rounds += 1
            writing.result()
        assert rows(reader) == each_once(*range(commits))

    def read(self, reader: LanceRecords, seen: int) -> int:
        """Every way of reading, each of which must show the first so many records and none twice."""
        found = reader.browse(SCOPE, Grain.WORKING, where=ANY, limit=1_000)
        assert [r.id for r in found] == [
            f"r-{n:05d}" for n in reversed(range(len(found)))
        ]
        assert len(found) >= seen
        counted = reader.count(
            SCOPE, Grain.WORKING, where=Filter(user_id="u-1")
        )
        assert counted >= len(found)
        vector = embedded(0).vector
        near = hits(reader, SCOPE, text="tea", vector=vector, limit=1_000)
        assert {c.id for c in near} >= {r.id for r in found}
        assert all(c.keyword > 0 for c in near)
        assert reader.get(SCOPE, Grain.WORKING, ["r-00000", "none"]) == [
            embedded(0).record
        ]
        return len(found)

    def test_one_that_opened_long_before_reads_the_newest(
        self, root: str
    ) -> None:
        write(open_records(root), 0)
        reader = open_records(root)
        assert rows(reader) == each_once(0)
        writer = open_records(
            root,
            Upkeep(
                max_fragments=2,
                keep_for=timedelta(milliseconds=1),
                max_versions=1,
            ),
        )
        last = few(root, 12)
        for number in range(1, last):
            write(writer, number)
        assert self.read(reader, last) == last


class TestTwoWriters:
    """Invariant 4: where two run all the same, no acknowledged row is lost and no id comes twice."""

    UPKEEP = Upkeep(
        max_fragments=6, keep_for=timedelta(seconds=90), max_versions=32
    )

    def test_invariant_4_two_threads_with_overlapping_ids(
        self, root: str
    ) -> None:
        turns = few(root, 24)
        write(open_records(root), 0)
        start = Barrier(2)

        def run(first: int) -> None:
            records = open_records(root, self.UPKEEP)
            start.wait()
            for number in range(first, first + turns):
                write(records, number, number + 1, number + 2)

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(run, (1, 9)))
        assert rows(open_records(root)) == each_once(*range(11 + turns))

    def test_invariant_4_two_threads_that_replace_the_same_rows(
        self, root: str
    ) -> None:
        write(open_records(root), *range(4))
        turns, start = few(root, 12), Barrier(2)

        def run(writer: str) -> None:
            records = open_records(root, self.UPKEEP)
            start.wait()
            for turn in range(turns):
                write(records, *range(4), content=f"{writer} {turn}")

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(run, ("one", "two")))
        records = open_records(root)
        assert rows(records) == each_once(*range(4))
        last = {
            r.content.partition(",")[0]
            for r in records.browse(SCOPE, Grain.WORKING, where=ANY, limit=4)
        }
        assert last <= {f"one {turns - 1}", f"two {turns - 1}"}

    def test_invariant_4_two_processes_with_overlapping_ids(
        self, root: str
    ) -> None:
        turns = few(root, 18)
        firsts = (0, turns // 2)
        processes = [
            subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "tests.contract.test_lance_upkeep",
                    root,
                    str(first),
                    str(turns),
                ],
                cwd=PROJECT,
                stderr=subprocess.PIPE,
            )
            for first in firsts
        ]
        faults = [
            process.communicate(timeout=120)[1].decode()
            for process in processes
        ]
        assert [process.returncode for process in processes] == [0, 0], faults
        ids = range(firsts[1] + turns + 2)
        assert rows(open_records(root)) == each_once(*ids)

    def test_invariant_4_a_slow_writer_whose_commit_got_lost_applies_it_again(
        self, moto: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """As if a purge meanwhile had made the number of its version free below the newest."""
        root = f"s3://{BUCKET}/{next(prefixes)}"
        writer, other = open_records(root), open_records(root)
        write(writer, 0)
        confirm_always(monkeypatch)
        execute, lost = LanceMergeInsertBuilder.execute, []

        def lose_first(builder: Any, rows: Any) -> Any:
            merged = execute(builder, rows)
            if not lost:
                lost.append(merged)
                assert other.delete(SCOPE, Grain.WORKING, ["r-00001"]) == 1
            return merged

        monkeypatch.setattr(LanceMergeInsertBuilder, "execute", lose_first)
        assert write(writer, 1) == 1
        assert rows(open_records(root)) == each_once(0, 1)

    def test_invariant_4_first_writers_racing_to_make_the_table(
        self, root: str, request: pytest.FixtureRequest
    ) -> None:
        for number in range(few(root, 6)):
            place = f"{root}/{number}"
            start = Barrier(4)

            def run(
                me: int, place: str = place, start: Barrier = start
            ) -> int:
                records = open_records(place, self.UPKEEP)
                start.wait()
                return write(records, me)

            with ThreadPoolExecutor(4) as pool:
                acknowledged = list(pool.map(run, range(4)))
            records = open_records(place)
            assert rows(records) == each_once(*range(4))
            assert all(told in (0, 1) for told in acknowledged)
            found = hits(records, SCOPE, text="tea", vector=embedded(0).vector)
            assert len([c for c in found if c.keyword > 0]) == 4

    def test_invariant_4_a_writer_who_finds_no_table_in_an_old_store_loses_nothing(
        self, root: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """As after a stale listing; a purge has made the numbers of the first versions free."""
        records = open_records(root)
        for number in range(3):
            write(records, number)
        assert records.delete(SCOPE, Grain.WORKING, ["r-00002"]) == 1
        find_no_table_once(monkeypatch)
        assert write(open_records(root), 3) == 1
        assert rows(open_records(root)) == each_once(0, 1, 3)

    def test_a_writer_who_died_while_making_the_table_holds_nobody_up(
        self, root: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with monkeypatch.context() as patch:
            fail_making_tables(patch, dies)
            with pytest.raises(Retryable):
                open_records(root).upsert(
                    SCOPE, Grain.WORKING, [embedded(0)], MODEL
                )
        assert write(open_records(root), 0) == 1
        assert rows(open_records(root)) == each_once(0)

    def test_a_writer_who_died_before_the_index_leaves_none_without(
        self, root: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(LanceTable, "create_index", dies)
            with pytest.raises(Retryable):
                open_records(root).upsert(
                    SCOPE, Grain.WORKING, [embedded(0)], MODEL
                )
        assert write(open_records(root), 0) == 1
        (found,) = hits(
            open_records(root), SCOPE, text="tea", vector=embedded(0).vector
        )
        assert found.keyword > 0


def dies(*_: object, **__: object) -> None:
    raise RuntimeError("the process ends here")


if __name__ == "__main__":
    process = open_records(sys.argv[1], TestTwoWriters.UPKEEP)
    start_at, how_many = map(int, sys.argv[2:])
    for at in range(start_at, start_at + how_many):
        write(process, at, at + 1, at + 2)


def test_a_compaction_leaves_one_version_and_one_file_of_rows_in_a_directory(
    tmp_path: Path,
) -> None:
    root = tmp_path / "store"
    records = open_records(str(root))
    reader = open_records(str(root))
    for number in range(5):
        write(records, number)
    assert rows(reader) == each_once(*range(5))
    records.compact(SCOPE, Grain.WORKING)
    table = (
        root / "vectordb" / "acme" / "support" / "working" / "memories.lance"
    )
    assert len(list((table / "_versions").glob("*.manifest"))) == 1
    assert len(list((table / "data").iterdir())) == 1
    assert rows(reader) == each_once(*range(5))
    before = sorted(table.rglob("*"))
    records.compact(SCOPE, Grain.WORKING)
    assert sorted(table.rglob("*")) == before


def test_the_compaction_of_a_store_that_is_not_there_makes_nothing(
    root: str,
) -> None:
    records = open_records(root)
    records.compact(SCOPE, Grain.DAILY)
    assert rows(records)["without an own id"] == 0
