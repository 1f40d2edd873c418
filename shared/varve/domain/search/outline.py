"""The short columns of a store: enough to count, filter and find neighbours."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from varve.domain.calendar import microseconds
from varve.domain.record import MemoryType
from varve.domain.search.lexical import (
    Bools,
    Floats,
    Ints,
    Numbers,
    Spots,
    runs,
)
from varve.domain.search.query import Filter

Times = npt.NDArray[np.int64]

TYPES = tuple(MemoryType)
NO_FILTER = Filter()

_POSITION_BITS = 31
LINK_SEPARATOR = " "
"""What stands between the links of one turn."""
NO_CODE = -1
"""The code of a row without a value."""
_UNKNOWN_CODE = -2


@dataclass(frozen=True, eq=False)
class Codes:
    """A column of few distinct values.

    Row i has the value `names[of[i]]`, or no value if `of[i]` is -1.
    """

    of: Ints
    names: Sequence[str]

    def code(self, name: str) -> int:
        """Return the code of a value, or -2, which no row has, if it does not occur."""
        try:
            return self.names.index(name)
        except ValueError:
            return _UNKNOWN_CODE

    def has(self, name: str) -> Bools:
        """Mark the rows with this value."""
        marked: Bools = self.of == self.code(name)
        return marked

    def name(self, row: int) -> str | None:
        """Return a row's value."""
        code = self.of.item(row)
        return None if code == NO_CODE else self.names[code]

    def take(self, rows: Spots | slice) -> "Codes":
        """Return the column of these rows alone."""
        return Codes(self.of[rows], self.names)

    def followed_by(self, more: "Codes") -> "Codes":
        """Return this column with the other one appended."""
        names = dict.fromkeys([*self.names, *more.names])
        codes = {name: code for code, name in enumerate(names)}
        new_codes = [codes[name] for name in more.names]
        more_of = renumber(more.of, new_codes)
        both = np.concatenate((self.of, more_of))
        return Codes(both, list(names))


def renumber(of: Ints, new_codes: Sequence[int]) -> Ints:
    """Replace each code by its new one; -1 (no value) stays -1."""
    # As an index, -1 picks the last item, which is -1 again.
    table = np.array([*new_codes, NO_CODE], np.int32)
    return table[of]


@dataclass(frozen=True, eq=False)
class Outline:
    """The short columns of the records of one agent and grain.

    `event_times` are in microseconds since 1970. `links` have a value for the turns that
    have links, such as `supersedes:turn-… confirms:turn-…` (domain.statements.links).
    """

    types: npt.NDArray[np.int8]
    periods: Codes
    conversations: Codes
    users: Codes
    speakers: Codes
    positions: Ints
    event_times: Times
    importances: Floats
    links: Codes

    def __len__(self) -> int:
        return len(self.types)

    @property
    def bytes(self) -> int:
        """The estimated memory of the columns and their cached values, in bytes."""
        conversations = len(self.conversations.names)
        return 60 * len(self) + 100 * conversations

    @cached_property
    def newest(self) -> int:
        """The newest event time; 0 if there are no rows."""
        return int(self.event_times.max()) if len(self) else 0

    def count(self, where: Filter) -> int:
        """Return the number of rows that pass the filter."""
        if where == NO_FILTER:
            return len(self)
        return int(np.count_nonzero(self.admitted(where)))

    def admitted(self, where: Filter) -> Bools:
        """Mark the rows that pass the filter."""
        passing = np.ones(len(self), np.bool_)
        if where.since is not None:
            passing &= self.event_times >= microseconds(where.since)
        if where.until is not None:
            passing &= self.event_times < microseconds(where.until)
        if where.user_id is not None:
            passing &= self.users.has(where.user_id)
        if where.users is not None:
            codes = [self.users.code(name) for name in where.users]
            passing &= np.isin(self.users.of, codes)
        if where.conversation_id is not None:
            passing &= self.conversations.has(where.conversation_id)
        if where.memory_types:
            passing &= self._has_type(where.memory_types)
        if where.unfinished:
            passing &= ~self._is_summary_of(where.unfinished)
        return passing

    def _has_type(self, names: Sequence[str]) -> Bools:
        codes = [TYPES.index(MemoryType(name)) for name in names]
        return np.isin(self.types, codes)

    def _is_summary_of(self, labels: Sequence[str]) -> Bools:
        """Mark the summaries of these periods."""
        codes = [self.periods.code(label) for label in labels]
        is_in_periods = np.isin(self.periods.of, codes)
        return is_in_periods & self._has_type([MemoryType.SUMMARY])

    def short(self, rows: Spots | slice = slice(None)) -> dict[str, Any]:
        """Return the short columns of these rows, by name."""
        short: dict[str, Any] = {}
        for field in fields(Outline):
            column = getattr(self, field.name)
            if isinstance(column, Codes):
                short[field.name] = column.take(rows)
            else:
                short[field.name] = column[rows]
        return short

    def around(self, rows: Spots, reach: int) -> Spots:
        """Return these rows and all within `reach` positions in their conversations.

        Each row comes once, by conversation and position. Rows without a conversation
        come last.
        """
        keys = self._keys
        order = self._order
        has_conversation = self.conversations.of[rows] >= 0
        centres = keys[rows[has_conversation]]
        low = np.searchsorted(keys, centres - reach, "left", order)
        high = np.searchsorted(keys, centres + reach, "right", order)
        neighbours = order[runs(low, high - low)]
        found = np.union1d(neighbours, rows)
        by_key = np.argsort(keys[found], kind="stable")
        return found[by_key]

    @cached_property
    def _keys(self) -> Numbers:
        """One number per row: conversation in the high bits, position in the low bits.

        Differences inside a conversation equal differences of positions; all others are
        larger. As unsigned numbers, rows without a conversation sort last.
        """
        unsigned = self.conversations.of.astype(np.uint32)
        high_bits = unsigned.astype(np.int64) << _POSITION_BITS
        return high_bits + self.positions

    @cached_property
    def _order(self) -> Spots:
        return np.argsort(self._keys, kind="stable")


def encode_values(values: Sequence[str | None]) -> Codes:
    """Build a coded column; values are numbered in the order of first occurrence."""
    codes: dict[str, int] = {}
    of = []
    for value in values:
        if value is None:
            of.append(NO_CODE)
        else:
            of.append(codes.setdefault(value, len(codes)))
    return Codes(np.array(of, np.int32), list(codes))
