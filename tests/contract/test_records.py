"""The contract of MemoryReader and MemoryWriter for each adapter."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any, Protocol
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from lancedb.table import LanceTable

from tests.support.lanes import Hit, hits
from tests.support.s3 import s3_server
from varve.adapters.in_memory import InMemoryRecords
from varve.adapters.lance_cache.records import LanceRecords
from varve.adapters.objects.store import (
    lance_options,
    local_objects,
    s3_objects,
)
from varve.domain.calendar import Grain
from varve.domain.embedding import EmbeddingMismatch
from varve.domain.errors import Misconfigured, Retryable
from varve.domain.identity import Scope
from varve.domain.record import (
    EmbeddedRecord,
    MemoryType,
    Record,
    Store,
    Vector,
)
from varve.domain.search.query import Filter
from varve.ports.records import MemoryReader, MemoryWriter

DIMENSIONS = 8
MODEL = f"contract:{DIMENSIONS}"
SCOPE = Scope("acme", "support")
T0 = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
ANY = Filter()
BUCKET = "varve-test"
prefixes = (f"prefix-{number}" for number in count())


class Records(MemoryReader, MemoryWriter, Protocol):
    """Both ports over one store."""


@pytest.fixture(scope="module")
def moto() -> Iterator[str]:
    with s3_server(BUCKET) as endpoint:
        yield endpoint


def in_memory(_: Path) -> Callable[[], Records]:
    shared = InMemoryRecords()
    return lambda: shared


def directory(root: Path) -> Callable[[], Records]:
    return lambda: LanceRecords(str(root), local_objects(root))


def s3(_: Path) -> Callable[[], Records]:
    prefix = next(prefixes)
    return lambda: LanceRecords(
        f"s3://{BUCKET}/{prefix}", s3_objects(BUCKET, prefix), lance_options()
    )


@pytest.fixture(
    params=[in_memory, directory, s3], ids=["memory", "directory", "s3"]
)
def opened(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Callable[[], Records]:
    """Open the same store again, as another process would."""
    if request.param is s3:
        request.getfixturevalue("moto")
    opener: Callable[[], Records] = request.param(tmp_path / "store")
    return opener


@pytest.fixture
def records(opened: Callable[[], Records]) -> Records:
    return opened()


def axis(number: int, sign: float = 1.0) -> Vector:
    """Return the unit vector of an axis; two different ones are orthogonal."""
    vector: Vector = np.zeros(DIMENSIONS, dtype=np.float32)
    vector[number] = sign
    return vector


def record(
    id_: str, content: str = "Dana likes tea.", **changes: Any
) -> Record:
    made = Record(
        id=id_,
        memory_type=MemoryType.FACT,
        content=content,
        period="2026-03-02",
        event_time=T0,
        created_at=T0 + timedelta(hours=1),
        source_ids=("m1", "m2"),
        conversation_id="c-1",
        user_id="u-1",
        about="Dana",
        importance=0.7,
        confidence=0.9,
        position=3,
    )
    return replace(made, **changes)


def embedded(made: Record, vector: Vector | None = None) -> EmbeddedRecord:
    return EmbeddedRecord(made, axis(0) if vector is None else vector)


def put(
    records: Records,
    *made: Record,
    vector: Vector | None = None,
    scope: Scope = SCOPE,
) -> int:
    return records.upsert(
        scope, Grain.WORKING, [embedded(one, vector) for one in made], MODEL
    ).changed


def look(
    records: Records,
    text: str,
    vector: Vector | None = None,
    where: Filter = ANY,
    limit: int = 50,
) -> list[Hit]:
    asked = axis(0) if vector is None else vector
    return hits(
        records, SCOPE, text=text, vector=asked, where=where, limit=limit
    )


def worded(records: Records, text: str) -> set[str]:
    """Return the ids that the keyword lane finds."""
    return {
        candidate.id
        for candidate in look(records, text)
        if candidate.keyword > 0
    }


def ids(found: Sequence[Hit | Record]) -> list[str]:
    return [one.id for one in found]


def browsed(
    records: Records, where: Filter = ANY, limit: int = 10_000
) -> list[Record]:
    return records.browse(SCOPE, Grain.WORKING, where=where, limit=limit)


def counted(records: Records, where: Filter = ANY) -> int:
    return records.count(SCOPE, Grain.WORKING, where=where)


def stored(records: Records, *wanted: str) -> list[Record]:
    return records.get(SCOPE, Grain.WORKING, wanted)


class TestUpsert:
    def test_get_returns_every_field_as_it_was_written(
        self, opened: Callable[[], Records]
    ) -> None:
        full = record(
            "a",
            "Órbita — 'quoted' \"twice\" \\ 😀\nand a second line",
            position=7,
        )
        sparse = record(
            "b", conversation_id=None, user_id=None, about=None, source_ids=()
        )
        exact = record(
            "c", event_time=datetime(2026, 3, 2, 9, 15, 0, 123_457, tzinfo=UTC)
        )
        early = record("d", event_time=datetime(1, 1, 1, tzinfo=UTC))
        late = record(
            "e",
            event_time=datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
        )
        assert put(opened(), full, sparse, exact, early, late) == 5
        assert stored(opened(), "a", "b", "c", "d", "e") == [
            full,
            sparse,
            exact,
            early,
            late,
        ]

    def test_the_same_record_again_changes_and_counts_nothing(
        self, records: Records
    ) -> None:
        first = [record("a"), record("b", "Dana lives in Lisbon.")]
        assert put(records, *first) == 2
        later = [
            replace(one, created_at=one.created_at + timedelta(days=1))
            for one in first
        ]
        assert put(records, *later) == 0
        assert stored(records, "a", "b") == first

    def test_a_record_with_other_content_is_replaced(
        self, records: Records
    ) -> None:
        put(records, record("a"), record("b"))
        changed = record("a", "Dana likes coffee.", importance=0.2)
        assert put(records, changed, record("b")) == 1
        assert stored(records, "a", "b") == [changed, record("b")]
        assert counted(records) == 2
        assert worded(records, "coffee") == {"a"}
        assert "a" not in worded(records, "tea")

    def test_the_last_of_two_records_with_one_id_in_a_batch_stays_and_counts_once(
        self, records: Records
    ) -> None:
        last = record("a", "Dana likes coffee.")
        assert put(records, record("a"), record("b"), last) == 2
        assert counted(records) == 2
        assert stored(records, "a") == [last]
        assert put(records, record("a", "Dana likes milk."), last) == 0
        assert stored(records, "a") == [last]

    def test_the_first_of_two_equal_records_in_a_batch_stays(
        self, records: Records
    ) -> None:
        first = record("a")
        assert (
            put(
                records,
                first,
                replace(
                    first, created_at=first.created_at + timedelta(days=1)
                ),
            )
            == 1
        )
        assert stored(records, "a") == [first]

    def test_no_records_are_no_change(self, records: Records) -> None:
        assert put(records) == 0
        assert counted(records) == 0
        put(records, record("a"))
        assert put(records) == 0
        assert counted(records) == 1

    def test_another_process_reads_a_write_immediately(
        self, opened: Callable[[], Records]
    ) -> None:
        writer, reader = opened(), opened()
        for number in range(3):
            put(writer, record(f"r-{number}"))
            assert counted(reader) == number + 1
            assert f"r-{number}" in ids(look(reader, "tea"))

    def test_scopes_and_grains_do_not_see_each_other(
        self, records: Records
    ) -> None:
        others = [
            Scope("acme", "sales"),
            Scope("acme-2", "support"),
            Scope("support", "acme"),
        ]
        for number, scope in enumerate([SCOPE, *others]):
            put(records, record("a", f"secret {number}"), scope=scope)
        daily = embedded(record("a", "secret daily"))
        records.upsert(SCOPE, Grain.DAILY, [daily], MODEL)
        for number, scope in enumerate([SCOPE, *others]):
            assert ids(
                hits(records, scope, text="secret", vector=axis(0))
            ) == ["a"]
            assert records.count(scope, Grain.WORKING, where=ANY) == 1
            (only,) = records.browse(scope, Grain.WORKING, where=ANY, limit=10)
            assert only.content == f"secret {number}"
            (got,) = records.get(scope, Grain.WORKING, ["a"])
            assert got.content == f"secret {number}"
        assert records.browse(SCOPE, Grain.DAILY, where=ANY, limit=10) == [
            daily.record
        ]
        assert records.count(SCOPE, Grain.WEEKLY, where=ANY) == 0


class TestModel:
    """Invariant 10: model and dimensions are recorded in each store; a mismatch names both."""

    def test_invariant_10_a_search_with_another_model_is_an_error(
        self, records: Records
    ) -> None:
        put(records, record("a", "tea"))
        with pytest.raises(Misconfigured) as raised:
            records.candidates(
                SCOPE,
                Grain.WORKING,
                text="tea",
                vector=axis(0),
                model="other:4",
                where=ANY,
                limit=5,
                reach=1,
            )
        assert repr(MODEL) in str(raised.value)
        assert "'other:4'" in str(raised.value)

    @pytest.mark.parametrize(
        "other", ["other:8", "contract:16", "contract-v2:8"]
    )
    def test_invariant_10_a_mismatch_is_an_error_that_names_both_models(
        self, opened: Callable[[], Records], other: str
    ) -> None:
        put(opened(), record("a"))
        dimensions = int(other.rpartition(":")[2])
        foreign = EmbeddedRecord(
            record("b"), np.ones(dimensions, dtype=np.float32)
        )
        with pytest.raises(EmbeddingMismatch) as raised:
            opened().upsert(SCOPE, Grain.WORKING, [foreign], other)
        assert repr(MODEL) in str(raised.value)
        assert repr(other) in str(raised.value)
        assert str(SCOPE) in str(raised.value)
        assert isinstance(raised.value, Misconfigured)
        assert browsed(opened()) == [record("a")]

    def test_each_store_has_a_separate_model(self, records: Records) -> None:
        put(records, record("a"))
        other = Scope("acme", "other")
        foreign = EmbeddedRecord(record("b"), np.ones(16, dtype=np.float32))
        assert (
            records.upsert(other, Grain.WORKING, [foreign], "other:16").changed
            == 1
        )


class TestSearch:
    def test_unites_the_nearest_with_those_that_share_a_word(
        self, records: Records
    ) -> None:
        crowd = [
            record(f"near-{n}", f"something about weather {n}")
            for n in range(60)
        ]
        put(records, *crowd, vector=axis(0))
        put(
            records,
            record("worded", "the printer shows ERR-4711 again"),
            vector=axis(0, -1.0),
        )
        put(records, record("nearest", "nothing in common"), vector=axis(1))
        found = {
            c.id: c
            for c in look(records, "printer ERR-4711", axis(1), limit=5)
        }
        assert found["nearest"].vector == pytest.approx(1.0, abs=1e-3)
        assert found["nearest"].keyword == 0.0
        assert found["worded"].vector == 0.0
        assert found["worded"].keyword > 0.0
        assert len(look(records, "printer ERR-4711", axis(0), limit=5)) == 6

    def test_finds_a_record_of_both_lanes_once_with_both_scores(
        self, records: Records
    ) -> None:
        put(records, record("a", "tea with lemon"))
        (only,) = look(records, "lemon")
        assert only.vector == pytest.approx(1.0, abs=1e-3)
        assert only.keyword > 0

    @pytest.mark.parametrize(
        ("asked", "content"),
        [
            ("ERR-4711", "Build fails: ERR-4711."),
            (
                "what does err-4711 mean?",
                "Build fails (ERR-4711), says the log",
            ),
            ("4711", "Build fails with ERR-4711"),
            ("NW-53977", "Your ticket is NW-53977, at a quarter to eight"),
            ("E_1042", '"E_1042" came up'),
            ("6.4.2", "please update it to 6.4.2."),
            ("dana@example.org", "write to dana@example.org, please"),
            ("0xDEADBEEF", "halted at 0xDEADBEEF!"),
        ],
    )
    def test_finds_ids_and_error_codes_by_their_characters(
        self, records: Records, asked: str, content: str
    ) -> None:
        put(
            records,
            *[record(f"n-{n}", "a note about tea") for n in range(20)],
            vector=axis(1),
        )
        put(records, record("wanted", content), vector=axis(2))
        assert worded(records, asked) == {"wanted"}

    @pytest.mark.parametrize(
        "said", ["Alma nació el viernes", "alma nacio el viernes"]
    )
    def test_finds_spanish_words_with_and_without_their_accents(
        self, records: Records, said: str
    ) -> None:
        put(
            records,
            record("alma", said),
            record("other", "la tarta de La Rosa"),
        )
        for asked in (
            "nació",
            "NACIÓ",
            "nacio",
            "¿Cuándo nació?",
            "cuando nacio",
        ):
            assert worded(records, asked) == {"alma"}

    def test_reads_any_text_as_words_never_as_a_query_language(
        self, records: Records
    ) -> None:
        put(records, record("a"))
        for asked in (
            "", " ", "?!…", "the of and", '"', "'", "\\", "a AND (b", "content:tea", "+tea -milk", "tea~2^3",
            "*", "😀", "\x00", "' OR 1=1 --", "茶を飲む", "tea " * 2_500, "x" * 10_000,
        ):  # fmt: skip
            assert ids(look(records, asked)) == ["a"]

    def test_gives_at_most_the_limit_of_each_lane(
        self, records: Records
    ) -> None:
        put(
            records,
            *[record(f"a-{n}", f"tea {n}") for n in range(30)],
            vector=axis(1),
        )
        put(
            records,
            *[record(f"b-{n}", f"milk {n}") for n in range(30)],
            vector=axis(0),
        )
        found = ids(look(records, "tea", axis(0), limit=7))
        assert len(found) == 14
        assert sum(id_.startswith("a-") for id_ in found) == 7

    def test_breaks_ties_at_the_limit_always_the_same_way(
        self, records: Records
    ) -> None:
        made = [record(f"r-{n:03d}", "tea") for n in range(300)]
        put(
            records,
            *random.Random(4711).sample(made, len(made)),
            vector=axis(0),
        )
        put(records, record("better", "tea tea tea"), vector=axis(0))
        found = ids(look(records, "tea", axis(0), limit=5))
        assert "better" in found
        assert all(
            ids(look(records, "tea", axis(0), limit=5)) == found
            for _ in range(3)
        )

    def test_compares_directions_not_lengths(self, records: Records) -> None:
        put(records, record("a"), vector=axis(0) * np.float32(0.25))
        (only,) = look(records, "", axis(0) * np.float32(3.0))
        if isinstance(
            records, LanceRecords
        ):  # the fake trusts that vectors have unit length
            assert only.vector == pytest.approx(1.0, abs=1e-3)


class TestFilters:
    def test_apply_before_ranking_and_before_the_limit(
        self, records: Records
    ) -> None:
        crowd = [
            record(f"crowd-{n}", "tea tea tea", user_id="u-other")
            for n in range(1_500)
        ]
        old = [
            record(f"old-{n}", "tea", event_time=T0 - timedelta(days=30))
            for n in range(100)
        ]
        wanted = [
            record(f"wanted-{n}", f"tea once {n} among many other words")
            for n in range(3)
        ]
        put(records, *crowd, *old, vector=axis(0))
        put(records, *wanted, vector=axis(0, -1.0))
        where = Filter(since=T0 - timedelta(days=1), user_id="u-1")
        assert sorted(ids(look(records, "tea", where=where, limit=3))) == [
            "wanted-0",
            "wanted-1",
            "wanted-2",
        ]
        assert ids(look(records, "unspoken", where=where, limit=1))[
            0
        ].startswith("wanted-")
        assert len(browsed(records, where, limit=3)) == 3
        assert counted(records, where) == 3

    def test_time_is_half_open_to_the_microsecond(
        self, records: Records
    ) -> None:
        tick = timedelta(microseconds=1)
        put(
            records,
            *[
                record(f"t{n:+d}", event_time=T0 + n * tick)
                for n in (-1, 0, 1)
            ],
        )
        assert ids(browsed(records, Filter(since=T0))) == ["t+1", "t+0"]
        assert ids(browsed(records, Filter(until=T0))) == ["t-1"]
        assert ids(browsed(records, Filter(since=T0, until=T0 + tick))) == [
            "t+0"
        ]
        assert sorted(ids(look(records, "tea", where=Filter(since=T0)))) == [
            "t+0",
            "t+1",
        ]
        assert counted(records, Filter(since=T0 + 2 * tick)) == 0

    def test_all_conditions_of_a_filter_apply_together(
        self, records: Records
    ) -> None:
        put(
            records,
            record("a"),
            record("b", user_id="u-2"),
            record("c", conversation_id="c-2"),
            record("d", event_time=T0 + timedelta(days=1)),
            record("e", user_id=None, conversation_id=None),
        )
        assert ids(
            browsed(records, Filter(T0, T0 + timedelta(hours=1), "u-1", "c-1"))
        ) == ["a"]
        assert sorted(
            ids(browsed(records, Filter(conversation_id="c-1")))
        ) == [
            "a",
            "b",
            "d",
        ]
        assert sorted(ids(browsed(records, Filter(user_id="u-1")))) == [
            "a",
            "c",
            "d",
        ]
        of_two = Filter(users=("u-2", "it's nobody"))
        assert ids(browsed(records, of_two)) == ["b"]
        assert counted(records, of_two) == 1
        assert counted(records) == 5

    def test_summaries_of_unfinished_periods_are_left_out(
        self, records: Records
    ) -> None:
        day = record("fact").period
        summary = {"memory_type": MemoryType.SUMMARY, "conversation_id": None}
        put(
            records,
            record("fact"),
            record("its", **summary),
            record("other", period="2026-W09", **summary),
        )
        where = Filter(unfinished=(day, "2026-03", "2026-Q1"))
        assert sorted(ids(browsed(records, where))) == ["fact", "other"]
        assert sorted(ids(look(records, "tea", where=where))) == [
            "fact",
            "other",
        ]
        assert counted(records, where) == 2
        assert (
            counted(
                records, Filter(unfinished=(day, "2026-W09"), user_id="u-1")
            )
            == 1
        )

    def test_ids_apply_before_ranking_and_before_the_limit(
        self, records: Records
    ) -> None:
        put(records, *(record(f"r{number}") for number in range(8)))
        chosen = Filter(ids=frozenset({"r5", "r7", "it's gone"}))
        assert {
            one.id for one in look(records, "tea", where=chosen, limit=2)
        } == {
            "r5",
            "r7",
        }
        assert ids(browsed(records, chosen)) == ["r5", "r7"]
        assert counted(records, chosen) == 2
        assert browsed(records, Filter(ids=frozenset())) == []

    def test_reads_the_metadata_of_facts_and_turns_alone(
        self, records: Records
    ) -> None:
        text = '{"ticket": 42}'
        put(
            records,
            record("fact", key_facts=text),
            record("turn", memory_type=MemoryType.TURN, key_facts=text),
            record("summary", memory_type=MemoryType.SUMMARY, key_facts="[]"),
            record("without"),
        )
        found = records.read_metadata(SCOPE, Grain.WORKING)
        assert found == {"fact": text, "turn": text}
        assert records.read_metadata(SCOPE, Grain.DAILY) == {}

    def test_columns_of_users_have_all_of_their_records_and_no_other(
        self, records: Records
    ) -> None:
        put(
            records,
            record("a", user_id="u-1"),
            record("b", user_id="u-2"),
            record("c", user_id=None),
            record("d", user_id="u-1", conversation_id=None),
        )

        def read(*users: str | None) -> list[str]:
            found = records.columns_of_users(
                SCOPE, Grain.WORKING, users=users, model=MODEL
            )
            assert found.vectors.shape[0] == len(found.ids)
            return sorted(found.ids)

        assert read("u-1") == ["a", "d"]
        assert read("u-2", None) == ["b", "c"]
        assert read("u-3") == []

    def test_the_links_are_those_of_turns_alone(
        self, records: Records
    ) -> None:
        links = ("supersedes:turn-1", "confirms:turn-2")
        turn = MemoryType.TURN
        put(
            records,
            record("linked", memory_type=turn, source_fingerprints=links),
            record("turn", memory_type=turn),
            record(
                "summary",
                memory_type=MemoryType.SUMMARY,
                source_fingerprints=("f1",),
            ),
        )
        found = records.read_links(SCOPE, Grain.WORKING)
        assert found == {"linked": links}
        assert records.read_links(SCOPE, Grain.DAILY) == {}

    HOSTILE = (
        "' OR 1=1 --", "' OR '1'='1", '" OR ""="', "u-1' --", "u-1\\", "\\' OR 1=1 --", "''", "'", '"', "\\",
         "%", "_-1", "*", "u-1;DROP TABLE memories", "\\' OR 1=1) --", "''OR(1=1)OR''", "a''b",
         "u-1\x00", "ｕ-1", "u‐1", "＇ OR 1=1", "Ω≈ç√", "😀",
         "NULL", "true", "user_id", "$1", "{}", "u-1 ", "U-1", "",
    )  # fmt: skip

    def test_a_hostile_id_is_a_value_like_any_other(
        self, records: Records
    ) -> None:
        put(
            records,
            record("a"),
            record("b", user_id=None, conversation_id=None),
        )
        for hostile in self.HOSTILE:
            for where in (
                Filter(user_id=hostile),
                Filter(conversation_id=hostile),
            ):
                assert look(records, "tea", where=where) == []
                assert browsed(records, where) == []
                assert counted(records, where) == 0
        made = {
            hostile: record(f"c-{n}", user_id=hostile, conversation_id=hostile)
            for n, hostile in enumerate(self.HOSTILE)
        }
        put(records, *made.values())
        for hostile, mine in made.items():
            for where in (
                Filter(user_id=hostile),
                Filter(conversation_id=hostile),
            ):
                assert ids(look(records, "tea", where=where)) == [mine.id]
                assert browsed(records, where) == [mine]
                assert counted(records, where) == 1
        assert counted(records) == 2 + len(made)

    def test_hostile_record_ids_are_values_too(self, records: Records) -> None:
        put(records, record("a"), record("' OR 1=1 --"), record("\\"))
        assert stored(records, "' OR '1'='1", "a' OR 'a'='a") == []
        assert ids(stored(records, "' OR 1=1 --", "\\")) == [
            "' OR 1=1 --",
            "\\",
        ]


class TestReading:
    def test_browses_the_newest_first_beyond_a_thousand(
        self, records: Records
    ) -> None:
        made = [
            record(f"r-{n:04d}", event_time=T0 + timedelta(minutes=n))
            for n in range(1_250)
        ]
        shuffled = random.Random(4711).sample(made, len(made))
        for start in range(0, len(shuffled), 500):
            put(records, *shuffled[start : start + 500])
        newest = [one.id for one in reversed(made)]
        assert ids(browsed(records)) == newest
        assert ids(browsed(records, limit=1_100)) == newest[:1_100]
        assert ids(browsed(records, limit=1)) == newest[:1]
        until = Filter(until=T0 + timedelta(minutes=1_100))
        assert ids(browsed(records, until, limit=3)) == [
            "r-1099",
            "r-1098",
            "r-1097",
        ]

    def test_breaks_ties_by_the_later_message_then_by_id(
        self, records: Records
    ) -> None:
        put(
            records,
            record("b", position=1),
            record("c", position=2),
            record("a", position=1),
        )
        assert ids(browsed(records)) == ["c", "a", "b"]

    def test_get_keeps_the_order_of_the_ids_and_skips_missing_ones(
        self, records: Records
    ) -> None:
        put(records, *[record(f"r-{n}") for n in range(1_200)])
        assert ids(stored(records, "r-9", "none", "r-1000", "r-1")) == [
            "r-9",
            "r-1000",
            "r-1",
        ]
        assert stored(records) == []
        every = [f"r-{n}" for n in reversed(range(1_200))]
        assert ids(stored(records, *every)) == every

    def test_spans_from_the_oldest_to_the_newest(
        self, records: Records
    ) -> None:
        ends = (
            T0 - timedelta(days=400),
            T0 + timedelta(days=30, microseconds=1),
        )
        put(
            records,
            record("a"),
            record("b", event_time=ends[1]),
            record("c", event_time=ends[0]),
        )
        (whole,) = records.tally(SCOPE, Grain.WORKING, (), where=ANY)
        assert (whole.oldest, whole.newest) == ends

    def test_a_store_without_writes_is_empty(self, records: Records) -> None:
        assert look(records, "tea") == []
        assert browsed(records) == []
        assert stored(records, "a") == []
        assert counted(records) == 0
        assert records.tally(SCOPE, Grain.WORKING, (), where=ANY) == []


def test_reading_does_not_create_a_missing_directory(tmp_path: Path) -> None:
    records = directory(tmp_path / "store")()
    TestReading().test_a_store_without_writes_is_empty(records)
    assert not (tmp_path / "store").exists()


class TestPeriods:
    def test_counts_the_records_of_each_period(self, records: Records) -> None:
        put(
            records,
            *(
                record(f"a{n}", "tea", period=f"2026-03-0{1 + n % 2}")
                for n in range(5)
            ),
        )
        assert records.periods(SCOPE, Grain.WORKING) == {
            "2026-03-01": 3,
            "2026-03-02": 2,
        }

    def test_tallies_by_period_and_type_with_distinct_ids(
        self, records: Records
    ) -> None:
        later = T0 + timedelta(hours=5)
        put(
            records,
            record("a"),
            record("b", event_time=later, conversation_id="c-2", user_id=None),
            record("c", memory_type=MemoryType.TURN, source_ids=("m1",)),
            record("d", period="2026-03-03"),
        )
        found = records.tally(
            SCOPE, Grain.WORKING, ("period", "memory_type"), where=ANY
        )
        assert [(one.key, one.records, one.sources) for one in found] == [
            (("2026-03-02", "fact"), 2, 4),
            (("2026-03-02", "turn"), 1, 1),
            (("2026-03-03", "fact"), 1, 2),
        ]
        first = found[0]
        assert (first.conversations, first.users) == (2, 1)
        assert (first.oldest, first.newest) == (T0, later)

    def test_tallies_all_that_pass_a_filter_without_a_column(
        self, records: Records
    ) -> None:
        put(
            records,
            record("a"),
            record("b", user_id="u-2"),
            record("c", user_id=None),
        )
        (one,) = records.tally(SCOPE, Grain.WORKING, (), where=ANY)
        assert (one.key, one.records, one.users) == ((), 3, 2)
        (own,) = records.tally(
            SCOPE, Grain.WORKING, ("user_id",), where=Filter(user_id="u-2")
        )
        assert (own.key, own.records) == (("u-2",), 1)

    def test_tallies_by_what_records_are_about(self, records: Records) -> None:
        span = "2026-03-02/2026-03-05"
        put(
            records,
            record("a", about=span),
            record("b", about=span),
            record("c", about=None),
        )
        found = records.tally(
            SCOPE, Grain.WORKING, ("about", "period"), where=ANY
        )
        assert [(one.key[0], one.records) for one in found] == [
            (None, 1),
            (span, 2),
        ]
        assert found[1].days == ("2026-03-02", "2026-03-05")
        assert found[0].days == ("2026-03-02", "2026-03-02")

    def test_tallies_of_an_empty_store_are_none(
        self, records: Records
    ) -> None:
        assert records.tally(SCOPE, Grain.WORKING, (), where=ANY) == []
        put(records, record("a"))
        nobody = Filter(user_id="u-9")
        assert records.tally(SCOPE, Grain.WORKING, (), where=nobody) == []

    def test_reads_all_of_one_period_oldest_first(
        self, records: Records
    ) -> None:
        times = [datetime(2026, 3, 1, hour, tzinfo=UTC) for hour in (9, 7, 8)]
        made = [
            record(f"a{n}", "tea", period="2026-03-01", event_time=time)
            for n, time in enumerate(times)
        ]
        later = datetime(2026, 3, 2, 6, tzinfo=UTC)
        other = record("b", "tea", period="2026-03-02", event_time=later)
        put(records, *made, other)
        found = records.in_period(SCOPE, Grain.WORKING, "2026-03-01")
        assert [one.id for one in found] == ["a1", "a2", "a0"]
        assert records.in_period(SCOPE, Grain.WORKING, "2026-03-03") == []
        days = ("2026-03-03", "2026-03-02", "2026-03-01")
        several = records.in_period(SCOPE, Grain.WORKING, *days)
        assert [one.id for one in several] == ["a1", "a2", "a0", "b"]

    def test_reads_conversations_by_the_beginning_of_their_ids_oldest_first(
        self, records: Records
    ) -> None:
        names = ["telling-b", "telling-a", "telling", "tellinh-a", None]
        times = [datetime(2026, 3, day, tzinfo=UTC) for day in range(5, 0, -1)]
        made = [
            record(f"a{n}", "tea", conversation_id=name, event_time=time)
            for n, (name, time) in enumerate(zip(names, times, strict=True))
        ]
        written = records.upsert(
            SCOPE, Grain.WORKING, list(map(embedded, made)), MODEL
        )
        found = records.in_conversations(
            SCOPE, Grain.WORKING, "telling-", written.version
        )
        assert [one.id for one in found] == ["a1", "a0"]
        with pytest.raises(Retryable):
            records.in_conversations(
                SCOPE, Grain.WORKING, "telling-", written.version + 1
            )

    def test_reads_the_turns_that_contain_a_word_in_any_case_and_accents(
        self, records: Records
    ) -> None:
        texts = ["Olvídalo.", "Please FORGET it.", "Tea.", "You forget it."]
        made = [
            record(
                f"a{n}",
                text,
                event_time=datetime(2026, 3, 9 - n, tzinfo=UTC),
                memory_type=MemoryType.FACT if n == 3 else MemoryType.TURN,
            )
            for n, text in enumerate(texts)
        ]
        put(records, *made)
        words = ["forget", "olvida"]
        found = records.with_words(SCOPE, Grain.WORKING, words)
        assert [one.id for one in found] == ["a1", "a0"]
        assert records.with_words(SCOPE, Grain.WORKING, []) == []

    def test_a_period_is_read_at_the_version_of_a_write_or_is_retryable(
        self, records: Records
    ) -> None:
        """A stale listing may show an older version than the caller knows, or none."""
        with pytest.raises(Retryable):
            records.in_period(SCOPE, Grain.WORKING, "2026-03-01", since=1)
        made = [embedded(record("a", period="2026-03-01"))]
        written = records.upsert(SCOPE, Grain.WORKING, made, MODEL)
        assert written.changed == 1
        assert (
            len(
                records.in_period(
                    SCOPE, Grain.WORKING, "2026-03-01", since=written.version
                )
            )
            == 1
        )
        again = records.upsert(SCOPE, Grain.WORKING, made, MODEL)
        assert again.changed == 0
        assert again.version >= written.version
        with pytest.raises(Retryable):
            records.in_period(
                SCOPE, Grain.WORKING, "2026-03-01", since=again.version + 1
            )

    def test_reads_a_period_of_more_than_a_thousand(
        self, records: Records
    ) -> None:
        put(
            records,
            *(
                record(f"a{n}", "tea", period="2026-03-01")
                for n in range(1_200)
            ),
        )
        assert (
            len(records.in_period(SCOPE, Grain.WORKING, "2026-03-01")) == 1_200
        )

    def test_deletes_whole_periods_and_says_how_many_records(
        self, records: Records
    ) -> None:
        put(
            records,
            *(
                record(f"a{n}", "tea", period=f"2026-03-0{1 + n % 3}")
                for n in range(9)
            ),
        )
        assert (
            records.delete_periods(
                SCOPE,
                Grain.WORKING,
                ["2026-03-01", "2026-03-02", "2026-04-01"],
            )
            == 6
        )
        assert records.periods(SCOPE, Grain.WORKING) == {"2026-03-03": 3}
        assert (
            records.delete_periods(SCOPE, Grain.WORKING, ["2026-03-01"]) == 0
        )
        assert records.delete_periods(SCOPE, Grain.DAILY, ["2026-03-01"]) == 0

    def test_deletes_records_by_id_and_says_how_many(
        self, records: Records
    ) -> None:
        put(records, *(record(f"a{n}", "tea") for n in range(3)))
        assert records.delete(SCOPE, Grain.WORKING, ["a0", "a2", "none"]) == 2
        assert [one.id for one in browsed(records)] == ["a1"]
        assert records.delete(SCOPE, Grain.WORKING, ["a0"]) == 0
        assert records.delete(SCOPE, Store.EXPERIENCE, ["a0"]) == 0

    def test_deletes_by_id_only_records_created_by_a_time_to_the_microsecond(
        self, records: Records
    ) -> None:
        put(
            records,
            *(
                record(
                    f"a{n}",
                    "tea",
                    created_at=T0 + n * timedelta(microseconds=1),
                )
                for n in range(3)
            ),
        )
        known_by = (T0 + timedelta(microseconds=1)).astimezone(
            ZoneInfo("America/New_York")
        )
        assert (
            records.delete(SCOPE, Grain.WORKING, ["a0", "a1", "a2"], known_by)
            == 2
        )
        assert [one.id for one in browsed(records)] == ["a2"]

    def test_a_shorter_version_of_a_message_never_replaces_a_longer_one(
        self, records: Records
    ) -> None:
        put(records, record("a", "both halves", position=2))
        put(records, record("a", "the first half", position=1))
        assert [one.content for one in browsed(records)] == ["both halves"]
        put(
            records,
            record("a", "all three", position=3),
            record("a", "the first half", position=1),
        )
        assert [one.content for one in browsed(records)] == ["all three"]

    def test_a_summary_never_replaces_a_later_one(
        self, records: Records
    ) -> None:
        summed = replace(
            record("a", "two facts"),
            memory_type=MemoryType.SUMMARY,
            created_at=T0,
        )
        put(records, summed)
        put(
            records,
            replace(
                summed,
                content="one fact",
                created_at=T0 - timedelta(microseconds=1),
            ),
        )
        (kept,) = records.get(SCOPE, Grain.WORKING, ["a"])
        assert (kept.content, kept.created_at) == ("two facts", T0)
        for number in range(2):
            put(
                records,
                replace(
                    summed,
                    content=f"{number} more",
                    created_at=T0 + timedelta(hours=number),
                ),
            )
            (kept,) = records.get(SCOPE, Grain.WORKING, ["a"])
            assert kept.content == f"{number} more"

    def test_finds_only_the_requested_memory_types(
        self, records: Records
    ) -> None:
        put(
            records,
            record("a", "tea"),
            record("b", "tea", memory_type=MemoryType.TURN),
        )
        turns = Filter(memory_types=("turn",))
        assert (
            counted(records, turns),
            [one.id for one in browsed(records, turns)],
        ) == (1, ["b"])
        assert {one.id for one in look(records, "tea", where=turns)} == {"b"}


class TestErasure:
    def test_deletes_more_records_than_one_condition_holds(
        self, records: Records
    ) -> None:
        made = [
            embedded(
                record(f"r-thing-{number}", f"thing {number}"),
                axis(number % DIMENSIONS),
            )
            for number in range(1_100)
        ]
        records.upsert(SCOPE, Grain.WORKING, made, MODEL)
        assert (
            records.delete(
                SCOPE, Grain.WORKING, [e.record.id for e in made[:-1]]
            )
            == 1_099
        )
        assert records.count(SCOPE, Grain.WORKING, where=ANY) == 1

    def test_a_store_without_writes_has_nothing_to_delete(
        self, records: Records
    ) -> None:
        assert records.delete(SCOPE, Grain.WORKING, ["r"]) == 0

    def test_remaining_and_later_records_are_found(
        self, records: Records
    ) -> None:
        made = [
            embedded(record("r-maps", "old maps"), axis(0)),
            embedded(record("r-ferns", "young ferns"), axis(1)),
        ]
        records.upsert(SCOPE, Grain.WORKING, made, MODEL)
        records.delete(SCOPE, Grain.WORKING, [made[0].record.id])
        records.upsert(
            SCOPE,
            Grain.WORKING,
            [embedded(record("r-sails", "new sails"), axis(2))],
            MODEL,
        )
        for word, found in (
            ("maps", set()),
            ("ferns", {"r-ferns"}),
            ("sails", {"r-sails"}),
        ):
            lanes = hits(records, SCOPE, text=word, vector=axis(7))
            assert {hit.id for hit in lanes if hit.keyword} == found


def test_invariant_8_a_purged_store_equals_one_without_the_records_file_by_file(
    tmp_path: Path,
) -> None:
    """The index packs its words, so this test compares files instead of searching bytes."""

    def words_of(root: Path) -> list[bytes]:
        return [path.read_bytes() for path in root.rglob("*_tokens.lance")]

    kept = [
        embedded(
            record(f"r-kept-{number}", f"kept {number}"),
            axis(number % DIMENSIONS),
        )
        for number in range(4)
    ]
    gone = [
        embedded(
            record(f"r-gone-{number}", f"zebrina{number} quoll"), axis(number)
        )
        for number in range(4)
    ]
    one, other = (
        LanceRecords(str(tmp_path / name), local_objects(tmp_path / name))
        for name in "ab"
    )
    for pair in zip(kept, gone, strict=True):
        one.upsert(SCOPE, Grain.WORKING, pair, MODEL)
    other.upsert(SCOPE, Grain.WORKING, kept, MODEL)
    other.delete(SCOPE, Grain.WORKING, [])
    one.delete(SCOPE, Grain.WORKING, [e.record.id for e in gone])
    assert words_of(tmp_path / "a") == words_of(tmp_path / "b")
    assert len(words_of(tmp_path / "a")) == 1
    manifests = list((tmp_path / "a").rglob("*.manifest"))
    data = list((tmp_path / "a").rglob("data/*.lance"))
    assert (len(manifests), len(data)) == (1, 1)
    assert not [
        path
        for path in (tmp_path / "a").rglob("*")
        if path.is_file() and b"quoll" in path.read_bytes()
    ]


def test_invariant_8_a_purge_deletes_old_files_of_failed_writes(
    tmp_path: Path,
) -> None:
    records = LanceRecords(str(tmp_path), local_objects(tmp_path))
    records.upsert(SCOPE, Grain.WORKING, [embedded(record("kept"))], MODEL)
    data = next(tmp_path.rglob("data"))
    old, young = data / "old.lance", data / "young.lance"
    for path in (old, young):
        path.write_bytes(b"Dana lives in Lisbon.")
    hour_ago = old.stat().st_mtime - 3600
    os.utime(old, (hour_ago, hour_ago))
    records.delete(SCOPE, Grain.WORKING, [])
    assert (old.exists(), young.exists()) == (False, True)
    assert records.count(SCOPE, Grain.WORKING, where=ANY) == 1


def test_invariant_8_a_purge_keeps_its_own_files_though_all_others_are_old(
    tmp_path: Path,
) -> None:
    """LanceDB rewrites files under names that old files have."""
    records = LanceRecords(str(tmp_path), local_objects(tmp_path))
    records.upsert(
        SCOPE,
        Grain.WORKING,
        [embedded(record(f"r-{n}"), axis(n)) for n in range(3)],
        MODEL,
    )
    data = next(tmp_path.rglob("data"))
    for path in (path for path in tmp_path.rglob("*") if path.is_file()):
        hour_ago = path.stat().st_mtime - 3600
        os.utime(path, (hour_ago, hour_ago))
    (data / "young.lance").write_bytes(b"of a write that is not committed yet")
    assert records.delete(SCOPE, Grain.WORKING, ["r-0"]) == 1
    assert records.delete(SCOPE, Grain.WORKING, []) == 0
    for opened in (
        records,
        LanceRecords(str(tmp_path), local_objects(tmp_path)),
    ):
        found = opened.browse(SCOPE, Grain.WORKING, where=ANY, limit=10)
        assert {each.id for each in found} == {"r-1", "r-2"}
    assert (
        records.upsert(
            SCOPE, Grain.WORKING, [embedded(record("r-3"))], MODEL
        ).changed
        == 1
    )


def test_invariant_8_a_purge_beside_a_constant_writer_leaves_no_older_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records, other = (
        LanceRecords(str(tmp_path), local_objects(tmp_path)) for _ in range(2)
    )
    records.upsert(
        SCOPE,
        Grain.WORKING,
        [embedded(record("r-0")), embedded(record("gone"))],
        MODEL,
    )
    numbers, optimize = count(1), LanceTable.optimize

    def and_another(table: LanceTable, **given: Any) -> None:
        optimize(table, **given)
        other.upsert(
            SCOPE,
            Grain.WORKING,
            [embedded(record(f"r-{next(numbers)}"))],
            MODEL,
        )

    with monkeypatch.context() as patched:
        patched.setattr(LanceTable, "optimize", and_another)
        assert records.delete(SCOPE, Grain.WORKING, ["gone"]) == 1
    for file in tmp_path.rglob("*.lance"):
        assert file.is_dir() or b"gone" not in file.read_bytes(), file
    assert records.delete(SCOPE, Grain.WORKING, ["gone"]) == 0
    assert len(list(tmp_path.rglob("*.manifest"))) == 1
    assert records.count(SCOPE, Grain.WORKING, where=ANY) == next(numbers)
