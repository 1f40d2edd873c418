"""The statements of one store, with what no question changes kept with its columns."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from varve.domain.record import turn_id
from varve.domain.search.columns import Columns
from varve.domain.search.lexical import Bools, Floats
from varve.domain.search.outline import Codes
from varve.domain.search.query import Filter
from varve.domain.search.row import MessageKey
from varve.domain.statements.pairs.confirming import Again, compare_tellings
from varve.domain.statements.pairs.links import Relation, parse_links
from varve.domain.statements.pairs.other_matters import tells_other_matter
from varve.domain.statements.pairs.other_things import changes_other_thing
from varve.domain.statements.pairs.sameness import SAME_COSINE
from varve.domain.statements.pairs.superseding import adds_nothing, score_pair
from varve.domain.statements.texts.persons import Persons, is_person
from varve.domain.statements.texts.statement import Statement

MAX_LATER = 8
"""Later statements, the nearest by meaning, that are compared with each."""
MAX_KEPT_PAIRS = 100_000
ECHO_REACH = 2
"""Messages after a statement in which its answer follows."""
MAX_RECORDS = 12
"""Rows beside a fact among which its turn is sought."""


def find_admitted(columns: Columns, visible: Filter) -> Bools | None:
    """Return the rows that may supersede others; None: all, as no time limits them.

    Statements of other users supersede none of those that `visible` passes.
    """
    return None if visible.until is None else columns.admitted(visible)


@dataclass(frozen=True, slots=True)
class Later:
    """The later statements of a row's speaker: the nearest first, and those alike.

    `repeats` are all whose vectors are so near that they may say the same.
    """

    nearest: list[int]
    repeats: list[int]


class StoreStatements:
    """The statements of a store's columns: turns, what repeats them, and their pairs."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._tellers = columns.derive(Persons).of
        self._statements: dict[int, Statement] = {}
        self._scores: dict[tuple[int, int], float] = {}
        self._superseding: dict[int, bool] = {}
        self._again: dict[tuple[int, int], Again] = {}
        self._later: dict[int, Later] = {}
        self._nearest: dict[int, int] = {}
        self._crowds: dict[int, int] = {}

    def read(self, row: int) -> Statement:
        """Return a turn as a statement."""
        statement = self._statements.get(row)
        if statement is None:
            statement = self._build(row)
            self._statements[row] = statement
        return statement

    def _build(self, row: int) -> Statement:
        columns = self._columns
        speaker = columns.speakers.name(row)
        return Statement(
            text=columns.contents[row].removeprefix(f"{speaker}: "),
            vector=columns.vectors[row],
            time=columns.event_times.item(row),
            conversation=columns.conversations.name(row),
            position=columns.positions.item(row),
            speaker=speaker or "",
            messages=tuple(self.list_messages(row)),
        )

    def score(self, row: int, other: int) -> float:
        """Return how likely `other` supersedes `row` (`pairs.score_pair`)."""
        pair = (row, other)
        score = self._scores.get(pair)
        if score is None:
            if len(self._scores) >= MAX_KEPT_PAIRS:
                self._scores.clear()
            score = self._score(row, other)
            self._scores[pair] = score
        return score

    def _score(self, row: int, other: int) -> float:
        if not self.may_supersede(other):
            return -np.inf
        earlier = self.read(row)
        later = self.read(other)
        if tells_other_matter(earlier.cues, later.text):
            return -np.inf
        if changes_other_thing(earlier.text, later.text):
            return -np.inf
        return score_pair(earlier, later, self.count_later(row))

    def compare_tellings(self, row: int, other: int) -> Again:
        """Return whether `other` says again what `row` does (`confirming`)."""
        pair = (row, other)
        again = self._again.get(pair)
        if again is None:
            if len(self._again) >= MAX_KEPT_PAIRS:
                self._again.clear()
            again = compare_tellings(self.read(row), self.read(other))
            self._again[pair] = again
        return again

    def may_supersede(self, row: int) -> bool:
        """Return whether a turn is no mere passage of a long message."""
        if row not in self._superseding:
            is_change = self.read(row).cues.tells_change
            self._superseding[row] = is_change or not self._is_passage(row)
        return self._superseding[row]

    def _is_passage(self, row: int) -> bool:
        """Return whether a turn is one passage of a long message.

        The scores of pairs are fitted on statements. Two passages of a list differ by
        their numbers alone, as a statement differs from its update.
        """
        near = self._list_neighbours(row)
        return any(
            other != row
            and self.is_told(other)
            and self._is_same_message(row, other)
            for other in near
        )

    def count_later(self, row: int) -> int:
        """Return how many later statements the speaker of a row made."""
        if row not in self._crowds:
            self._crowds[row] = int(np.count_nonzero(self._is_later(row)))
        return self._crowds[row]

    def find_later(
        self, rows: Sequence[int], admitted: Bools | None
    ) -> dict[int, Later]:
        """Return the later statements of each row's speaker.

        None as `admitted`: all rows of the store may be seen.
        """
        if admitted is not None:
            return self._compute_later(rows, admitted)
        missing = [row for row in rows if row not in self._later]
        if missing:
            everything = np.ones(len(self._columns), np.bool_)
            self._later |= self._compute_later(missing, everything)
        return {row: self._later[row] for row in rows}

    def _compute_later(
        self, rows: Sequence[int], admitted: Bools
    ) -> dict[int, Later]:
        if not rows:
            return {}
        vectors = self._columns.vectors
        likeness = vectors @ vectors[list(rows)].T
        found: dict[int, Later] = {}
        for number, row in enumerate(rows):
            candidates = np.flatnonzero(self._is_later(row) & admitted)
            cosines = likeness[candidates, number]
            nearest = np.argsort(-cosines, kind="stable")[:MAX_LATER]
            found[row] = Later(
                nearest=candidates[nearest].tolist(),
                repeats=candidates[cosines >= SAME_COSINE].tolist(),
            )
        return found

    def _is_later(self, row: int) -> Bools:
        return self._is_same_person(row) & self._is_after(row)

    def is_later(self, row: int, other: int) -> bool:
        """Return whether `other`, a turn, is later and of the same speaker and user."""
        columns = self._columns
        if self._tellers.item(row) != self._tellers.item(other):
            return False
        if not _have_same(columns.users, row, other):
            return False
        wait = columns.event_times.item(other) - columns.event_times.item(row)
        if wait or not _have_same(columns.conversations, row, other):
            return wait > 0
        return columns.positions.item(other) > columns.positions.item(row)

    def _is_same_person(self, row: int) -> Bools:
        columns = self._columns
        masks = (
            columns.is_turn,
            self._tellers == self._tellers[row],
            columns.users.of == columns.users.of[row],
        )
        is_same: Bools = np.logical_and.reduce(masks)
        return is_same

    def _is_after(self, row: int) -> Bools:
        columns = self._columns
        times = columns.event_times
        is_after: Bools = times > times[row]
        is_tied = times == times[row]
        is_same_talk = (
            columns.conversations.of == columns.conversations.of[row]
        )
        is_behind = columns.positions > columns.positions[row]
        is_later: Bools = is_after | (is_tied & is_same_talk & is_behind)
        return is_later

    def is_nearest(self, row: int, other: int) -> bool:
        """Return whether no earlier statement of its speaker is nearer to `other`."""
        if other not in self._nearest:
            self._nearest[other] = self._find_nearest(other)
        return self._nearest[other] == row

    def _find_nearest(self, row: int) -> int:
        """Return the nearest earlier statement of the speaker, or -1."""
        is_earlier = self._is_same_person(row) & ~self._is_after(row)
        is_earlier[row] = False
        candidates = np.flatnonzero(is_earlier)
        if not len(candidates):
            return -1
        vectors = self._columns.vectors
        cosines: Floats = vectors[candidates] @ vectors[row]
        return int(candidates[cosines.argmax()])

    @property
    def has_links(self) -> bool:
        """Whether a model linked any turn to an earlier one."""
        return bool(self._linked)

    def find_linked(
        self, row: int, relation: Relation, admitted: Bools | None
    ) -> list[int]:
        """Return the admitted later turns that a model linked to a turn, oldest first."""
        later = self._linked.get((row, relation), ())
        return [
            other for other in later if admitted is None or admitted[other]
        ]

    @cached_property
    def _linked(self) -> dict[tuple[int, Relation], list[int]]:
        """The later turns that are linked to each earlier one, by row and relation."""
        columns = self._columns
        rows = np.flatnonzero(columns.links.of >= 0)
        if not len(rows):
            return {}
        order = np.argsort(columns.event_times[rows], kind="stable")
        row_by_id = self._columns.row_by_id
        found: dict[tuple[int, Relation], list[int]] = {}
        for row in rows[order].tolist():
            for relation, id_ in parse_links(columns.links.name(row) or ""):
                earlier = row_by_id.get(id_)
                if earlier is not None and self.is_later(earlier, row):
                    found.setdefault((earlier, relation), []).append(row)
        return found

    def find_statement(self, row: int) -> int | None:
        """Return the turn by whose standing a row stands; None: it has no standing.

        That is the row itself, the turn of a fact's message, or the statement that the
        assistant's answer repeats.
        """
        if self.is_fact(row):
            return self._find_turn(row)
        if self.is_told(row):
            return row
        answered = self.find_answered(row)
        if answered is not None and self._echoes(row, answered):
            return answered
        return None

    def _find_turn(self, fact: int) -> int | None:
        """Return the turn of a fact's last message; the rows of a message are adjacent."""
        for other in self._list_neighbours(fact):
            if self.is_told(other) and self._is_same_message(fact, other):
                return other
        return None

    def _list_neighbours(self, row: int) -> Iterable[int]:
        last = min(len(self._columns), row + MAX_RECORDS + 1)
        near = range(max(0, row - MAX_RECORDS), last)
        return sorted(near, key=lambda other: abs(other - row))

    def _is_same_message(self, row: int, other: int) -> bool:
        columns = self._columns
        if columns.conversations.name(row) is None:
            return False
        is_same_place = columns.positions[row] == columns.positions[other]
        return bool(
            is_same_place and _have_same(columns.conversations, row, other)
        )

    def find_turns(
        self, parts: Mapping[str, tuple[MessageKey, str]]
    ) -> dict[str, int]:
        """Return the row of each part's message, for those that the store has."""
        found: dict[str, int] = {}
        for key, ((conversation, message), _) in parts.items():
            row = self._columns.row_by_id.get(
                turn_id(conversation or "", message)
            )
            if row is not None:
                found[key] = row
        return found

    def is_told(self, row: int) -> bool:
        """Return whether a row is a turn of a speaker other than the assistant."""
        is_turn = self._columns.is_turn.item(row)
        return is_turn and not self.is_assistant(row)

    def is_fact(self, row: int) -> bool:
        """Return whether a row is a fact."""
        return self._columns.is_fact.item(row)

    def is_assistant(self, row: int) -> bool:
        """Return whether the assistant said the row."""
        return not is_person(self._columns.speakers.name(row) or "")

    def find_answered(self, row: int) -> int | None:
        """Return the statement that a row of the assistant answers; None: it is no answer."""
        if not self.is_assistant(row):
            return None
        for other in range(row - 1, max(-1, row - 1 - 4 * ECHO_REACH), -1):
            if self.is_told(other) and self._answers(row, other):
                return other
        return None

    def find_replies(self, row: int) -> list[int]:
        """Return the rows of the assistant that answer a statement, in their order."""
        last = min(len(self._columns), row + 1 + 4 * ECHO_REACH)
        after = range(row + 1, last)
        return [one for one in after if self.find_answered(one) == row]

    def _answers(self, row: int, other: int) -> bool:
        columns = self._columns
        if not _have_same(columns.conversations, row, other):
            return False
        distance = columns.positions.item(row) - columns.positions.item(other)
        return 0 < distance <= ECHO_REACH

    def _echoes(self, row: int, statement: int) -> bool:
        """Return whether an answer adds nothing to the statement that it answers."""
        return adds_nothing(self.read(row).cues, self.read(statement).cues)

    def list_messages(self, row: int) -> list[MessageKey]:
        """Return the messages that a row is made of."""
        conversation = self._columns.conversations.name(row)
        return [(conversation, id_) for id_ in self._columns.sources[row]]


def _have_same(codes: Codes, row: int, other: int) -> bool:
    """Return whether two rows have the same value, or both none."""
    return bool(codes.of.item(row) == codes.of.item(other))
