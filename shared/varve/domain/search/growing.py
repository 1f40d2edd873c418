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
from varve.domain.search.lexical import Bools, Floats, Spots
from varve.domain.search.outline import Codes, Outline, renumber

ItemT = TypeVar("ItemT")
Array = npt.NDArray[Any]
RowOrder = tuple[bool, str, int, str]

MarkTexts = Callable[[Sequence[str]], Floats]

TEXT_MARKS: dict[str, MarkTexts] = {
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

    def merge_arrays(self, old: Array, fresh: Array) -> Array:
        """Return the merged rows of two arrays."""
        pieces = []
        for run in self.runs:
            source = fresh if run.is_fresh else old
            pieces.append(source[run.first : run.end])
        return np.concatenate(pieces)

    def merge_lists(
        self, old: Sequence[ItemT], fresh: Sequence[ItemT]
    ) -> list[ItemT]:
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
        both = old.followed_by(fresh)
        size = len(old.of)
        merged = self.merge_arrays(both.of[:size], both.of[size:])
        return _number_by_first_row(Codes(merged, both.names))

    def merge_short(self, old: Outline, fresh: Outline) -> dict[str, Any]:
        """Return the merged short columns, by name."""
        fresh_columns = fresh.short()
        merged: dict[str, Any] = {}
        for name, column in old.short().items():
            if isinstance(column, Codes):
                merged[name] = self.merge_codes(column, fresh_columns[name])
            else:
                merged[name] = self.merge_arrays(column, fresh_columns[name])
        return merged


def _number_by_first_row(column: Codes) -> Codes:
    """Number the values of a column by their first row; drop unused values."""
    names = column.names
    used = find_distinct(column.of[column.of >= 0], len(names))
    new_codes = np.full(len(names), -1)
    new_codes[used] = np.arange(len(used))
    return Codes(
        of=renumber(column.of, new_codes.tolist()),
        names=[names[code] for code in used.tolist()],
    )


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
        vectors=plan.merge_arrays(before.vectors, fresh.vectors),
        **plan.merge_short(before, fresh),
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


def _find_unchanged(
    before: Columns, rows: Iterable[int], after: Columns
) -> Spots:
    """Return for each row of `after` the row of `before` with the same id and text.

    Only `rows` of `before` are considered. -1 means there is none.
    """
    row_by_id = {before.ids[row]: row for row in rows}
    found = np.full(len(after), -1, np.intp)
    for at, id_ in enumerate(after.ids):
        row = row_by_id.get(id_)
        text = after.contents[at]
        if row is not None and before.contents[row] == text:
            found[at] = row
    return found


def _reuse_texts(before: Columns, after: Columns, old_rows: Spots) -> None:
    """Copy derived values of unchanged texts into `after`; compute the rest.

    `old_rows` has the row of `before` with the same text for each row of `after`, or -1.
    Only values that `before` has already computed are copied.
    """
    kept = np.flatnonzero(old_rows >= 0)
    gaps = np.flatnonzero(old_rows < 0)
    new_texts = [after.contents[row] for row in gaps.tolist()]
    computed = vars(before)  # holds the cached properties computed so far
    if "lexical" in computed:
        new_rows = np.full(len(before), -1)
        new_rows[old_rows[kept]] = kept
        _extend_index(before, after, new_rows, new_texts)
    for name, mark in TEXT_MARKS.items():
        if name in computed:
            values = np.empty(len(after), np.float32)
            values[kept] = computed[name][old_rows[kept]]
            values[gaps] = mark(new_texts)
            vars(after)[name] = values


def _extend_index(
    before: Columns, after: Columns, new_rows: Spots, new_texts: Sequence[str]
) -> None:
    """Extend the index of words, if all texts of `before` stay.

    The index does not record which texts still use the words of a removed one.
    `new_rows` has the row of each text in `after`, or -1.
    """
    is_same_size = len(before) + len(new_texts) == len(after)
    if len(before) and is_same_size and new_rows.min() >= 0:
        index = index_texts(new_texts, before.lexical, new_rows)
        vars(after)["lexical"] = index


def _plan_merge(before: Columns, stay: Bools, fresh: Columns) -> MergePlan:
    """Plan a merge that keeps the order of rows."""
    insert_at = [_find_place(before, fresh, row) for row in range(len(fresh))]
    # Fresh rows are numbered from `fresh_from`. The number before it is unused, so that
    # the last old row and the first fresh row are in separate runs.
    fresh_from = len(before) + 1
    fresh_rows = fresh_from + np.arange(len(fresh))
    old_rows = np.arange(len(before))
    is_wanted = np.ones(fresh_from + len(fresh), np.bool_)
    is_wanted[: len(before)] = stay
    rows = np.insert(old_rows, insert_at, fresh_rows)
    rows = rows[is_wanted[rows]]
    runs = []
    for row, length in _split_runs(rows):
        is_fresh = row >= fresh_from
        first = row - fresh_from if is_fresh else row
        runs.append(Run(is_fresh, first, first + length))
    return MergePlan(runs)


def _split_runs(numbers: Spots) -> Iterable[tuple[int, int]]:
    """Return the first number and the length of each run of consecutive numbers."""
    steps = np.diff(numbers, prepend=-2)
    starts = np.flatnonzero(steps != 1)
    lengths = np.diff(starts, append=len(numbers))
    firsts = numbers[starts]
    return zip(firsts.tolist(), lengths.tolist(), strict=True)


def _find_place(before: Columns, fresh: Columns, row: int) -> int:
    """Return the row of `before` in front of which a fresh row belongs."""
    wanted = _get_order(fresh, row)
    rows = range(len(before))
    return bisect_left(rows, wanted, key=lambda old: _get_order(before, old))


def _get_order(columns: Columns, row: int) -> RowOrder:
    """Return the sort key of a row."""
    conversation = columns.conversations.name(row)
    return (
        conversation is None,
        conversation or "",
        columns.positions.item(row),
        columns.ids[row],
    )
