"""Stores read whole and around some records: the in-memory reader and LanceDB on a directory."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lancedb.table import LanceTable

from tests.support.builders import (
    ACME,
    MORNING,
    WordEmbedder,
    a_record,
    embedded,
)
from tests.support.internals import call_few, hold_rows
from tests.support.moto_process import PROJECT
from varve.adapters.in_memory import InMemoryRecords
from varve.adapters.lance_cache.column_cache import ColumnCache
from varve.adapters.lance_cache.columns import CachedStore
from varve.adapters.lance_cache.records import LanceRecords
from varve.adapters.objects.store import local_objects
from varve.domain.calendar import Grain
from varve.domain.errors import Misconfigured
from varve.domain.identity import Scope
from varve.domain.record import MemoryType, Record
from varve.domain.search.columns import Columns, columns_of
from varve.domain.search.outline import Codes
from varve.domain.search.query import Filter
from varve.domain.search.question import read_question
from varve.domain.search.ranking import Lane, rank
from varve.domain.search.signals import EmbeddedQuestion
from varve.domain.search.strategies import BALANCED
from varve.ports.records import MemoryReader, MemoryWriter

MODEL, WORKING, ANY = WordEmbedder.model, Grain.WORKING, Filter()
SAID = [
    a_record(f"word {i}", id=f"turn-{i:02}", memory_type=MemoryType.TURN, position=i,
             source_ids=(f"m{i}", "x"), at=MORNING + timedelta(minutes=i), user_id=None if i % 2 else "u-1",
             conversation_id="c-1" if i < 8 else "c-2", importance=i / 10)
    for i in range(10)
]  # fmt: skip
ALONE = a_record(
    "a summary",
    id="summary",
    memory_type=MemoryType.SUMMARY,
    conversation_id=None,
    about=None,
)


class Records(MemoryReader, MemoryWriter, Protocol):
    """Both ports over one store."""


Opener = Callable[[], Records]


def in_memory(_: Path) -> Opener:
    shared = InMemoryRecords(max_rows=20)
    return lambda: shared


def directory(root: Path) -> Opener:
    return lambda: LanceRecords(str(root), local_objects(root))


@pytest.fixture(params=[in_memory, directory], ids=["memory", "directory"])
def opened(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Opener:
    """Opens one and the same store, as another process would; more than 20 rows are too many to hold."""
    hold_rows(monkeypatch, 20)
    opener: Opener = request.param(tmp_path / "store")
    return opener


def put(records: Records, *made: Record) -> None:
    records.upsert(ACME, WORKING, embedded(*made), MODEL)


def near(
    records: Records, wanted: Record, *, reach: int, where: Filter = ANY
) -> list[str]:
    """The ids of what is found by the words of a record, with what was said around it."""
    return list(candidates(records, wanted, reach=reach, where=where).ids)


def candidates(
    records: Records, wanted: Record, *, reach: int, where: Filter = ANY
) -> Columns:
    """What is found by the words of a record, with what was said around it."""
    (vector,) = WordEmbedder().embed([wanted.content])
    asked: dict[str, Any] = {
        "text": wanted.content,
        "vector": vector,
        "model": MODEL,
    }
    return records.candidates(
        ACME, WORKING, **asked, where=where, limit=1, reach=reach
    )


def test_columns_are_the_records_themselves(opened: Opener) -> None:
    put(opened(), *SAID, ALONE)
    held = opened().columns(ACME, WORKING, model=MODEL)
    expected = columns_of(embedded(*SAID, ALONE))
    assert held is not None
    assert list(held.ids) == list(expected.ids)
    assert list(held.contents) == list(expected.contents)
    assert [list(s) for s in held.sources] == [
        list(s) for s in expected.sources
    ]
    assert held.types.tolist() == expected.types.tolist()
    assert held.event_times.tolist() == expected.event_times.tolist()
    assert held.positions.tolist() == expected.positions.tolist()
    assert held.importances.tolist() == pytest.approx(
        expected.importances.tolist()
    )
    for row in range(len(held)):
        for column in ("periods", "conversations", "users", "speakers"):
            assert getattr(held, column).name(row) == getattr(
                expected, column
            ).name(row)
    assert np.abs(held.vectors - expected.vectors).max() < 2e-3, (
        "vectors are stored as float16"
    )
    assert np.linalg.norm(held.vectors, axis=1).tolist() == pytest.approx(
        [1.0] * len(held)
    )
    assert held.places.of.tolist() == expected.places.of.tolist()


def test_columns_are_of_the_newest_version(opened: Opener) -> None:
    writer, reader = opened(), opened()
    for count in (1, 2, 3):
        put(writer, *SAID[:count])
        held = reader.columns(ACME, WORKING, model=MODEL)
        assert held is not None
        assert len(held) == count
    writer.delete_periods(ACME, WORKING, [SAID[0].period])
    emptied = reader.columns(ACME, WORKING, model=MODEL)
    assert emptied is not None
    assert len(emptied) == 0


def test_a_store_that_grew_is_found_by_all_its_words(opened: Opener) -> None:
    writer, reader = opened(), opened()
    for some in (
        SAID[4:],
        [*SAID[:4], ALONE],
        [replace(ALONE, content="Other words now.", importance=0.9)],
    ):
        put(writer, *some)
        held, fresh = (
            records.columns(ACME, WORKING, model=MODEL)
            for records in (reader, opened())
        )
        assert held is not None
        assert fresh is not None
        assert sorted(held.ids) == sorted(fresh.ids)
        assert held.lexical.forms.keys() == fresh.lexical.forms.keys()
        for form in fresh.lexical.forms:
            mine, theirs = (
                {
                    c.ids[row]
                    for row in c.lexical.postings(c.lexical.term(form).codes)[
                        0
                    ]
                }
                for c in (held, fresh)
            )
            assert mine == theirs, form
        assert dict(zip(held.ids, held.telling_time, strict=True)) == dict(
            zip(fresh.ids, fresh.telling_time, strict=True)
        )


def test_a_store_that_did_not_change_is_not_opened_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = LanceRecords(str(tmp_path), local_objects(tmp_path))
    put(records, *SAID)
    held = records.columns(ACME, WORKING, model=MODEL)
    for name in ("checkout_latest", "search", "count_rows", "to_arrow"):
        monkeypatch.setattr(LanceTable, name, None)
    assert records.columns(ACME, WORKING, model=MODEL) is held
    assert records.columns(ACME, Grain.DAILY, model=MODEL) is not None


WRITER = """
import sys
from tests.contract.test_columns import directory, put, SAID, Path
put(directory(Path(sys.argv[1]))(), *SAID[:2])
"""


def test_what_another_process_wrote_is_found_by_the_next_search(
    tmp_path: Path,
) -> None:
    reader, here = (
        directory(tmp_path)(),
        {"PYTHONPATH": f"{PROJECT}:{PROJECT / 'shared'}"},
    )
    put(directory(tmp_path)(), SAID[0])
    held = reader.columns(ACME, WORKING, model=MODEL)
    assert held is not None
    assert len(held) == 1
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    subprocess.run(command, check=True, env=here)
    held = reader.columns(ACME, WORKING, model=MODEL)
    assert held is not None
    assert len(held) == 2


Change = tuple[str, int, str]
CHANGES = st.lists(
    st.tuples(
        st.sampled_from(["said", "said anew", "forgotten"]),
        st.integers(0, 9),
        st.sampled_from(
            [
                "tea in May",
                "¿dónde?",
                "the router E-4711 is down again",
                "I moved to Lisbon",
            ]
        ),
    ),
    min_size=1,
    max_size=4,
)


@settings(max_examples=12, deadline=None)
@given(CHANGES)
def test_a_reader_that_followed_all_changes_ranks_as_one_that_reads_the_store_anew(
    changes: list[Change],
) -> None:
    with tempfile.TemporaryDirectory() as root:
        store = directory(Path(root))
        writer, reader = store(), store()
        for kind, number, words in changes:
            record = replace(
                SAID[number],
                content=words,
                position=number + (kind == "said anew"),
            )
            if kind == "forgotten":
                writer.delete(ACME, WORKING, [record.id])
            else:
                put(writer, record)
            assert ranked(reader) == ranked(store())


def ranked(records: Records) -> list[tuple[str, float]]:
    """A question's answers, the scores to five digits: sums are summed in another order."""
    held = records.columns(ACME, WORKING, model=MODEL)
    assert held is not None
    question = read_question(
        "when did Dana say that the router was down in Lisbon?"
    )
    (vector,) = WordEmbedder().embed([question.text])
    found = rank(
        EmbeddedQuestion(question, vector, vector),
        [Lane(WORKING, held)],
        ANY,
        MORNING,
        BALANCED,
        limit=20,
        explain=True,
    )
    return sorted((item.id, round(item.score, 5)) for item in found)


def test_columns_of_a_store_that_is_not_there_are_empty(
    opened: Opener,
) -> None:
    held = opened().columns(ACME, Grain.YEARLY, model=MODEL)
    assert held is not None
    assert len(held) == 0


def test_of_a_store_of_too_many_rows_the_outline_is_held(
    opened: Opener,
) -> None:
    made = [
        replace(
            SAID[n % 10],
            id=f"r{n:02}",
            position=n,
            user_id="u-1" if n % 3 else None,
        )
        for n in range(21)
    ]
    put(opened(), *made)
    outline, whole = (
        opened().columns(ACME, WORKING, model=MODEL),
        columns_of(embedded(*made)),
    )
    assert not isinstance(outline, Columns)
    for where in (
        ANY,
        Filter(since=SAID[5].event_time),
        Filter(user_id="u-1"),
        Filter(conversation_id="c-2"),
        Filter(unfinished=(SAID[0].period,)),
    ):
        assert outline.count(where) == whole.count(where)
    assert outline.newest == whole.newest


def test_a_store_that_grows_beyond_what_is_held_is_held_no_longer(
    opened: Opener,
) -> None:
    records = opened()
    put(records, *(a_record(f"r{i}", id=f"r{i}") for i in range(20)))
    held = records.columns(ACME, WORKING, model=MODEL)
    assert held is not None
    assert len(held) == 20
    put(records, a_record("r20", id="r20"))
    outline = records.columns(ACME, WORKING, model=MODEL)
    assert len(outline) == 21
    assert not isinstance(outline, Columns)


def test_invariant_10_columns_for_another_model_are_an_error_that_names_both(
    opened: Opener,
) -> None:
    put(opened(), SAID[0])
    with pytest.raises(Misconfigured) as raised:
        opened().columns(ACME, WORKING, model="other:4")
    assert MODEL in str(raised.value)
    assert "other:4" in str(raised.value)


def test_candidates_come_with_their_neighbours_in_the_conversation(
    opened: Opener,
) -> None:
    put(opened(), *SAID, ALONE)
    assert near(opened(), SAID[6], reach=0) == ["turn-06"]
    assert near(opened(), SAID[6], reach=2) == [
        "turn-04",
        "turn-05",
        "turn-06",
        "turn-07",
    ]
    assert near(opened(), SAID[9], reach=2) == ["turn-08", "turn-09"]
    assert near(opened(), ALONE, reach=2) == ["summary"]


def test_what_was_said_around_candidates_keeps_to_the_filter(
    opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    call_few(monkeypatch, 0)
    put(opened(), *SAID, ALONE)
    where = Filter(since=SAID[5].event_time, user_id="u-1")
    assert near(opened(), SAID[6], reach=3, where=where) == ["turn-06"]


def test_where_a_filter_lets_few_through_all_of_them_are_candidates(
    tmp_path: Path,
) -> None:
    records = directory(tmp_path)()
    put(
        records,
        *SAID,
        ALONE,
        replace(SAID[6], id="fact", memory_type=MemoryType.FACT),
    )
    turns = Filter(since=SAID[5].event_time, memory_types=("turn",))
    assert near(records, SAID[6], reach=0, where=turns) == [
        f"turn-{n:02}" for n in range(5, 10)
    ]


def test_ids_limit_the_candidates_of_a_store_too_large_to_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold_rows(monkeypatch, 0)
    records = directory(tmp_path)()
    put(records, *SAID, ALONE)
    chosen = Filter(ids=frozenset({"turn-02", "turn-08"}))
    assert near(records, SAID[6], reach=1, where=chosen) == [
        "turn-02",
        "turn-08",
    ]


def test_a_reader_that_followed_all_changes_has_the_outline_that_one_has_who_reads_it_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold_rows(monkeypatch, 0)
    store = directory(tmp_path)
    writer, reader = store(), store()
    put(writer, *SAID[:6])
    assert outlined(reader) == outlined(store())
    put(writer, *SAID[6:], ALONE)
    assert outlined(reader) == outlined(store())
    put(writer, replace(SAID[3], content="Other words now.", importance=0.9))
    assert outlined(reader) == outlined(store())
    for number in range(40):  # with a compaction among them
        put(
            writer, replace(SAID[9], id=f"more-{number}", position=10 + number)
        )
        assert near(reader, SAID[6], reach=2) == [
            "turn-04",
            "turn-05",
            "turn-06",
            "turn-07",
        ]
    writer.delete(ACME, WORKING, ["turn-05"])
    assert outlined(reader) == outlined(store())
    assert near(reader, SAID[6], reach=2) == ["turn-04", "turn-06", "turn-07"]


def test_of_a_store_made_anew_the_outline_is_read_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold_rows(monkeypatch, 0)
    store = directory(tmp_path)
    put(store(), *SAID[:5])
    reader = store()
    before = outlined(reader)
    shutil.rmtree(tmp_path)
    put(store(), *SAID[5:])
    assert outlined(reader) == outlined(store()) != before


@pytest.mark.parametrize(
    "writes", [1, 6, 9], ids=["fewer versions", "as many", "more"]
)
def test_who_has_a_store_open_goes_on_with_the_one_that_is_begun_anew_in_its_place(
    tmp_path: Path, writes: int
) -> None:
    store = directory(tmp_path)
    here, elsewhere = store(), store()
    for said in SAID[:6]:
        put(here, said)
    assert here.count(ACME, WORKING, where=ANY) == 6
    shutil.rmtree(tmp_path / "vectordb")
    assert here.count(ACME, WORKING, where=ANY) == 0
    assert here.get(ACME, WORKING, [SAID[0].id]) == []
    for number in range(writes):
        put(elsewhere, replace(SAID[9], position=number))
    assert here.get(ACME, WORKING, [one.id for one in SAID]) == [
        replace(SAID[9], position=writes - 1)
    ]
    put(here, SAID[8])
    assert (
        elsewhere.count(ACME, WORKING, where=ANY)
        == here.count(ACME, WORKING, where=ANY)
        == 2
    )


def outlined(records: Records) -> list[tuple[object, ...]]:
    """The rows of a store's outline, in no order."""
    outline = records.columns(ACME, WORKING, model=MODEL)
    assert not isinstance(outline, Columns)
    short = outline.short()
    columns = [
        [column.name(row) for row in range(len(outline))]
        if isinstance(column, Codes)
        else column.tolist()
        for column in short.values()
    ]
    return sorted(zip(*columns, strict=True), key=repr)


def test_candidates_have_their_ids_and_sources(tmp_path: Path) -> None:
    records = directory(tmp_path)()
    put(records, *SAID)
    found = candidates(records, SAID[6], reach=1)
    assert list(found.ids) == ["turn-05", "turn-06", "turn-07"]
    assert found.sources[2] == ["m7", "x"]


OTHERS = Scope("acme", "sales")


def whole(*records: Record) -> CachedStore:
    return CachedStore(
        columns_of(embedded(*records)),
        MODEL,
        np.zeros(len(records), np.uint64),
        None,
    )


def test_the_cache_keeps_one_version_of_each_store_and_no_more_than_fits() -> (
    None
):
    old, small = whole(*SAID), whole(*SAID)
    cache = ColumnCache(max_bytes=2 * small.columns.bytes)
    cache.put(ACME, Grain.WORKING, old)
    cache.put(ACME, Grain.WORKING, small)
    assert cache.get(ACME, Grain.WORKING) is small
    cache.put(OTHERS, Grain.WORKING, small)
    assert cache.get(ACME, Grain.WORKING) is small
    cache.put(Scope("acme", "third"), Grain.WORKING, small)
    assert cache.get(OTHERS, Grain.WORKING) is None, (
        "the one used longest ago goes"
    )
    assert cache.get(ACME, Grain.WORKING) is small


def test_the_stores_of_an_agent_that_together_do_not_fit_are_kept_all_the_same() -> (
    None
):
    small = whole(*SAID)
    cache = ColumnCache(max_bytes=small.columns.bytes)
    cache.put(OTHERS, Grain.WORKING, small)
    for grain in Grain:
        cache.put(ACME, grain, small)
    assert all(cache.get(ACME, grain) is small for grain in Grain)
    assert cache.get(OTHERS, Grain.WORKING) is None
