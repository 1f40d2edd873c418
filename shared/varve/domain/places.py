"""Where in which conversation something was said, and what stands around it."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from varve.domain.lexical import Floats, Ints

Spots = npt.NDArray[np.intp]

BURST = 6
"""At most so many messages in a row by one speaker share a place: people write a thought in pieces."""


@dataclass(frozen=True, eq=False)
class Places:
    """Where in which conversation something was said, in order.

    Records of one message share a place, and so do messages that one speaker sends in a row. `of` is each
    row's place, `starts` the first place of each conversation, and a record without a conversation has
    a place of its own.
    """

    of: Spots
    conversation: Ints
    starts: Ints
    joints: dict[int, Floats] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.conversation)

    @cached_property
    def numbers(self) -> Ints:
        """The number of each place's conversation in the order of `starts`."""
        return np.repeat(np.arange(len(self.starts), dtype=np.int32), np.diff([*self.starts, len(self)]))

    @cached_property
    def of_rows(self) -> Ints:
        """The number of each row's conversation."""
        return self.numbers[self.of]

    @cached_property
    def opening(self) -> Floats:
        """How near each row is to the start of its conversation: 1 at the first place, then falling."""
        rank = np.arange(len(self)) - self.starts[self.numbers]
        return (1 / (1 + rank / 2)).astype(np.float32)[self.of]

    @cached_property
    def _by_place(self) -> tuple[Spots, Spots]:
        """The rows place by place, and where each place begins among them."""
        order = np.argsort(self.of, kind="stable")
        return order, np.searchsorted(self.of[order], np.arange(len(self)))

    @cached_property
    def _ordered(self) -> bool:
        """Whether row i is place i."""
        return len(self.of) == len(self) and bool((self.of == np.arange(len(self))).all())

    def to_rows(self, values: Floats) -> Floats:
        """Each row's value of its place; may be the array given."""
        return values if self._ordered else values[self.of]

    def best(self, by_row: Floats) -> Floats:
        """The greatest value of each place's rows; may be the array given."""
        if self._ordered or not len(self):
            return by_row
        order, starts = self._by_place
        greatest: Floats = np.maximum.reduceat(by_row[order], starts)
        return greatest

    def best_passages(self, by_row: Floats) -> Floats:
        """For each row its conversation's best passage: the greatest sum of a place and its neighbours."""
        if not len(self):
            return by_row
        greatest: Floats = np.maximum.reduceat(self.around(self.best(by_row), 1), self.starts)
        return greatest[self.of_rows]

    def shifted(self, values: Floats, by: int) -> Floats:
        """The value that stands `by` places on in the same conversation; 0 where there is none."""
        out = np.zeros_like(values)
        if abs(by) >= len(self):
            return out
        here, there = (slice(None, -by), slice(by, None)) if by > 0 else (slice(-by, None), slice(None, by))
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
            self.joints[by] = (self.numbers[by:] == self.numbers[:-by]).astype(np.float32)
        return self.joints[by]


def places_of(conversations: Ints, positions: Ints, speakers: Ints) -> Places:
    """Rows with a conversation by its number and their position; the others alone, after all of these.

    `speakers` has the number of who said a row's message, -1 where the row is not its words: positions that
    follow each other and have the same one are one place, `BURST` of them at the most.
    """
    n = len(positions)
    alone = conversations < 0
    keys = np.where(alone, np.iinfo(np.int32).max, conversations)
    within = np.where(alone, np.arange(n), positions)
    order = np.lexsort((within, keys))
    first = np.ones(n, np.bool_)
    first[1:] = (np.diff(keys[order]) != 0) | (np.diff(within[order]) != 0)
    messages = np.flatnonzero(first)
    said_by = np.maximum.reduceat(speakers[order], messages) if n else speakers
    new = _bursts(keys[order][messages], within[order][messages], said_by)
    of = np.empty(n, np.intp)
    of[order] = (np.cumsum(new) - 1)[np.cumsum(first) - 1]
    conversation = conversations[order][messages][new]
    begins = np.ones(len(conversation), np.bool_)
    begins[1:] = (np.diff(conversation) != 0) | (conversation[1:] < 0)
    return Places(of, conversation, np.flatnonzero(begins).astype(np.int32))


def _bursts(conversations: Ints, positions: Ints, speakers: Ints) -> npt.NDArray[np.bool_]:
    """Which messages, in order, begin a place."""
    breaks = np.ones(len(positions), np.bool_)
    follows = (np.diff(conversations) == 0) & (np.diff(positions) == 1)
    breaks[1:] = ~(follows & (np.diff(speakers) == 0) & (speakers[1:] >= 0))
    starts = np.flatnonzero(breaks)
    within = np.arange(len(positions)) - np.repeat(starts, np.diff(starts, append=len(positions)))
    begins: npt.NDArray[np.bool_] = within % BURST == 0
    return begins
