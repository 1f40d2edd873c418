"""Columns built from those before a change: reused values and the order of rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.builders import a_record, embedded
from varve.domain.record import MemoryType, Record
from varve.domain.search.columns import Columns, columns_of
from varve.domain.search.growing import merge_columns, reuse_derived

SAID = st.text("ab ñ?.19", max_size=12) | st.sampled_from(
    ["in May 2024", "hace dos días", "E-4711"]
)
ROWS = st.lists(
    st.tuples(SAID, st.sampled_from(["c-1", "c-2", None]), st.integers(0, 4)),
    max_size=8,
)
CHANGES = st.lists(
    st.tuples(
        st.integers(0, 7),
        st.sampled_from(["new text", "new importance", None]),
    ),
    max_size=2,
)
Rows = list[tuple[str, str | None, int]]
Changes = list[tuple[int, str | None]]


def records_of(rows: Rows) -> dict[str, Record]:
    return {
        f"r{i}": a_record(
            text, id=f"r{i}", position=position, conversation_id=conversation, memory_type=MemoryType.TURN,
            about=(None, "Dana", f"Kim {i}")[i % 3], user_id=(f"u-{i % 4}", None)[i % 2],
        )
        for i, (text, conversation, position) in enumerate(rows)
    }  # fmt: skip


def changed(records: dict[str, Record], changes: Changes) -> dict[str, Record]:
    """Return the records with changed text, changed importance, or removed."""
    after = dict(records)
    for id_, what in ((f"r{number}", what) for number, what in changes):
        if id_ in after:
            record = after.pop(id_)
            if what == "new text":
                after[id_] = replace(
                    record,
                    content=f"{record.content} changed",
                    position=record.position + 1,
                )
            elif what:
                after[id_] = replace(
                    record, importance=0.9, conversation_id="c-3"
                )
    return after


def columns(*records: Record) -> Columns:
    return columns_of(embedded(*records))


def read(held: Columns) -> Columns:
    """Compute all cached values, and return the columns."""
    assert (
        held.lexical.size
        == len(held.telling_time)
        == len(held.questions)
        == len(held)
    )
    return held


def shown(held: Columns) -> dict[str, Any]:
    """Return all values of the rows and all derived ones.

    A stem whose last text was removed has no postings.
    """
    index = held.lexical
    codes = {
        name: getattr(held, name)
        for name in ("periods", "conversations", "users", "speakers")
    }
    each = (
        "types",
        "positions",
        "event_times",
        "importances",
        "vectors",
        "telling_time",
        "questions",
    )
    spans = {stem: index.span(code) for stem, code in index.codes.items()}
    posted = {
        stem: (index.rows[span], index.counts[span])
        for stem, span in spans.items()
    }
    return {
        "ids": list(held.ids),
        "contents": list(held.contents),
        "sources": list(held.sources),
        **{
            name: (column.of.tolist(), list(column.names))
            for name, column in codes.items()
        },
        **{name: getattr(held, name).tolist() for name in each},
        "posted": {
            s: dict(zip(*(a.tolist() for a in found), strict=True))
            for s, found in posted.items()
        },
        "forms": index.forms.keys(),
        "lengths": index.lengths.tolist(),
        "addressing": index.addressing.tolist(),
        "places": held.places.of.tolist(),
    }


def words_stayed(before: dict[str, Record], after: dict[str, Record]) -> bool:
    return all(
        id_ in after and after[id_].content == record.content
        for id_, record in before.items()
    )


@given(ROWS, ROWS, CHANGES)
def test_columns_with_reused_values_equal_columns_of_all_records(
    first: Rows, then: Rows, changes: Changes
) -> None:
    records = records_of([*first, *then])
    old = dict(list(records.items())[: len(first)])
    new = changed(records, changes)
    grew = reuse_derived(read(columns(*old.values())), columns(*new.values()))
    assert ("lexical" in vars(grew)) == (bool(old) and words_stayed(old, new))
    assert {"telling_time", "questions"} <= vars(grew).keys()
    assert shown(grew) == shown(columns(*new.values()))


@given(ROWS, ROWS, CHANGES)
@example(
    [("", "c-1", 0), ("", "c-2", 0), ("", "c-1", 1)],
    [("", "c-1", 0)] * 7 + [("", "c-1", 2)],
    [],
)
def test_merged_columns_equal_columns_of_all_records(
    first: Rows, then: Rows, changes: Changes
) -> None:
    records = records_of([*first, *then])
    old = dict(list(records.items())[: len(first)])
    new = changed(records, changes)
    before = read(columns(*old.values()))
    stay = np.array([new.get(id_) is old[id_] for id_ in before.ids], np.bool_)
    fresh = columns(
        *(record for id_, record in new.items() if old.get(id_) is not record)
    )
    if not stay.any():
        return
    after, plan = merge_columns(before, stay, fresh)
    assert ("lexical" in vars(after)) == words_stayed(old, new)
    assert shown(after) == shown(columns(*new.values()))
    assert plan.merge_lists(before.ids, fresh.ids) == after.ids


def test_values_that_were_not_computed_before_are_not_computed() -> None:
    before, fresh = (
        columns(a_record("one", id="r1")),
        columns(a_record("two", id="r2")),
    )
    after, _ = merge_columns(before, np.ones(1, np.bool_), fresh)
    assert not {"lexical", "telling_time", "questions"} & vars(after).keys()
