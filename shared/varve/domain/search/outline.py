"""What is short about each record of a store: enough to count and filter, and to find what stands where."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from varve.domain.record import MemoryType
from varve.domain.search.lexical import Bools, Floats, Ints, Numbers, Spots, runs
from varve.domain.search.query import Filter

Times = npt.NDArray[np.int64]

TYPES = tuple(MemoryType)
EVERYTHING = Filter()

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_POSITION_BITS = 31


@dataclass(frozen=True, eq=False)
class Codes:
    """A column of few different values: `names[of[i]]` is row i's, and -1 stands for none."""

    of: Ints
    names: Sequence[str]

    def code(self, name: str) -> int:
        """The number of a value; -2, which no row has, where it does not occur."""
        return self.names.index(name) if name in self.names else -2

    def name(self, row: int) -> str | None:
        """A row's value."""
        code = self.of.item(row)
        return None if code < 0 else self.names[code]

    def some(self, rows: Spots | slice) -> "Codes":
        """The column of these rows alone."""
        return Codes(self.of[rows], self.names)

    def followed_by(self, more: "Codes") -> "Codes":
        """This column with the other below it."""
        known = dict(zip(self.names, range(len(self.names)), strict=True))
        renumbered = [known.setdefault(name, len(known)) for name in more.names]
        added = np.array([*renumbered, -1], np.int32)[
            more.of
        ]  # none, which is -1, finds the last
        return Codes(np.concatenate((self.of, added)), list(known))


@dataclass(frozen=True, eq=False)
class Outline:
    """The short columns of one agent's and grain's records; `event_times` in microseconds since 1970."""

    types: npt.NDArray[np.int8]
    periods: Codes
    conversations: Codes
    users: Codes
    speakers: Codes
    positions: Ints
    event_times: Times
    importances: Floats

    def __len__(self) -> int:
        return len(self.types)

    @property
    def bytes(self) -> int:
        """About how much memory it takes, with what is made of it."""
        return 60 * len(self) + 100 * len(self.conversations.names)

    @cached_property
    def newest(self) -> int:
        """The newest event time; 0 where there are no rows."""
        return int(self.event_times.max()) if len(self) else 0

    def count(self, where: Filter) -> int:
        """How many rows the filter lets through."""
        return (
            len(self)
            if where == EVERYTHING
            else int(np.count_nonzero(self.admitted(where)))
        )

    def admitted(self, where: Filter) -> Bools:
        """Which rows the filter lets through."""
        passing = np.ones(len(self), np.bool_)
        if where.since is not None:
            passing &= self.event_times >= microseconds(where.since)
        if where.until is not None:
            passing &= self.event_times < microseconds(where.until)
        if where.user_id is not None:
            passing &= self.users.of == self.users.code(where.user_id)
        if where.conversation_id is not None:
            passing &= self.conversations.of == self.conversations.code(
                where.conversation_id
            )
        if where.memory_types:
            passing &= np.isin(
                self.types,
                [TYPES.index(MemoryType(name)) for name in where.memory_types],
            )
        if where.unfinished:
            running = np.isin(
                self.periods.of,
                [self.periods.code(label) for label in where.unfinished],
            )
            passing &= ~(running & (self.types == TYPES.index(MemoryType.SUMMARY)))
        return passing

    def short(self, rows: Spots | slice = slice(None)) -> dict[str, Any]:
        """The short columns of these rows, by name."""
        columns = {field.name: getattr(self, field.name) for field in fields(Outline)}
        return {
            name: column.some(rows) if isinstance(column, Codes) else column[rows]
            for name, column in columns.items()
        }

    def around(self, rows: Spots, reach: int) -> Spots:
        """These rows, and those at most `reach` places from one of them in its conversation.

        Each once, conversation by conversation in order of position; those without a conversation are last.
        """
        spoken = self._keys[rows[self.conversations.of[rows] >= 0]]
        low = np.searchsorted(self._keys, spoken - reach, "left", self._order)
        high = np.searchsorted(self._keys, spoken + reach, "right", self._order)
        found = np.unique(np.concatenate((self._order[runs(low, high - low)], rows)))
        return found[np.argsort(self._keys[found], kind="stable")]

    @cached_property
    def _keys(self) -> Numbers:
        """Numbers that are as far apart as rows of one conversation are, and further for all others."""
        conversations = self.conversations.of.astype(np.uint32).astype(
            np.int64
        )  # none has the greatest
        return (conversations << _POSITION_BITS) + self.positions

    @cached_property
    def _order(self) -> Spots:
        return np.argsort(self._keys, kind="stable")


def microseconds(moment: datetime) -> int:
    """Microseconds since 1970."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def moment(since_1970: int) -> datetime:
    """The instant, of microseconds."""
    return _EPOCH + timedelta(microseconds=since_1970)


def coded(values: Sequence[str | None]) -> Codes:
    """The values as numbers in the order of their first occurrence."""
    known: dict[str, int] = {}
    of = [
        -1 if value is None else known.setdefault(value, len(known)) for value in values
    ]
    return Codes(np.array(of, np.int32), list(known))
