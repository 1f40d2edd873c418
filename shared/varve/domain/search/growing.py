"""Columns of a changed store, built from the columns before the change.

Rows that did not change are neither read nor indexed again.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from varve.domain.search.columns import (
    Columns,
    mark_questions,
    mark_time_expressions,
)
from varve.domain.search.indexing import find_distinct, index_texts
from varve.domain.search.lexical import Bools, Floats, Ints, Spots
from varve.domain.search.outline import Codes

ItemT = TypeVar("ItemT")

TEXT_MARKS: dict[str, Callable[[Sequence[str]], Floats]] = {
    "telling_time": mark_time_expressions,
    "questions": mark_questions,
}
"""Cached properties of columns with one value for each text, and how to compute them."""


@dataclass(frozen=True)
class Run:
    """Consecutive rows `first` to `end` (exclusive) of the fresh or the old columns."""

    is_fresh: bool
    first: int
    end: int


@dataclass(frozen=True)
class MergePlan:
    """How rows of old and fresh columns make up merged ones: runs, first to last."""

    runs: Sequence[Run]

    def merge_arrays(
        self, old: npt.NDArray[Any], fresh: npt.NDArray[Any]
    ) -> npt.NDArray[Any]:
        """Return the merged rows of two arrays."""
        pieces = []
        for run in self.runs:
            source = fresh if run.is_fresh else old
            pieces.append(source[run.first : run.end])
        return np.concatenate(pieces)

    def merge_lists(self, old: Sequence[ItemT], fresh: Sequence[ItemT]) -> list[ItemT]:
        """Return the merged items of two lists."""
        merged: list[ItemT] = []
        for run in self.runs:
            source = fresh if run.is_fresh else old
            merged += source[run.first : run.end]
        return merged

    def merge_codes(self, old: Codes, fresh: Codes) -> Codes:
        """Return the merged rows of two coded columns.

        Values are numbered in the order of their first row, as in columns built from
        all records: the numbers of conversations decide the order of places.
        """
        numbers = {name: code for code, name in enumerate(old.names)}
        fresh_numbers = [numbers.setdefault(name, len(numbers)) for name in fresh.names]
        fresh_codes = _append_none(np.array(fresh_numbers, np.int32))[fresh.of]
        merged = self.merge_arrays(old.of, fresh_codes)
        used = find_distinct(merged[merged >= 0], len(numbers))
        renumbered = np.empty(len(numbers), np.int32)
        renumbered[used] = np.arange(len(used))
        names = list(numbers)
        used_names = [names[code] for code in used.tolist()]
        return Codes(_append_none(renumbered)[merged], used_names)


def merge_columns(
    before: Columns, stay: Bools, fresh: Columns
) -> tuple[Columns, MergePlan]:
    """Merge the rows of `before` marked in `stay` with fresh rows.

    Return the merged columns and the plan by which they were merged.
    """
    plan = _plan_merge(before, stay, fresh)
    after = Columns(
        ids=plan.merge_lists(before.ids, fresh.ids),
        contents=plan.merge_lists(before.contents, fresh.contents),
        sources=plan.merge_lists(before.sources, fresh.sources),
        types=plan.merge_arrays(before.types, fresh.types),
        periods=plan.merge_codes(before.periods, fresh.periods),
        conversations=plan.merge_codes(before.conversations, fresh.conversations),
        users=plan.merge_codes(before.users, fresh.users),
        speakers=plan.merge_codes(before.speakers, fresh.speakers),
        positions=plan.merge_arrays(before.positions, fresh.positions),
        event_times=plan.merge_arrays(before.event_times, fresh.event_times),
        importances=plan.merge_arrays(before.importances, fresh.importances),
        vectors=plan.merge_arrays(before.vectors, fresh.vectors),
    )
    removed = np.flatnonzero(~stay).tolist()
    unchanged = _find_unchanged(before, removed, fresh)
    old_rows = plan.merge_arrays(np.arange(len(before)), unchanged)
    _reuse_texts(before, after, old_rows)
    return after, plan


def reuse_derived(before: Columns, after: Columns) -> Columns:
    """Copy derived values of unchanged texts from `before` into `after`; return `after`."""
    old_rows = _find_unchanged(before, range(len(before)), after)
    _reuse_texts(before, after, old_rows)
    return after


def _find_unchanged(before: Columns, rows: Iterable[int], after: Columns) -> Spots:
    """Return for each row of `after` the row of `before` with the same id and text.

    Only `rows` of `before` are considered. -1 means there is none.
    """
    row_by_id = {before.ids[row]: row for row in rows}
    found = np.full(len(after), -1, np.intp)
    for at, id_ in enumerate(after.ids):
        row = row_by_id.get(id_)
        if row is not None and before.contents[row] == after.contents[at]:
            found[at] = row
    return found


def _reuse_texts(before: Columns, after: Columns, old_rows: Spots) -> None:
    """Copy derived values of unchanged texts into `after`; compute the rest.

    `old_rows` has the row of `before` with the same text for each row of `after`, or -1.
    Only values that `before` has already computed are copied. The index of words is
    extended only if all texts of `before` stay: it does not record which texts still
    use the words of a removed one.
    """
    kept = np.flatnonzero(old_rows >= 0)
    gaps = np.flatnonzero(old_rows < 0)
    new_texts = [after.contents[row] for row in gaps.tolist()]
    computed = vars(before)  # holds the cached properties computed so far
    new_rows = np.full(len(before), -1)
    new_rows[old_rows[kept]] = kept
    all_stay = len(kept) == len(before) > 0 and new_rows.min() >= 0
    if "lexical" in computed and all_stay:
        vars(after)["lexical"] = index_texts(new_texts, before.lexical, new_rows)
    for name, mark in TEXT_MARKS.items():
        if name in computed:
            values = np.empty(len(after), np.float32)
            values[kept] = computed[name][old_rows[kept]]
            values[gaps] = mark(new_texts)
            vars(after)[name] = values


def _plan_merge(before: Columns, stay: Bools, fresh: Columns) -> MergePlan:
    """Plan a merge that keeps the order of rows."""
    size = len(before)
    insert_at = [_find_place(before, fresh, row) for row in range(len(fresh))]
    # Fresh rows are numbered from `size + 1`. The gap at `size` keeps the last old row
    # and the first fresh row in separate runs.
    fresh_from = size + 1
    fresh_rows = fresh_from + np.arange(len(fresh))
    rows = np.insert(np.arange(size), insert_at, fresh_rows)
    wanted = np.append(stay, np.ones(1 + len(fresh), np.bool_))
    rows = rows[wanted[rows]]
    starts = np.flatnonzero(np.diff(rows, prepend=-2) != 1)
    lengths = np.diff(starts, append=len(rows))
    runs = []
    for row, length in zip(rows[starts].tolist(), lengths.tolist(), strict=True):
        is_fresh = row >= fresh_from
        first = row - fresh_from if is_fresh else row
        runs.append(Run(is_fresh, first, first + length))
    return MergePlan(runs)


def _find_place(before: Columns, fresh: Columns, row: int) -> int:
    """Return the row of `before` in front of which a fresh row belongs."""
    wanted = _get_order(fresh, row)
    rows = range(len(before))
    return bisect_left(rows, wanted, key=lambda old: _get_order(before, old))


def _append_none(numbers: Ints) -> Ints:
    """Append -1, so that the code -1 (no value) as an index maps to itself."""
    return np.append(numbers, np.int32(-1))


def _get_order(columns: Columns, row: int) -> tuple[bool, str, int, str]:
    """Return the sort key of a row."""
    conversation = columns.conversations.name(row)
    return (
        conversation is None,
        conversation or "",
        columns.positions.item(row),
        columns.ids[row],
    )
