"""Columns of a store after a change, made of those before: what has not changed is not worked out again."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from varve.domain.search.columns import Columns, ask, tell_a_time
from varve.domain.search.indexing import by_first, index_texts
from varve.domain.search.lexical import Bools, Floats, Ints, Spots
from varve.domain.search.outline import Codes

T = TypeVar("T")


@dataclass(frozen=True)
class Weave:
    """How the rows of two columns make those of a third: first to last, runs of the one and of the other.

    A run is whether it is of the fresh ones, its first row there and the row after its last.
    """

    runs: Sequence[tuple[bool, int, int]]

    def arrays(
        self, old: npt.NDArray[Any], fresh: npt.NDArray[Any]
    ) -> npt.NDArray[Any]:
        """The rows of two arrays."""
        return np.concatenate(
            [(fresh if new else old)[first:end] for new, first, end in self.runs]
        )

    def lists(self, old: Sequence[T], fresh: Sequence[T]) -> list[T]:
        """The items of two lists."""
        woven: list[T] = []
        for new, first, end in self.runs:
            woven += (fresh if new else old)[first:end]
        return woven

    def codes(self, old: Codes, fresh: Codes) -> Codes:
        """The rows of two columns of few values, numbered as they first occur: also places depend on that."""
        known = {name: code for code, name in enumerate(old.names)}
        of_fresh = [known.setdefault(name, len(known)) for name in fresh.names]
        both = self.arrays(old.of, _or_none(np.array(of_fresh, np.int32))[fresh.of])
        used, names = by_first(both[both >= 0], len(known)), list(known)
        numbers = np.empty(len(known), np.int32)
        numbers[used] = np.arange(len(used))
        return Codes(_or_none(numbers)[both], [names[code] for code in used.tolist()])


def woven(before: Columns, stay: Bools, fresh: Columns) -> tuple[Columns, Weave]:
    """The columns of the rows that stay and of the fresh ones, and how they were made of both."""
    weave = _weave(before, stay, fresh)
    after = Columns(
        ids=weave.lists(before.ids, fresh.ids),
        contents=weave.lists(before.contents, fresh.contents),
        sources=weave.lists(before.sources, fresh.sources),
        types=weave.arrays(before.types, fresh.types),
        periods=weave.codes(before.periods, fresh.periods),
        conversations=weave.codes(before.conversations, fresh.conversations),
        users=weave.codes(before.users, fresh.users),
        speakers=weave.codes(before.speakers, fresh.speakers),
        positions=weave.arrays(before.positions, fresh.positions),
        event_times=weave.arrays(before.event_times, fresh.event_times),
        importances=weave.arrays(before.importances, fresh.importances),
        vectors=weave.arrays(before.vectors, fresh.vectors),
    )
    gone = np.flatnonzero(~stay).tolist()
    _read_on(
        before, after, weave.arrays(np.arange(len(before)), _known(before, gone, fresh))
    )
    return after, weave


def grown(before: Columns, after: Columns) -> Columns:
    """`after`, with what was read in the texts of `before`."""
    _read_on(before, after, _known(before, range(len(before)), after))
    return after


def _known(before: Columns, rows: Iterable[int], after: Columns) -> Spots:
    """For each row of `after` the one of these that has its id and says the same; -1 where none does."""
    row_of = {before.ids[row]: row for row in rows}
    found = [row_of.get(id_, -1) for id_ in after.ids]
    texts = zip(found, after.contents, strict=True)
    return np.array(
        [
            row if row >= 0 and before.contents[row] == text else -1
            for row, text in texts
        ],
        np.intp,
    )


def _read_on(before: Columns, after: Columns, same: Spots) -> None:
    """Give `after` what was read in the texts of `before`: `same` are their rows there, -1 where one is new.

    The index of words goes on only where none of its texts is gone: it does not say which of the words that
    a text had are left in others.
    """
    kept, gaps = np.flatnonzero(same >= 0), np.flatnonzero(same < 0)
    new = [after.contents[row] for row in gaps.tolist()]
    known = vars(before)  # a cached property that was asked for stands there
    places = np.full(len(before), -1)
    places[same[kept]] = kept
    if "lexical" in known and len(kept) == len(before) > 0 and places.min() >= 0:
        vars(after)["lexical"] = index_texts(new, before.lexical, places)
    marks: dict[str, Callable[[Sequence[str]], Floats]] = {
        "telling_time": tell_a_time,
        "questions": ask,
    }
    for name, read in marks.items():
        if name in known:
            values = np.empty(len(after), np.float32)
            values[kept], values[gaps] = known[name][same[kept]], read(new)
            vars(after)[name] = values


def _weave(before: Columns, stay: Bools, fresh: Columns) -> Weave:
    size = len(before)
    places = [
        bisect_left(
            range(size), _place(fresh, row), key=lambda old: _place(before, old)
        )
        for row in range(len(fresh))
    ]
    # One number is left out, so that no run goes on from the last old row to the first fresh one.
    fresh_from = size + 1
    rows = np.insert(np.arange(size), places, fresh_from + np.arange(len(fresh)))
    rows = rows[np.append(stay, np.ones(1 + len(fresh), np.bool_))[rows]]
    starts = np.flatnonzero(np.diff(rows, prepend=-2) != 1)
    runs = []
    for first, length in zip(
        rows[starts].tolist(), np.diff(starts, append=len(rows)).tolist(), strict=True
    ):
        row = first - fresh_from if first > size else first
        runs.append((first > size, row, row + length))
    return Weave(runs)


def _or_none(numbers: Ints) -> Ints:
    """With -1, which stands for none, as the last, where -1 finds it."""
    return np.append(numbers, np.int32(-1))


def _place(columns: Columns, row: int) -> tuple[bool, str, int, str]:
    """What the rows stand in the order of."""
    conversation = columns.conversations.name(row)
    return (
        conversation is None,
        conversation or "",
        columns.positions.item(row),
        columns.ids[row],
    )
