"""Replicas of stores on S3: what they carry, what they ask for, and what faults leave."""

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
    drop_replicas,
    fetch_in_parts,
    replica_folder,
)
from tests.support.moto_process import PROJECT
from varve.adapters.lance.upkeep import Upkeep
from varve.adapters.lance_cache import replicas
from varve.adapters.lance_cache.cache_directory import Caching
from varve.adapters.lance_cache.files import (
    is_content,
    manifest_name,
    needs_of,
    version_of,
)
from varve.adapters.lance_cache.records import LanceRecords
from varve.adapters.objects.store import (
    lance_options,
    local_objects,
    s3_objects,
)
from varve.domain.calendar import Grain
from varve.domain.errors import Retryable
from varve.domain.identity import Scope
from varve.ports.objects import ObjectInfo, Objects, StoredObject

__all__ = ["moto"]  # the fixture

STORE = f"vectordb/{SCOPE}/working"
TABLE = f"{STORE}/memories.lance"
NOW_AND_THEN = Upkeep(
    max_fragments=4, keep_for=timedelta(seconds=90), max_versions=16
)
SELDOM = Upkeep()
AT_ONCE = Upkeep(
    max_fragments=4, keep_for=timedelta(milliseconds=1), max_versions=2
)


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
        return self._do(
            "get", key, lambda: self.inner.part(key, start, length)
        )

    def put(self, key: str, data: bytes) -> None:
        self._do("put", key, lambda: self.inner.put(key, data))

    def put_if(self, key: str, data: bytes, etag: str | None) -> bool:
        return bool(
            self._do("put_if", key, lambda: self.inner.put_if(key, data, etag))
        )

    def delete(self, keys: Iterable[str]) -> None:
        doomed = list(keys)
        self._do("delete", doomed[0], lambda: self.inner.delete(doomed))

    def exchange(self, fresh: Iterable[str], doomed: Iterable[str]) -> None:
        self._do("exchange", "", lambda: self.inner.exchange(fresh, doomed))

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        return iter(
            self._do("list", prefix, lambda: list(self.inner.list(prefix)))
        )

    def folders(self, prefix: str) -> Sequence[str]:
        return self.inner.folders(prefix)


class Lagging(Watched):
    """The Objects it wraps, listed as they were when it was made."""

    def __init__(self, inner: Objects) -> None:
        super().__init__(inner)
        self.then = list(inner.list("vectordb"))

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        return (
            info for info in self.then if info.key.startswith(f"{prefix}/")
        )


class Store:
    """A store whose objects lie in a directory, where LanceDB writes and replicas read."""

    def __init__(self, folder: Path) -> None:
        self.root, self.cache = folder / "objects", folder / "cache"
        self.objects = local_objects(self.root)

    def writer(self, upkeep: Upkeep = NOW_AND_THEN) -> LanceRecords:
        """As another process would write."""
        return LanceRecords(str(self.root), self.objects, None, upkeep)

    def open(
        self, objects: Objects | None = None, **caching: Any
    ) -> LanceRecords:
        """As another process would read, with a replica of its own."""
        given = Caching(self.cache, **caching)
        return LanceRecords(
            "s3://bucket/root", objects or self.objects, caching=given
        )

    def watched(self) -> tuple[LanceRecords, Watched]:
        objects = Watched(self.objects)
        return self.open(objects), objects

    def plain(self) -> lancedb.table.Table:
        return lancedb.connect(self.root / STORE).open_table("memories")

    def names(self) -> set[str]:
        """The table's files."""
        prefix = f"{TABLE}/"
        return {
            info.key.removeprefix(prefix) for info in self.objects.list(TABLE)
        }

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


def as_plain_lancedb_reads_it(
    store: Store,
) -> tuple[list[dict[str, Any]], set[str]]:
    table = store.plain()
    found = table.search().limit(None).to_arrow().sort_by("id").to_pylist()
    worded = (
        table.search("tea", query_type="fts")
        .limit(100)
        .to_arrow()["id"]
        .to_pylist()
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
        writer, reader = store.writer(AT_ONCE), store.open()
        for operation in self.operations():
            operation(writer)
            found, worded = as_plain_lancedb_reads_it(store)
            records = reader.browse(
                SCOPE, Grain.WORKING, where=ANY, limit=1_000
            )
            assert {row["id"]: row["content"] for row in found} == {
                r.id: r.content for r in records
            }
            assert worded == {r.id for r in records}
            fresh = store.open()
            assert (
                fresh.browse(SCOPE, Grain.WORKING, where=ANY, limit=1_000)
                == records
            )

    def test_a_version_is_its_manifest_and_the_files_that_this_names(
        self, store: Store, tmp_path: Path
    ) -> None:
        """Of a table that LanceDB made and changed by itself, with all its other files gone."""
        records = LanceRecords(
            str(store.root), store.objects, upkeep=NOW_AND_THEN
        )
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
            assert needs.indices
            target.rename(target.parent / "memories.lance")
            copied = lancedb.connect(target.parent).open_table("memories")
            assert (
                copied.search()
                .limit(None)
                .to_arrow()
                .sort_by("id")
                .to_pylist()
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
            b"\x0b\x00\x00\x00\x30"
            + b"\xff" * 9
            + b"\x01"
            + bytes(12)
            + b"LANC"
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
    def test_a_view_is_one_listing_and_its_reads_are_free(
        self, store: Store
    ) -> None:
        writer = store.writer()
        write(writer, 0)
        writer.upsert(SCOPE, Grain.DAILY, [embedded(1)], MODEL)
        records, objects = store.watched()
        view = records.at(SCOPE)
        assert objects.asked["list"] == 1
        asked = objects.asked.total()
        for grain in Grain:
            view.count(SCOPE, grain, where=ANY)
            view.browse(SCOPE, grain, where=ANY, limit=5)
            view.periods(SCOPE, grain)
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
        writer = store.writer()
        write(writer, 0)
        records = store.open()
        before = records.at(SCOPE)
        write(writer, 1)
        assert before.count(SCOPE, Grain.WORKING, where=ANY) == 1
        assert records.at(SCOPE).count(SCOPE, Grain.WORKING, where=ANY) == 2

    def test_a_view_is_of_one_agent(self, store: Store) -> None:
        writer, other = store.writer(), Scope("acme", "other")
        write(writer, 0)
        view = store.open().at(other)
        assert view.count(other, Grain.WORKING, where=ANY) == 0
        assert view.count(SCOPE, Grain.WORKING, where=ANY) == 1

    def test_what_commits_brought_comes_with_the_manifest_after_the_listing(
        self, store: Store
    ) -> None:
        writer = store.writer(SELDOM)
        write(writer, 0)
        records, objects = store.watched()
        records.at(SCOPE)
        write(writer, 1)
        write(writer, 2)
        together = Barrier(3, timeout=30)

        def meet(verb: str, key: str) -> None:
            if verb == "get":
                together.wait()

        objects.before = meet
        objects.asked.clear()
        assert records.at(SCOPE).count(SCOPE, Grain.WORKING, where=ANY) == 3
        assert objects.asked == {"list": 1, "get": 3}

    def test_large_files_come_in_parts(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write(store.writer(), *range(20))
        whole, objects = store.watched()
        whole.at(SCOPE)
        asked = objects.asked["get"]
        fetch_in_parts(monkeypatch, 1_000)
        parts, objects = store.watched()
        assert rows(parts) == each_once(*range(20))
        assert objects.asked["get"] > asked + 10

    def test_a_listing_that_stays_stale_takes_nothing_from_who_has_seen_more(
        self, store: Store
    ) -> None:
        writer, (records, objects) = store.writer(SELDOM), store.watched()
        nothing_yet = Lagging(store.objects)
        write(writer, 0)
        one = Lagging(store.objects)
        write(writer, 1)
        assert rows(records) == each_once(0, 1)
        for stale in (nothing_yet, one):
            objects.inner = stale
            assert rows(records) == each_once(0, 1)


class TestFaults:
    @pytest.mark.parametrize("at", [1, 2, 4, 8])
    def test_a_reader_meets_a_fault_and_reads_right_the_next_time(
        self, store: Store, at: int
    ) -> None:
        for number in range(5):
            write(store.writer(), number)
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
        other = store.writer(AT_ONCE)
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
        assert reader.at(SCOPE).get(
            SCOPE, Grain.WORKING, ["r-00000", "r-00001"]
        ) == [embedded(1).record]


class TestPurge:
    def test_no_byte_of_what_was_deleted_stays_below_the_root(
        self, store: Store
    ) -> None:
        writer = store.writer()
        secret = replace(
            embedded(1),
            record=replace(
                embedded(1).record, content="xyzzy42", period="2026-03-01"
            ),
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

    def test_the_packs_of_an_earlier_release_go_with_it(
        self, store: Store
    ) -> None:
        writer = store.writer()
        write(writer, 0)
        store.objects.put(f"{STORE}/packs/{1:020}.zip", b"copies of rows")
        purge(writer, "2026-03-01")
        assert not list(store.objects.list(f"{STORE}/packs"))
        assert rows(store.open()) == each_once(0)

    def test_a_replica_lets_go_of_it_when_it_looks_the_next_time(
        self, store: Store
    ) -> None:
        writer, reader = store.writer(), store.open()
        secret = replace(
            embedded(1),
            record=replace(
                embedded(1).record, content="xyzzy42", period="2026-03-01"
            ),
        )
        writer.upsert(SCOPE, Grain.WORKING, [secret, embedded(0)], MODEL)
        assert rows(reader) == each_once(0, 1)
        purge(writer, "2026-03-01")
        assert rows(reader) == each_once(0)
        held = [path for path in store.cache.rglob("*") if path.is_file()]
        assert held
        assert not [path for path in held if b"xyzzy42" in path.read_bytes()]

    def test_a_store_that_is_made_anew_has_nothing_of_the_one_before(
        self, moto: str, tmp_path: Path
    ) -> None:
        objects = s3_objects("varve-test", "anew")

        def opened() -> LanceRecords:
            caching = Caching(tmp_path)
            return LanceRecords(
                "s3://varve-test/anew",
                objects,
                lance_options(),
                SELDOM,
                caching,
            )

        writer, reader = opened(), opened()
        for number in range(4):
            write(writer, number)
        assert rows(reader) == each_once(*range(4))
        objects.delete([info.key for info in objects.list("vectordb")])
        assert rows(reader) == each_once()
        anew = opened()
        for number in range(10, 13):
            write(anew, number)
            assert rows(reader) == each_once(*range(10, number + 1))
        assert write(writer, 13) == 1
        assert rows(reader) == rows(opened()) == each_once(*range(10, 14))

    def test_a_store_that_is_made_anew_up_to_the_same_version_is_not_taken_for_the_one_before(
        self, store: Store
    ) -> None:
        """Nobody looked meanwhile: neither who has read it nor who has made its newest version."""
        writer, reader = store.writer(SELDOM), store.open()
        write(writer, 0)
        assert rows(reader) == each_once(0)
        version = store.newest()
        store.objects.delete(
            [info.key for info in store.objects.list("vectordb")]
        )
        write(store.writer(SELDOM), 1)
        assert store.newest() == version
        assert rows(reader) == each_once(1)
        assert write(writer, 2) == 1
        assert (
            rows(writer)
            == rows(reader)
            == rows(store.open())
            == each_once(1, 2)
        )


class TestCache:
    def test_holds_the_least_recently_used_no_longer_than_there_is_room(
        self, store: Store
    ) -> None:
        agents = [Scope("acme", f"agent-{number}") for number in range(6)]
        writer = store.writer()
        for number, scope in enumerate(agents):
            made = embedded(number, content="x" * 2_000)
            writer.upsert(scope, Grain.WORKING, [made], MODEL)
        room = 3 * 40_000
        reader = store.open(bytes=room)
        taken = replica_folder(reader)
        for _ in range(2):
            for number, scope in enumerate(agents):
                view = reader.at(scope)
                (found,) = view.browse(
                    scope, Grain.WORKING, where=ANY, limit=10
                )
                assert found.id == f"r-{number:05d}"
                held = sum(
                    path.stat().st_size
                    for path in taken.rglob("*")
                    if path.is_file()
                )
                assert held <= room

    def test_invariant_8_an_idle_replica_goes_at_the_next_request_of_any_agent(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Until then a reader's disk may hold what has been erased from the store."""
        now = [0.0]
        monkeypatch.setattr(replicas, "monotonic", lambda: now[0])
        writer = store.writer(AT_ONCE)
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
        writer = store.writer()
        write(writer, 0)
        reader = store.open()
        view = reader.at(SCOPE)
        drop_replicas(reader)
        (found,) = view.browse(SCOPE, Grain.WORKING, where=ANY, limit=10)
        assert found.event_time == T0

    def test_two_threads_that_meet_an_agent_at_the_same_time_read_the_same(
        self, store: Store
    ) -> None:
        write(store.writer(), *range(5))
        for _ in range(5):
            records, start = store.open(), Barrier(4)

            def read(
                _: int, records: LanceRecords = records, start: Barrier = start
            ) -> Counter[str]:
                start.wait()
                return rows(records)

            with ThreadPoolExecutor(4) as pool:
                assert (
                    list(pool.map(read, range(4)))
                    == [each_once(*range(5))] * 4
                )

    def test_is_a_directory_of_its_own_that_goes_with_the_process(
        self, store: Store
    ) -> None:
        script = (
            "import sys; from pathlib import Path\n"
            "from varve.adapters.lance_cache.cache_directory import CacheDirectory\n"
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
                command,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
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
