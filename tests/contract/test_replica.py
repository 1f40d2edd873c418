"""Replicas of stores: what they carry, what they cost, and what two writers, deaths and faults leave."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from threading import Barrier
from typing import Any

import lancedb
import pytest

from tests.contract.test_lance_upkeep import (
    ANY,
    MODEL,
    SCOPE,
    T0,
    each_once,
    embedded,
    moto,
    rows,
    write,
)
from tests.support.internals import (
    confirm_always,
    drop_replicas,
    fetch_in_parts,
    prune_without_fence,
    replica_folder,
)
from tests.support.moto_process import PROJECT
from varve.adapters.objects.store import lance_options, local_objects, s3_objects
from varve.adapters.records import packs, replicas
from varve.adapters.records.cache_directory import Caching
from varve.adapters.records.files import is_content, manifest_name, needs_of, version_of
from varve.adapters.records.records import LanceRecords, Upkeep
from varve.domain.calendar import Grain
from varve.domain.errors import Retryable
from varve.domain.identity import Scope
from varve.ports.objects import ObjectInfo, Objects, StoredObject

__all__ = ["moto"]  # the fixture

STORE = f"vectordb/{SCOPE}/working"
TABLE = f"{STORE}/memories.lance"
NOW_AND_THEN = Upkeep(max_fragments=4, keep_for=timedelta(seconds=90), max_versions=16)
SELDOM = Upkeep()
AT_ONCE = Upkeep(max_fragments=4, keep_for=timedelta(milliseconds=1), max_versions=2)


class Watched:
    """The Objects it wraps; counts what is asked and can be told to fail, or to do something first."""

    def __init__(self, inner: Objects) -> None:
        self.inner = inner
        self.asked: Counter[str] = Counter()
        self.before: Callable[[str, str], None] = nothing
        self.after: Callable[[str, str], None] = nothing

    def _do(self, verb: str, key: str, task: Callable[[], Any]) -> Any:
        self.asked[verb] += 1
        self.before(verb, key)
        done = task()
        self.after(verb, key)
        return done

    def get(self, key: str) -> StoredObject | None:
        return self._do("get", key, lambda: self.inner.get(key))

    def part(self, key: str, start: int, length: int) -> bytes | None:
        return self._do("get", key, lambda: self.inner.part(key, start, length))

    def put(self, key: str, data: bytes) -> None:
        self._do("put", key, lambda: self.inner.put(key, data))

    def put_if(self, key: str, data: bytes, etag: str | None) -> bool:
        return bool(self._do("put_if", key, lambda: self.inner.put_if(key, data, etag)))

    def delete(self, keys: Iterable[str]) -> None:
        doomed = list(keys)
        self._do("delete", doomed[0], lambda: self.inner.delete(doomed))

    def exchange(self, fresh: Iterable[str], doomed: Iterable[str]) -> None:
        self._do("exchange", "", lambda: self.inner.exchange(fresh, doomed))

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        return iter(self._do("list", prefix, lambda: list(self.inner.list(prefix))))

    def folders(self, prefix: str) -> Sequence[str]:
        return self.inner.folders(prefix)


class Lagging(Watched):
    """The Objects it wraps, listed as they were when it was made."""

    def __init__(self, inner: Objects) -> None:
        super().__init__(inner)
        self.then = list(inner.list("vectordb"))

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        return (info for info in self.then if info.key.startswith(f"{prefix}/"))


class Store:
    """A store whose objects lie in a directory, which plain LanceDB can open as well."""

    def __init__(self, folder: Path) -> None:
        self.root, self.cache = folder / "objects", folder / "cache"
        self.objects = local_objects(self.root)

    def open(
        self,
        upkeep: Upkeep = NOW_AND_THEN,
        objects: Objects | None = None,
        **caching: Any,
    ) -> LanceRecords:
        """As another process would, with a replica of its own."""
        given = Caching(self.cache, **caching)
        return LanceRecords(
            "s3://bucket/root", objects or self.objects, None, upkeep, given
        )

    def watched(self, upkeep: Upkeep = NOW_AND_THEN) -> tuple[LanceRecords, Watched]:
        objects = Watched(self.objects)
        return self.open(upkeep, objects), objects

    def plain(self) -> lancedb.table.Table:
        return lancedb.connect(self.root / STORE).open_table("memories")

    def names(self) -> set[str]:
        """The table's files."""
        prefix = f"{TABLE}/"
        return {info.key.removeprefix(prefix) for info in self.objects.list(TABLE)}

    def newest(self) -> int:
        return max(
            version
            for name in self.names()
            if (version := version_of(name)) is not None
        )


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def purge(records: LanceRecords, *labels: str) -> int:
    return records.delete_periods(SCOPE, Grain.WORKING, labels)


def in_period(number: int, label: str) -> Any:
    made = embedded(number)
    return replace(made, record=replace(made.record, period=label))


def as_plain_lancedb_reads_it(store: Store) -> tuple[list[dict[str, Any]], set[str]]:
    table = store.plain()
    found = table.search().limit(None).to_arrow().sort_by("id").to_pylist()
    worded = (
        table.search("tea", query_type="fts").limit(100).to_arrow()["id"].to_pylist()
    )
    return found, set(worded)


class TestFormat:
    """What is said of Lance's files is so; where a new LanceDB writes something else, this fails."""

    def operations(self) -> list[Callable[[LanceRecords], object]]:
        return [
            lambda r: write(r, 0),
            lambda r: write(r, 1, 2),
            lambda r: write(r, 1, content="Dana likes tea again"),
            *[lambda r, n=n: write(r, n) for n in range(3, 12)],
            lambda r: r.upsert(
                SCOPE, Grain.WORKING, [in_period(20, "2026-03-03")], MODEL
            ),
            lambda r: purge(r, "2026-03-03"),
            lambda r: write(r, 21),
            *[
                lambda r, n=n: write(r, *range(n), content=f"tea {n}")
                for n in range(1, 6)
            ],
        ]

    def test_after_every_operation_plain_lancedb_finds_what_the_replica_has(
        self, store: Store
    ) -> None:
        writer = store.open(AT_ONCE)
        for operation in self.operations():
            operation(writer)
            found, worded = as_plain_lancedb_reads_it(store)
            records = writer.browse(SCOPE, Grain.WORKING, where=ANY, limit=1_000)
            assert {row["id"]: row["content"] for row in found} == {
                r.id: r.content for r in records
            }
            assert worded == {r.id for r in records}
            fresh = store.open()
            assert fresh.browse(SCOPE, Grain.WORKING, where=ANY, limit=1_000) == records

    def test_a_version_is_its_manifest_and_the_files_that_this_names(
        self, store: Store, tmp_path: Path
    ) -> None:
        """Of a table that LanceDB made and changed by itself, with all its other files gone."""
        records = LanceRecords(str(store.root), store.objects, upkeep=NOW_AND_THEN)
        for operation in self.operations():
            operation(records)
            expected = as_plain_lancedb_reads_it(store)
            manifest = manifest_name(store.newest())
            needs = needs_of((store.root / TABLE / manifest).read_bytes())
            target = tmp_path / "copy" / str(store.newest())
            for name in store.names():
                assert (
                    is_content(name)
                    or version_of(name)
                    or name.startswith("_transactions/")
                    or (name == "_versions/latest_version_hint.json")
                ), f"LanceDB writes {name}, which replicas do not carry"
                if name == manifest or needs.has(name):
                    (target / name).parent.mkdir(parents=True, exist_ok=True)
                    (target / name).write_bytes(
                        (store.root / TABLE / name).read_bytes()
                    )
            assert needs.files <= store.names()
            assert {name for name in needs.files if name.startswith("_indices/")}
            target.rename(target.parent / "memories.lance")
            copied = lancedb.connect(target.parent).open_table("memories")
            assert (
                copied.search().limit(None).to_arrow().sort_by("id").to_pylist()
                == expected[0]
            )
            found = (
                copied.search("tea", query_type="fts")
                .limit(100)
                .to_arrow()["id"]
                .to_pylist()
            )
            assert set(found) == expected[1]
            (target.parent / "memories.lance").rename(target)

    def test_what_is_no_manifest_is_refused(self) -> None:
        far_away = (
            b"\x0b\x00\x00\x00\x30" + b"\xff" * 9 + b"\x01" + bytes(12) + b"LANC"
        )  # a place past all places
        for data in (
            b"",
            b"LANC",
            bytes(40),
            b"\xff" * 40 + bytes(12) + b"LANC",
            far_away,
        ):
            with pytest.raises(RuntimeError):
                needs_of(data)


class TestRoundTrips:
    def test_a_view_is_one_listing_and_its_reads_are_free(self, store: Store) -> None:
        writer = store.open()
        write(writer, 0)
        writer.upsert(SCOPE, Grain.DAILY, [embedded(1)], MODEL)
        records, objects = store.watched()
        view = records.at(SCOPE)
        assert objects.asked["list"] == 1
        asked = objects.asked.total()
        for grain in Grain:
            view.count(SCOPE, grain, where=ANY)
            view.browse(SCOPE, grain, where=ANY, limit=5)
            view.span(SCOPE, grain)
        assert [view.count(SCOPE, grain, where=ANY) for grain in Grain] == [
            1,
            1,
            0,
            0,
            0,
            0,
        ]
        assert objects.asked.total() == asked

    def test_a_view_stays_at_its_moment_and_the_next_is_at_the_newest(
        self, store: Store
    ) -> None:
        writer = store.open()
        write(writer, 0)
        records = store.open()
        before = records.at(SCOPE)
        write(writer, 1)
        assert before.count(SCOPE, Grain.WORKING, where=ANY) == 1
        assert records.at(SCOPE).count(SCOPE, Grain.WORKING, where=ANY) == 2

    def test_a_view_is_of_one_agent(self, store: Store) -> None:
        writer, other = store.open(), Scope("acme", "other")
        write(writer, 0)
        view = store.open().at(other)
        assert view.count(other, Grain.WORKING, where=ANY) == 0
        assert view.count(SCOPE, Grain.WORKING, where=ANY) == 1

    def test_what_one_commit_brought_comes_beside_the_listing(
        self, store: Store
    ) -> None:
        writer = store.open(SELDOM)
        write(writer, 0)
        records, objects = store.watched(SELDOM)
        records.at(SCOPE)
        write(writer, 1)
        write(writer, 2)
        writer.finish()
        keys: list[str] = []
        objects.before = lambda verb, key: keys.append(f"{verb} {key}")
        assert records.at(SCOPE).count(SCOPE, Grain.WORKING, where=ANY) == 3
        assert [key for key in keys if "/packs/" not in key] == [
            f"list vectordb/{SCOPE}"
        ]

    def test_large_files_come_in_parts(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write(store.open(), *range(20))
        whole, objects = store.watched()
        whole.at(SCOPE)
        asked = objects.asked["get"]
        fetch_in_parts(monkeypatch, 1_000)
        parts, objects = store.watched()
        assert rows(parts) == each_once(*range(20))
        assert objects.asked["get"] > asked + 10

    def test_a_batch_that_changes_nothing_is_a_listing(self, store: Store) -> None:
        records, objects = store.watched(SELDOM)
        write(records, 0, 1)
        objects.asked.clear()
        assert write(records, 0, 1) == 0
        assert objects.asked == {"list": 1}
        assert write(records, 2) == 1
        assert rows(store.open()) == each_once(0, 1, 2)

    def test_a_batch_is_a_listing_files_a_manifest_and_a_pack(
        self, store: Store
    ) -> None:
        records, objects = store.watched(SELDOM)
        write(records, 0)
        objects.asked.clear()
        write(records, *range(1, 11))
        records.finish()
        assert objects.asked == {"list": 1, "put": 2, "put_if": 1}


class TestTwoWriters:
    """Invariant 4, where each writer has a replica of its own."""

    @pytest.mark.parametrize("many", [2, 8])
    def test_invariant_4_racing_writers_lose_nothing_and_make_no_id_twice(
        self, store: Store, many: int
    ) -> None:
        start = Barrier(many)

        def run(me: int) -> None:
            records = store.open(AT_ONCE)
            start.wait()
            for number in range(me, me + 6):
                write(records, number, number + 1)

        with ThreadPoolExecutor(many) as pool:
            list(pool.map(run, range(many)))
        assert rows(store.open()) == each_once(*range(many + 6))
        assert len(as_plain_lancedb_reads_it(store)[0]) == many + 6

    def test_invariant_4_one_with_a_replica_and_one_that_writes_to_s3_directly(
        self, moto: str
    ) -> None:
        prefix, start = "both-sorts", Barrier(2)

        def opened(size: int) -> LanceRecords:
            objects, caching = s3_objects("varve-test", prefix), Caching(bytes=size)
            return LanceRecords(
                f"s3://varve-test/{prefix}", objects, lance_options(), AT_ONCE, caching
            )

        write(opened(10**9), 0)

        def run(first: int) -> None:
            records = opened(10**9 if first == 1 else 0)
            start.wait()
            for number in range(first, first + 10):
                write(records, number, number + 1)

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(run, (1, 5)))
        assert rows(opened(10**9)) == each_once(*range(16))
        assert rows(opened(0)) == each_once(*range(16))

    def test_invariant_4_a_writer_held_up_until_its_number_is_free_again_loses_nothing(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write(store.open(), 0)
        prune_without_fence(monkeypatch)
        confirm_always(monkeypatch)
        slow, objects = store.watched()

        def meanwhile(verb: str, key: str) -> None:
            if verb == "put_if":
                objects.before = nothing
                other = store.open(AT_ONCE)
                for number in range(1, 9):
                    write(other, number)
                assert key not in {info.key for info in store.objects.list(TABLE)}

        objects.before = meanwhile
        assert write(slow, 9) == 1
        assert rows(store.open()) == each_once(*range(10))

    def test_a_commit_that_lost_leaves_no_files(self, store: Store) -> None:
        writer, objects = store.watched(SELDOM)
        write(writer, 0)
        before = store.names()
        other = store.open(SELDOM)

        def first(verb: str, key: str) -> None:
            if verb == "put_if":
                objects.before = nothing
                write(other, 1)

        objects.before = first
        assert write(writer, 2) == 1
        assert len(store.names() - before) == 4  # data and manifest of two commits
        assert rows(store.open()) == each_once(0, 1, 2)

    def test_a_stale_listing_makes_a_writer_try_again(self, store: Store) -> None:
        writer, objects = store.watched()
        write(writer, 0)
        other = store.open()

        def after(verb: str, key: str) -> None:
            if verb == "list":
                objects.after = nothing
                write(other, 1)

        objects.after = after
        assert write(writer, 2) == 1
        assert rows(store.open()) == each_once(0, 1, 2)

    def test_a_listing_that_stays_stale_takes_nothing_from_who_has_seen_more(
        self, store: Store
    ) -> None:
        records, objects = store.watched(SELDOM)
        nothing_yet = Lagging(store.objects)
        write(records, 0)
        one = Lagging(store.objects)
        write(records, 1)
        for stale in (nothing_yet, one):
            objects.inner = stale
            assert rows(records) == each_once(0, 1)
        assert write(records, 2) == 1
        objects.inner = nothing_yet
        assert records.delete(SCOPE, Grain.WORKING, [embedded(0).record.id]) == 1
        assert rows(records) == rows(store.open()) == each_once(1, 2)


class TestDeathsAndFaults:
    def test_a_writer_that_dies_before_its_commit_leaves_orphans_which_age_removes(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write(store.open(), 0)
        before = store.names()
        dying, objects = store.watched()
        objects.before = failing_at("put_if")
        with pytest.raises(Retryable):
            dying.upsert(SCOPE, Grain.WORKING, [embedded(1)], MODEL)
        orphans = store.names() - before
        assert orphans
        assert rows(store.open()) == each_once(0)
        for number in range(2, 8):
            write(store.open(AT_ONCE), number)
        assert orphans <= store.names()
        for name in orphans:
            os.utime(store.root / TABLE / name, (0, 0))
        for number in range(8, 14):
            write(store.open(AT_ONCE), number)
        assert not orphans & store.names()
        assert rows(store.open()) == each_once(0, *range(2, 14))

    def test_what_a_compaction_replaced_goes_with_the_first_write_that_finds_it_old(
        self, store: Store
    ) -> None:
        kept = Upkeep(max_fragments=8, keep_for=timedelta(seconds=90))
        for number in range(6):
            write(store.open(kept), number)
        assert len(self.spare(store)) >= 6, (
            "readers may still be at the version before the compaction"
        )
        write(store.open(kept), 6)
        assert len(self.spare(store)) >= 6
        records, objects = store.watched(replace(kept, keep_for=timedelta(0)))
        write(records, 7)
        assert not self.spare(store)
        objects.asked.clear()
        write(records, 8)
        records.finish()
        assert objects.asked == {"list": 1, "put": 2, "put_if": 1}
        assert rows(store.open()) == each_once(*range(9))

    @staticmethod
    def spare(store: Store) -> set[str]:
        """The files with rows and indices that the newest version does not need."""
        manifest = store.objects.get(f"{TABLE}/{manifest_name(store.newest())}")
        assert manifest is not None
        needs = needs_of(manifest.data)
        return {
            name for name in store.names() if is_content(name) and not needs.has(name)
        }

    def test_a_writer_that_dies_before_the_pack_has_written(self, store: Store) -> None:
        reader = store.open()
        write(store.open(), 0)
        assert rows(reader) == each_once(0)
        dying, objects = store.watched()
        objects.before = failing_at("/packs/")
        assert dying.upsert(SCOPE, Grain.WORKING, [embedded(1)], MODEL).changed == 1
        dying.finish()
        assert rows(reader) == each_once(0, 1)
        assert rows(store.open()) == each_once(0, 1)

    def test_a_pack_that_cannot_be_read_is_passed_over(self, store: Store) -> None:
        reader, writer = store.open(), store.open()
        write(writer, 0)
        assert rows(reader) == each_once(0)
        before = store.newest()
        write(writer, 1)
        writer.finish()
        store.objects.put(f"{STORE}/{packs.pack_name(before)}", b"no archive")
        assert rows(reader) == each_once(0, 1)

    def test_a_commit_whose_acknowledgement_is_lost_is_written_once(
        self, store: Store
    ) -> None:
        writer, objects = store.watched()
        write(writer, 0)
        objects.after = failing_at("put_if")
        with pytest.raises(Retryable):
            writer.upsert(SCOPE, Grain.WORKING, [embedded(1)], MODEL)
        objects.after = nothing
        assert write(writer, 1) == 0
        assert rows(store.open()) == each_once(0, 1)

    @pytest.mark.parametrize("at", range(1, 10))
    def test_a_fault_at_any_request_leaves_a_whole_store(
        self, store: Store, at: int
    ) -> None:
        writer, objects = store.watched()
        write(writer, 0)
        objects.asked.clear()

        def once(verb: str, key: str) -> None:
            if objects.asked.total() == at:
                fail()

        objects.before = once
        for number in range(1, 5):
            write(writer, number)
        assert rows(writer) == each_once(*range(5))
        assert rows(store.open()) == each_once(*range(5))
        assert len(as_plain_lancedb_reads_it(store)[0]) == 5

    @pytest.mark.parametrize("at", [1, 2, 4, 8])
    def test_a_reader_meets_a_fault_and_reads_right_the_next_time(
        self, store: Store, at: int
    ) -> None:
        for number in range(5):
            write(store.open(), number)
        reader, objects = store.watched()

        def once(verb: str, key: str) -> None:
            if objects.asked.total() == at:
                fail()

        objects.before = once
        with pytest.raises(Retryable):
            reader.at(SCOPE)
        objects.before = nothing
        assert rows(reader) == each_once(*range(5))

    def a_store_whose_files_vanish_after_its_listing(
        self, store: Store
    ) -> LanceRecords:
        """Somebody else purges what was written first and writes something new, once."""
        other = store.open(AT_ONCE)
        write(other, 0)
        watched, objects = store.watched()

        def after(verb: str, key: str) -> None:
            if verb == "list":
                objects.after = nothing
                purge(other, "2026-03-02")
                write(other, 1)

        objects.after = after
        return watched

    def test_files_that_vanish_after_the_listing_make_a_reader_look_again(
        self, store: Store
    ) -> None:
        reader = self.a_store_whose_files_vanish_after_its_listing(store)
        assert reader.at(SCOPE).get(SCOPE, Grain.WORKING, ["r-00000", "r-00001"]) == [
            embedded(1).record
        ]

    def test_files_that_vanish_after_the_listing_make_a_writer_look_again(
        self, store: Store
    ) -> None:
        writer = self.a_store_whose_files_vanish_after_its_listing(store)
        assert write(writer, 2) == 1
        assert rows(store.open()) == each_once(1, 2)


class TestPurge:
    def test_no_byte_of_what_was_deleted_stays_below_the_root(
        self, store: Store
    ) -> None:
        writer = store.open()
        secret = replace(
            embedded(1),
            record=replace(embedded(1).record, content="xyzzy42", period="2026-03-01"),
        )
        write(writer, 0)
        writer.upsert(SCOPE, Grain.WORKING, [secret], MODEL)
        write(writer, 2)
        files = [path for path in store.root.rglob("*") if path.is_file()]
        assert any(b"xyzzy42" in path.read_bytes() for path in files)
        assert purge(writer, "2026-03-01") == 1
        files = [path for path in store.root.rglob("*") if path.is_file()]
        assert not [path for path in files if b"xyzzy42" in path.read_bytes()]
        assert rows(store.open()) == each_once(0, 2)

    def test_a_replica_lets_go_of_it_when_it_looks_the_next_time(
        self, store: Store
    ) -> None:
        writer, reader = store.open(), store.open()
        secret = replace(
            embedded(1),
            record=replace(embedded(1).record, content="xyzzy42", period="2026-03-01"),
        )
        writer.upsert(SCOPE, Grain.WORKING, [secret, embedded(0)], MODEL)
        assert rows(reader) == each_once(0, 1)
        purge(writer, "2026-03-01")
        assert rows(reader) == each_once(0)
        held = [path for path in store.cache.rglob("*") if path.is_file()]
        assert held
        assert not [path for path in held if b"xyzzy42" in path.read_bytes()]

    def test_a_store_that_is_made_anew_has_nothing_of_the_one_before(
        self, store: Store
    ) -> None:
        writer, reader = store.open(), store.open()
        for number in range(4):
            write(writer, number)
        assert rows(reader) == each_once(*range(4))
        store.objects.delete([info.key for info in store.objects.list("vectordb")])
        assert rows(reader) == each_once()
        assert rows(writer) == each_once()
        anew = store.open()
        for number in range(10, 14):
            write(anew, number)
            assert rows(reader) == rows(writer) == each_once(*range(10, number + 1))

    def test_a_store_that_is_made_anew_up_to_the_same_version_is_not_taken_for_the_one_before(
        self, store: Store
    ) -> None:
        """Nobody looked meanwhile: neither who has read it nor who has made its newest version."""
        writer, reader = store.open(SELDOM), store.open(SELDOM)
        write(writer, 0)
        assert rows(reader) == each_once(0)
        version = store.newest()
        store.objects.delete([info.key for info in store.objects.list("vectordb")])
        write(store.open(SELDOM), 1)
        assert store.newest() == version
        assert rows(reader) == each_once(1)
        assert write(writer, 2) == 1
        assert rows(writer) == rows(reader) == rows(store.open()) == each_once(1, 2)


class TestCache:
    def test_holds_the_least_recently_used_no_longer_than_there_is_room(
        self, store: Store
    ) -> None:
        agents = [Scope("acme", f"agent-{number}") for number in range(6)]
        writer = store.open()
        for number, scope in enumerate(agents):
            made = embedded(number, content="x" * 2_000)
            writer.upsert(scope, Grain.WORKING, [made], MODEL)
        room = 3 * 40_000
        reader = store.open(bytes=room)
        taken = replica_folder(reader)
        for _ in range(2):
            for number, scope in enumerate(agents):
                view = reader.at(scope)
                (found,) = view.browse(scope, Grain.WORKING, where=ANY, limit=10)
                assert found.id == f"r-{number:05d}"
                held = sum(
                    path.stat().st_size for path in taken.rglob("*") if path.is_file()
                )
                assert held <= room

    def test_invariant_8_an_idle_replica_goes_at_the_next_request_of_any_agent(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Until then a reader's disk may hold what has been erased from the store."""
        now = [0.0]
        monkeypatch.setattr(replicas, "monotonic", lambda: now[0])
        writer = store.open(AT_ONCE)
        write(writer, *range(5))
        reader = store.open(seconds=60.0)
        assert rows(reader) == each_once(*range(5))
        kept = set(store.cache.rglob("data/*.lance"))
        other = Scope("acme", "another")
        now[0] = 59.0
        reader.browse(other, Grain.WORKING, where=ANY, limit=1)
        assert set(store.cache.rglob("data/*.lance")) >= kept
        now[0] = 60.0
        reader.browse(other, Grain.WORKING, where=ANY, limit=1)
        mine = [path for path in kept if path.exists()]
        assert len(mine) < len(kept)
        assert rows(reader) == each_once(*range(5))

    def test_what_was_evicted_while_a_view_reads_is_read_from_the_newest(
        self, store: Store
    ) -> None:
        writer = store.open()
        write(writer, 0)
        reader = store.open()
        view = reader.at(SCOPE)
        drop_replicas(reader)
        (found,) = view.browse(SCOPE, Grain.WORKING, where=ANY, limit=10)
        assert found.event_time == T0

    def test_two_threads_that_meet_an_agent_at_the_same_time_read_the_same(
        self, store: Store
    ) -> None:
        write(store.open(), *range(5))
        for _ in range(5):
            records, start = store.open(), Barrier(4)

            def read(
                _: int, records: LanceRecords = records, start: Barrier = start
            ) -> Counter[str]:
                start.wait()
                return rows(records)

            with ThreadPoolExecutor(4) as pool:
                assert list(pool.map(read, range(4))) == [each_once(*range(5))] * 4

    def test_is_a_directory_of_its_own_that_goes_with_the_process(
        self, store: Store
    ) -> None:
        script = (
            "import sys; from pathlib import Path\n"
            "from varve.adapters.records.cache_directory import CacheDirectory\n"
            "kept = CacheDirectory(Path(sys.argv[1])); (kept.path / 'a').write_text('a'); print(kept.path)\n"
            "import os; os._exit(1) if sys.argv[2] == 'killed' else None"
        )
        store.cache.mkdir()
        environment = {
            **os.environ,
            "PYTHONPATH": str(PROJECT / "shared"),
            "PYTHONUNBUFFERED": "1",
        }
        for end in ("killed", "ended"):
            command = [sys.executable, "-c", script, str(store.cache), end]
            run = subprocess.run(
                command, env=environment, capture_output=True, text=True, check=False
            )
            assert run.stdout.strip(), run.stderr
            left = list(store.cache.iterdir())
            assert bool(left) == (end == "killed")


def nothing(verb: str, key: str) -> None:
    """Let a request pass."""


def failing_at(part: str) -> Callable[[str, str], None]:
    """Fails at requests of this sort, or with this in their key."""

    def check(verb: str, key: str) -> None:
        if verb == part or part in key:
            fail()

    return check


def fail() -> None:
    raise Retryable("storage: 503")
