"""Columns that follow a store's changes are those of the store read whole, whatever happens to it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

import lancedb
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from lancedb.table import LanceTable

from tests.support.builders import (
    ACME,
    MORNING,
    WordEmbedder,
    a_record,
    embedded,
)
from tests.support.internals import hide_manifests
from varve.adapters.lance_cache.cache_directory import Caching
from varve.adapters.lance_cache.files import manifest_name, needs_of
from varve.adapters.lance_cache.layout import read_layout
from varve.adapters.lance_cache.records import LanceRecords
from varve.adapters.objects.store import local_objects
from varve.domain.calendar import Grain
from varve.domain.record import MemoryType, Record
from varve.domain.search.columns import Columns

MODEL, WORKING = WordEmbedder.model, Grain.WORKING
TEXTS = [
    "tea in May",
    "¿dónde?",
    "the router E-4711 is down again",
    "I moved to Lisbon",
    "houses",
    "house",
]


def a_row(number: int, **given: Any) -> Record:
    """One of rows of all sorts, by its number."""
    turn = number % 3 > 0
    fields: dict[str, Any] = {
        "content": TEXTS[number % len(TEXTS)],
        "id": f"r{number * 7919 % 1000:03}",
        "memory_type": MemoryType.TURN if turn else MemoryType.FACT,
        "at": MORNING + timedelta(days=number % 4, minutes=number),
        "source_ids": tuple(f"m{i}" for i in range(number % 3)),
        "conversation_id": ("c-2", "c-1", "c-3", None, f"c-{number}")[
            number % 5
        ],
        "user_id": (None, "u-1", "u-2", f"u-{number}")[number % 4],
        "about": (None, "Dana", "Lee Wu", f"Kim {number}")[number // 2 % 4],
        "importance": number % 11 / 10,
        "position": number // 3 % 5,
    }
    return a_record(**{**fields, **given})


class Played:
    """A store that things happen to: in a directory, or among the objects of an S3 root with replicas."""

    def __init__(self, home: Path, *, replicas: bool) -> None:
        self.home, self.root, self.replicas = home, home / "objects", replicas
        self.store = self.root / f"vectordb/{ACME}/{WORKING}"
        self.numbers = count()
        self.reader = self.opened()
        self.say(3)

    def opened(self) -> LanceRecords:
        """As another process opens it, with a replica of its own."""
        if not self.replicas:
            return self.writer()
        objects = local_objects(self.root)
        return LanceRecords(
            "s3://bucket/root", objects, caching=Caching(self.home / "cache")
        )

    def writer(self) -> LanceRecords:
        """As another process opens it to write."""
        return LanceRecords(str(self.root), local_objects(self.root))

    def table(self) -> LanceTable:
        """The table, to be changed by LanceDB itself."""
        table: LanceTable = lancedb.connect(self.store).open_table("memories")
        return table

    def put(self, *records: Record) -> None:
        self.writer().upsert(ACME, WORKING, embedded(*records), MODEL)

    def rows(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = (
            self.table()
            .search()
            .limit(None)
            .to_arrow()
            .sort_by("id")
            .to_pylist()
        )
        return rows

    def one(self, number: int) -> str:
        """The id of a row that is there; of none where there are none."""
        ids = [row["id"] for row in self.rows()]
        return ids[number % len(ids)] if ids else "none"

    # ---- what may happen

    def say(self, number: int) -> None:
        for _ in range(1 + number % 3):
            self.put(
                *(a_row(next(self.numbers)) for _ in range(1 + number % 4))
            )

    def say_anew(self, number: int) -> None:
        self.put(
            a_row(
                number,
                id=self.one(number),
                content=TEXTS[number % 5],
                position=5 + number,
            )
        )

    def weigh_anew(self, number: int) -> None:
        same = next(
            (row for row in self.rows() if row["id"] == self.one(number)), None
        )
        if same is not None:
            self.put(
                a_row(
                    number,
                    id=same["id"],
                    content=same["content"],
                    position=9,
                    importance=0.123,
                )
            )

    def repeat(self, number: int) -> None:
        self.put(a_row(number))

    def forget(self, number: int) -> None:
        self.writer().delete(ACME, WORKING, [self.one(number)])

    def drop_period(self, number: int) -> None:
        self.writer().delete_periods(ACME, WORKING, [a_row(number).period])

    def delete(self, number: int) -> None:
        self.table().delete(f"id = '{self.one(number)}'")

    def update(self, number: int) -> None:
        self.table().update(
            where=f"id = '{self.one(number)}'",
            values={"about": "Zoe", "content": "zebra"},
        )

    def compact(self, _: int) -> None:
        self.table().optimize()

    def restore(self, number: int) -> None:
        """Go back to one of the versions of which a purge has removed nothing."""
        table, folder = self.table(), self.store / "memories.lance"
        needs = {
            found["version"]: needs_of(
                (folder / manifest_name(found["version"])).read_bytes()
            ).files
            for found in table.list_versions()
        }
        whole = [
            v
            for v, files in needs.items()
            if all((folder / name).exists() for name in files)
        ]
        table.restore(whole[number % len(whole)])

    def overwrite(self, _: int) -> None:
        table = self.table()
        table.add(table.search().limit(None).to_arrow(), mode="overwrite")

    def back_up(self, _: int) -> None:
        shutil.rmtree(self.home / "copy", ignore_errors=True)
        shutil.copytree(self.root, self.home / "copy")

    def put_back(self, number: int) -> None:
        if (self.home / "copy").exists():
            shutil.rmtree(self.root)
            shutil.copytree(self.home / "copy", self.root)
            self.live_on(number)

    def begin_anew(self, number: int) -> None:
        shutil.rmtree(self.root)
        self.live_on(number)

    def live_on(self, number: int) -> None:
        """Another life, which counts its versions from a lesser number."""
        for _ in range(1 + number % 4):
            self.put(
                a_row(
                    number % 4,
                    content=f"another life {next(self.numbers)}",
                    position=500,
                )
            )
            self.put(a_row(next(self.numbers), content="another life"))

    def happens(self, what: str, number: int) -> None:
        getattr(self, what)(number)

    def read(self, records: LanceRecords) -> Columns:
        held = records.columns(ACME, WORKING, model=MODEL)
        assert held is not None
        return held


def shown(held: Columns) -> dict[str, Any]:
    """All that rows have, and what is worked out for each of them."""
    named = {
        name: getattr(held, name)
        for name in ("periods", "conversations", "users", "speakers")
    }
    each = (
        "types",
        "positions",
        "event_times",
        "importances",
        "telling_time",
        "questions",
        "question_places",
    )
    held.lexical.postings([])
    return {
        "ids": list(held.ids),
        "contents": list(held.contents),
        "sources": [list(sources) for sources in held.sources],
        **{
            name: (codes.of.tolist(), list(codes.names))
            for name, codes in named.items()
        },
        **{name: getattr(held, name).tolist() for name in each},
        "places": held.places.of.tolist(),
        "lengths": held.lexical.lengths.tolist(),
        "forms": sorted(held.lexical.forms),
        "posted": sorted(
            (stem, sorted(held.lexical.postings([code])[0].tolist()))
            for stem, code in held.lexical.codes.items()
        ),
        "speakers_by_word": held.speakers_by_word,
    }


def require_the_same(held: Columns, whole: Columns) -> None:
    assert shown(held) == shown(whole)
    for name in (
        ("vectors", "centre", "inverse_distances") if len(whole) else ()
    ):
        assert np.allclose(
            getattr(held, name), getattr(whole, name), atol=1e-6
        ), name


HAPPENING = st.sampled_from(
    [
        "say", "say", "say", "say_anew", "weigh_anew", "repeat", "forget", "drop_period", "delete", "update",
        "compact", "restore", "overwrite", "back_up", "put_back", "begin_anew",
    ]
)  # fmt: skip


@pytest.mark.parametrize(
    "replicas", [False, True], ids=["directory", "replica"]
)
@settings(max_examples=15, deadline=None)
@given(
    st.lists(
        st.tuples(HAPPENING, st.integers(0, 40), st.booleans()),
        min_size=2,
        max_size=8,
    )
)
@example([("back_up", 0, True), ("say", 5, True), ("put_back", 3, True)])
@example([("say", 5, True), ("begin_anew", 5, True)])
def test_columns_that_followed_all_changes_are_those_of_the_store_read_whole(
    replicas: bool, happenings: list[tuple[str, int, bool]]
) -> None:
    with tempfile.TemporaryDirectory() as home:
        played = Played(Path(home), replicas=replicas)
        shown(
            played.read(played.reader)
        )  # what is worked out for each row is carried on
        for what, number, searched in happenings:
            played.happens(what, number)
            if searched:
                require_the_same(
                    played.read(played.reader), played.read(played.opened())
                )
        require_the_same(
            played.read(played.reader), played.read(played.opened())
        )


class Readings:
    """What is asked of LanceDB's tables: how often for all rows, and how many by their addresses."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.whole, self.rows = 0, 0
        search, take = LanceTable.search, LanceTable.take_row_ids

        def searched(table: LanceTable, *args: Any, **kwargs: Any) -> Any:
            self.whole += 1
            return search(table, *args, **kwargs)

        def taken(table: LanceTable, addresses: list[int]) -> Any:
            self.rows += len(addresses)
            return take(table, addresses)

        monkeypatch.setattr(LanceTable, "search", searched)
        monkeypatch.setattr(LanceTable, "take_row_ids", taken)

    def of(self, run: Callable[[], object]) -> tuple[int, int]:
        """Of one run."""
        self.whole, self.rows = 0, 0
        run()
        return self.whole, self.rows


@pytest.fixture(params=[False, True], ids=["directory", "replica"])
def played(request: pytest.FixtureRequest, tmp_path: Path) -> Played:
    """A store of forty rows in four commits."""
    found = Played(tmp_path, replicas=request.param)
    found.put(*(a_row(number) for number in range(40)))
    return found


def test_after_a_commit_only_the_rows_that_it_brought_are_read(
    played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    readings = Readings(monkeypatch)
    whole = (1, 0)

    def read() -> None:
        played.read(played.reader)

    assert readings.of(read) == whole
    assert readings.of(read) == (0, 0)
    for change, came in (
        (lambda: played.put(a_row(40), a_row(41)), 2),
        (lambda: played.put(a_row(3, importance=0.77)), 1),
        (lambda: played.table().delete("position = 2"), 0),
        (lambda: played.put(a_row(40)), 0),
    ):
        change()
        assert readings.of(read) == (0, came)
    played.compact(0)
    assert readings.of(read) == whole
    played.put(a_row(43))
    assert readings.of(read) == (0, 1)
    played.put(*(a_row(number) for number in range(50, 90)))
    assert readings.of(read) == whole, "most is new"
    require_the_same(played.read(played.reader), played.read(played.opened()))


def test_what_a_commit_left_as_it_was_is_the_same_object(
    played: Played,
) -> None:
    held = played.read(played.reader)
    played.table().create_index("id", replace=True, index_type="BTREE")
    assert played.read(played.reader) is held


def test_so_many_deletions_that_they_are_a_bitmap_are_read_with_the_rest(
    tmp_path: Path,
) -> None:
    played = Played(tmp_path, replicas=False)
    played.put(*(a_row(3, id=f"x{i:04}", position=i) for i in range(6_000)))
    played.read(played.reader)
    played.table().delete("position < 5500")
    assert list((played.store / "memories.lance" / "_deletions").glob("*.bin"))
    for number in (50, 51):
        held = played.read(played.reader)
        assert len(held) == len(played.rows())
        assert set(held.ids) == {row["id"] for row in played.rows()}
        played.put(a_row(number, position=9_000))


def test_a_store_that_moved_to_another_model_and_back_has_the_new_vectors(
    tmp_path: Path,
) -> None:
    played, other = Played(tmp_path, replicas=False), "other:4"
    held = played.read(played.reader)
    stores = LanceRecords(str(played.root), local_objects(played.root))
    drawn = np.random.default_rng(1).normal(
        size=(len(held), held.vectors.shape[1])
    )
    stores.move(
        ACME,
        WORKING,
        other,
        lambda records: [np.ones(4, np.float32) for _ in records],
    )
    stores.move(
        ACME,
        WORKING,
        MODEL,
        lambda records: [
            drawn[i].astype(np.float32) for i in range(len(records))
        ],
    )
    moved = played.read(played.reader)
    require_the_same(moved, played.read(played.opened()))
    assert not np.allclose(moved.vectors, held.vectors, atol=0.1)


def test_where_the_rows_lie_is_what_lancedb_says(played: Played) -> None:
    for what in (
        "say",
        "say_anew",
        "delete",
        "update",
        "compact",
        "say",
        "forget",
        "overwrite",
        "restore",
    ):
        played.happens(what, 4)
        table = played.table()
        layout = read_layout(table, None)
        assert layout is not None
        addresses = (
            table.search()
            .with_row_id(True)
            .select(["id"])
            .limit(None)
            .to_arrow()["_rowid"]
            .to_numpy()
        )
        assert layout.holds(addresses)
        assert not layout.holds(addresses[1:])


def test_where_a_manifest_cannot_be_read_all_rows_are(
    played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide_manifests(monkeypatch)
    readings = Readings(monkeypatch)
    for number in (40, 41):
        played.put(a_row(number))
        assert readings.of(lambda: played.read(played.reader)) == (1, 0)
        require_the_same(
            played.read(played.reader), played.read(played.opened())
        )
