"""Places of rows in their conversations, and sums and maxima over neighbours."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from varve.domain.search.lexical import Bools, Floats, Ints, Spots

BURST = 6
"""The most consecutive messages by one speaker that share a place.

People write one thought in several messages.
"""


@dataclass(frozen=True, eq=False)
class Places:
    """The places of rows in their conversations, in order.

    The records of one message share a place, and so do consecutive messages by one
    speaker. A record without a conversation has its own place. `of` is each row's place
    and never falls from row to row, `rows` the first row of each place, and `starts` the
    first place of each conversation. `links` caches which places share a conversation.
    """

    of: Spots
    rows: Spots
    starts: Spots
    links: dict[int, Floats] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def numbers(self) -> Ints:
        """The number of each place's conversation, in the order of `starts`."""
        sizes = np.diff(self.starts, append=len(self))
        numbers = np.arange(len(sizes), dtype=np.int32)
        return np.repeat(numbers, sizes)

    @cached_property
    def opening(self) -> Floats:
        """How near each row is to the start of its conversation; 1 at the first place."""
        first_places = self.starts[self.numbers]
        rank = np.arange(len(self)) - first_places
        by_place = 1 / (1 + rank / 2)
        return by_place.astype(np.float32)[self.of]

    @cached_property
    def _row_counts(self) -> Spots:
        """The number of rows of each place."""
        return np.diff(self.rows, append=len(self.of))

    @cached_property
    def _conversation_row_counts(self) -> Spots:
        """The number of rows of each conversation."""
        first_rows = self.rows[self.starts]
        return np.diff(first_rows, append=len(self.of))

    @property
    def _has_one_row_each(self) -> bool:
        return len(self.of) == len(self)

    def to_rows(self, values: Floats) -> Floats:
        """Return for each row the value of its place; may return the given array."""
        if self._has_one_row_each:
            return values
        return np.repeat(values, self._row_counts)

    def best(self, by_row: Floats) -> Floats:
        """Return the greatest value among each place's rows; may return the given array."""
        if self._has_one_row_each:
            return by_row
        greatest: Floats = np.maximum.reduceat(by_row, self.rows)
        return greatest

    def best_passages(self, by_row: Floats) -> Floats:
        """Return for each row the best passage of its conversation.

        The value of a passage is the sum of a place and the two beside it.
        """
        if not len(self):
            return by_row
        passages = self.around(self.best(by_row), 1)
        greatest: Floats = np.maximum.reduceat(passages, self.starts)
        return np.repeat(greatest, self._conversation_row_counts)

    def shifted(self, values: Floats, by: int) -> Floats:
        """Return for each place the value `by` places later in its conversation, or 0."""
        out = np.zeros_like(values)
        distance = abs(by)
        if distance >= len(self):
            return out
        link = self._link(distance)
        if by > 0:
            out[:-distance] = values[distance:] * link
        else:
            out[distance:] = values[:-distance] * link
        return out

    def around(self, values: Floats, reach: int) -> Floats:
        """Return the sum over each place and up to `reach` places on either side.

        Places run along the last axis.
        """
        out = values.copy()
        for by in range(1, min(reach + 1, len(self))):
            link = self._link(by)
            earlier = out[..., :-by]
            earlier += values[..., by:] * link
            later = out[..., by:]
            later += values[..., :-by] * link
        return out

    def best_around(self, values: Floats, reach: int) -> Floats:
        """Return the maximum over each place and up to `reach` places on either side.

        Places run along the last axis. Values are not negative.
        """
        out = values.copy()
        for by in range(1, min(reach + 1, len(self))):
            link = self._link(by)
            earlier = out[..., :-by]
            following = values[..., by:] * link
            np.maximum(earlier, following, out=earlier)
            later = out[..., by:]
            preceding = values[..., :-by] * link
            np.maximum(later, preceding, out=later)
        return out

    def _link(self, by: int) -> Floats:
        """Return 1 for each place that shares its conversation with the place `by` later."""
        if by not in self.links:
            numbers = self.numbers
            is_same = numbers[by:] == numbers[:-by]
            self.links[by] = is_same.astype(np.float32)
        return self.links[by]


def build_places(
    conversations: Ints, positions: Ints, speakers: Ints
) -> Places:
    """Build the places of rows that are sorted by conversation and position.

    `conversations` has the number of each row's conversation, or -1 for a row that has
    none. `speakers` has the number of the speaker whose words the row holds, or -1 if it
    holds no words as said. Up to `BURST` consecutive messages by one speaker share a
    place.
    """
    is_alone = conversations < 0
    starts_message = np.ones(len(positions), np.bool_)
    differs = _find_changes(conversations) | _find_changes(positions)
    starts_message[1:] = differs | is_alone[1:]
    message_rows = np.flatnonzero(starts_message)
    message_of_row = np.cumsum(starts_message) - 1
    starts_place = _find_place_starts(
        conversations[message_rows],
        positions[message_rows],
        _find_message_speakers(speakers, message_rows, is_alone),
    )
    place_of_message = np.cumsum(starts_place) - 1
    rows = message_rows[starts_place]
    opens = _find_conversation_starts(conversations[rows])
    return Places(
        place_of_message[message_of_row], rows, np.flatnonzero(opens)
    )


def _find_message_speakers(
    speakers: Ints, message_rows: Spots, is_alone: Bools
) -> Ints:
    """Return the speaker of each message, or -1."""
    if not len(message_rows):
        return speakers
    found = np.maximum.reduceat(speakers, message_rows)
    return np.where(is_alone[message_rows], -1, found)


def _find_conversation_starts(conversations: Ints) -> Bools:
    """Mark the places that start a conversation, given the conversation of each."""
    opens = np.ones(len(conversations), np.bool_)
    is_alone = conversations[1:] < 0
    opens[1:] = _find_changes(conversations) | is_alone
    return opens


def _find_place_starts(
    conversations: Ints, positions: Ints, speakers: Ints
) -> Bools:
    """Mark the messages that start a place, given all messages in order."""
    starts_run = np.ones(len(positions), np.bool_)
    has_no_speaker = speakers[1:] < 0
    is_apart = np.diff(positions) != 1
    starts_run[1:] = has_no_speaker | is_apart
    starts_run[1:] |= _find_changes(conversations)
    starts_run[1:] |= _find_changes(speakers)
    run_starts = np.flatnonzero(starts_run)
    run_lengths = np.diff(run_starts, append=len(positions))
    run_start_of = np.repeat(run_starts, run_lengths)
    offsets = np.arange(len(positions)) - run_start_of
    starts_place: Bools = offsets % BURST == 0
    return starts_place


def _find_changes(values: Ints) -> Bools:
    """Mark each value but the first that differs from the one before it."""
    changes: Bools = np.diff(values) != 0
    return changes
