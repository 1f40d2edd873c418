"""Where in which conversation something was said, and what stands around it."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from varve.domain.search.lexical import Bools, Floats, Ints, Spots

BURST = 6
"""At most so many messages in a row by one speaker share a place: people write a thought in pieces."""


@dataclass(frozen=True, eq=False)
class Places:
    """Where in which conversation something was said, in order.

    Records of one message share a place, and so do messages that one speaker sends in a row. `of` is each
    row's place, which never falls from row to row, `rows` the first row of each place and `starts` the
    first place of each conversation. A record without a conversation has a place of its own.
    """

    of: Spots
    rows: Spots
    starts: Spots
    joints: dict[int, Floats] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def numbers(self) -> Ints:
        """The number of each place's conversation in the order of `starts`."""
        sizes = np.diff(self.starts, append=len(self))
        return np.repeat(np.arange(len(self.starts), dtype=np.int32), sizes)

    @cached_property
    def opening(self) -> Floats:
        """How near each row is to the start of its conversation: 1 at the first place, then falling."""
        rank = np.arange(len(self)) - self.starts[self.numbers]
        return (1 / (1 + rank / 2)).astype(np.float32)[self.of]

    @cached_property
    def _counts(self) -> Spots:
        """How many rows each place has."""
        return np.diff(self.rows, append=len(self.of))

    @cached_property
    def _spoken(self) -> Spots:
        """How many rows each conversation has."""
        return np.diff(self.rows[self.starts], append=len(self.of))

    @property
    def _single(self) -> bool:
        """Whether each place has one row."""
        return len(self.of) == len(self)

    def to_rows(self, values: Floats) -> Floats:
        """Each row's value of its place; may be the array given."""
        return values if self._single else np.repeat(values, self._counts)

    def best(self, by_row: Floats) -> Floats:
        """The greatest value of each place's rows; may be the array given."""
        if self._single:
            return by_row
        greatest: Floats = np.maximum.reduceat(by_row, self.rows)
        return greatest

    def best_passages(self, by_row: Floats) -> Floats:
        """For each row the best passage of its conversation: the greatest sum of a place and those beside."""
        if not len(self):
            return by_row
        greatest: Floats = np.maximum.reduceat(
            self.around(self.best(by_row), 1), self.starts
        )
        return np.repeat(greatest, self._spoken)

    def shifted(self, values: Floats, by: int) -> Floats:
        """The value that stands `by` places on in the same conversation; 0 where there is none."""
        out = np.zeros_like(values)
        if abs(by) >= len(self):
            return out
        here, there = (
            (slice(None, -by), slice(by, None))
            if by > 0
            else (slice(-by, None), slice(None, by))
        )
        np.multiply(values[there], self._together(abs(by)), out=out[here])
        return out

    def around(self, values: Floats, reach: int) -> Floats:
        """The sum over each place, along the last axis, and those up to `reach` on either side."""
        out = values.copy()
        for by in range(1, min(reach + 1, len(self))):
            joint = self._together(by)
            out[..., :-by] += values[..., by:] * joint
            out[..., by:] += values[..., :-by] * joint
        return out

    def best_around(self, values: Floats, reach: int) -> Floats:
        """The greatest over each place and those up to `reach` on either side; values are not negative."""
        out = values.copy()
        for by in range(1, min(reach + 1, len(self))):
            joint = self._together(by)
            np.maximum(out[..., :-by], values[..., by:] * joint, out=out[..., :-by])
            np.maximum(out[..., by:], values[..., :-by] * joint, out=out[..., by:])
        return out

    def _together(self, by: int) -> Floats:
        """1 where a place and the one `by` on belong to one conversation."""
        if by not in self.joints:
            self.joints[by] = (self.numbers[by:] == self.numbers[:-by]).astype(
                np.float32
            )
        return self.joints[by]


def places_of(conversations: Ints, positions: Ints, speakers: Ints) -> Places:
    """Of rows that stand conversation by conversation, by number, in order of position; -1: alone.

    `speakers` has the number of who said a row's message, -1 where the row is not its words: positions that
    follow each other and have the same one are one place, `BURST` of them at the most.
    """
    first, alone = np.ones(len(positions), np.bool_), conversations < 0
    first[1:] = (np.diff(conversations) != 0) | (np.diff(positions) != 0) | alone[1:]
    messages = np.flatnonzero(first)
    said_by = np.maximum.reduceat(speakers, messages) if len(messages) else speakers
    new = _bursts(
        conversations[messages],
        positions[messages],
        np.where(alone[messages], -1, said_by),
    )
    rows = messages[new]
    spoken = conversations[rows]
    opens = np.ones(len(rows), np.bool_)
    opens[1:] = (np.diff(spoken) != 0) | (spoken[1:] < 0)
    return Places(
        (np.cumsum(new) - 1)[np.cumsum(first) - 1], rows, np.flatnonzero(opens)
    )


def _bursts(conversations: Ints, positions: Ints, speakers: Ints) -> Bools:
    """Which messages, in order, begin a place."""
    breaks = np.ones(len(positions), np.bool_)
    follows = (np.diff(conversations) == 0) & (np.diff(positions) == 1)
    breaks[1:] = ~(follows & (np.diff(speakers) == 0) & (speakers[1:] >= 0))
    starts = np.flatnonzero(breaks)
    within = np.arange(len(positions)) - np.repeat(
        starts, np.diff(starts, append=len(positions))
    )
    begins: Bools = within % BURST == 0
    return begins
