"""Where in which conversation something was said, and what stands around it."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from varve.domain.lexical import Floats, Ints

Spots = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Sessions:
    """The rows of each conversation: `order` lists them conversation by conversation (None: as they are).

    `starts` are where each begins in that order, `counts` how many rows each has, at least 1.
    """

    order: Spots | None
    starts: Spots
    counts: Spots

    def best(self, scores: Floats, depth: int) -> Floats:
        """For each row the mean of its conversation's best `depth` scores, equal ones counted once."""
        if not len(scores):
            return scores
        left = scores.copy() if self.order is None else scores[self.order]
        total = best = np.maximum.reduceat(left, self.starts)
        taken = np.ones(len(total), np.float32)
        for _ in range(depth - 1):
            np.putmask(left, left == np.repeat(best, self.counts), -np.inf)
            best = np.maximum.reduceat(left, self.starts)
            some = best > -np.inf
            total = total + np.where(some, best, np.float32(0))
            taken += some
        means: Floats = np.repeat((total / taken).astype(np.float32, copy=False), self.counts)
        if self.order is None:
            return means
        out = np.empty_like(means)
        out[self.order] = means
        return out


def sessions_of(numbers: Ints) -> Sessions:
    """The rows by the number of their conversation."""
    step = np.diff(numbers)
    order = None if (step >= 0).all() else np.argsort(numbers, kind="stable")
    ordered = numbers if order is None else numbers[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    return Sessions(order, starts, np.diff(starts, append=len(numbers)))


@dataclass(frozen=True, eq=False)
class Places:
    """Where in which conversation something was said, in order; records of one message share a place.

    `of` is each row's place, `starts` the first place of each conversation, and a record without a
    conversation has a place of its own.
    """

    of: Spots
    conversation: Ints
    starts: Ints
    joints: dict[int, Floats] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.conversation)

    @cached_property
    def counts(self) -> Floats:
        """How many rows each place has, at least 1."""
        return np.maximum(1, np.bincount(self.of, minlength=len(self))).astype(np.float32)

    @cached_property
    def numbers(self) -> Ints:
        """The number of each place's conversation in the order of `starts`."""
        return np.repeat(np.arange(len(self.starts), dtype=np.int32), np.diff([*self.starts, len(self)]))

    @cached_property
    def of_rows(self) -> Ints:
        """The number of each row's conversation."""
        return self.numbers[self.of]

    @cached_property
    def sessions(self) -> Sessions:
        """The rows of each conversation."""
        return sessions_of(self.of_rows)

    @cached_property
    def opening(self) -> Floats:
        """How near each row is to the start of its conversation: 1 at the first place, then falling."""
        rank = np.arange(len(self)) - self.starts[self.numbers]
        return (1 / (1 + rank / 2)).astype(np.float32)[self.of]

    @cached_property
    def _rows(self) -> Spots | None:
        """The row of each place, where each has one."""
        if len(self.of) != len(self):
            return None
        rows = np.empty(len(self), np.intp)
        rows[self.of] = np.arange(len(self))
        return rows

    @cached_property
    def _ordered(self) -> bool:
        """Whether row i is place i."""
        return len(self.of) == len(self) and bool((self.of == np.arange(len(self))).all())

    def to_rows(self, values: Floats) -> Floats:
        """Each row's value of its place; may be the array given."""
        return values if self._ordered else values[self.of]

    def mean(self, by_row: Floats) -> Floats:
        """The mean of each place's rows; may be the array given."""
        if self._ordered:
            return by_row
        if self._rows is not None:
            return by_row[self._rows]
        return np.bincount(self.of, by_row, minlength=len(self)).astype(np.float32) / self.counts

    def means(self, by_row: Floats) -> Floats:
        """The mean of each place's rows, where each row has several numbers."""
        if self._rows is not None:
            return by_row[self._rows]
        order = np.argsort(self.of, kind="stable")
        starts = np.flatnonzero(np.diff(self.of[order], prepend=-1))
        sums: Floats = np.add.reduceat(by_row[order], starts, axis=0)
        return sums / self.counts[:, None]

    def best(self, by_row: Floats) -> Floats:
        """The greatest value of each place's rows, at least 0; values are not negative; may be the given."""
        if self._ordered:
            return by_row
        if self._rows is not None:
            return by_row[self._rows]
        out = np.zeros(len(self), np.float32)
        np.maximum.at(out, self.of, by_row)
        return out

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


def places_of(conversations: Ints, positions: Ints) -> Places:
    """Rows with a conversation by its number and their position; the others alone, after all of these."""
    n = len(positions)
    alone = conversations < 0
    keys = np.where(alone, np.iinfo(np.int32).max, conversations)
    within = np.where(alone, np.arange(n), positions)
    order = np.lexsort((within, keys))
    new = np.ones(n, np.bool_)
    new[1:] = (np.diff(keys[order]) != 0) | (np.diff(within[order]) != 0)
    of = np.empty(n, np.intp)
    of[order] = np.cumsum(new) - 1
    conversation = conversations[order][new]
    first = np.ones(len(conversation), np.bool_)
    first[1:] = (np.diff(conversation) != 0) | (conversation[1:] < 0)
    return Places(of, conversation, np.flatnonzero(first).astype(np.int32))
