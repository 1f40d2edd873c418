"""Which statements of a store still hold: a pure function of the store's columns.

A turn is superseded by the later turn of the same speaker and user that most likely
changes it (`pairs.py`). Facts stand as the turns of their messages do. What the assistant
repeats stands as the statement it answers. The answer of each row is computed when it is
asked for and kept with the columns, so that a change of the store, late arrivals and
erasure need nothing else.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from varve.domain.record import MemoryType, turn_id
from varve.domain.search.columns import Columns
from varve.domain.search.lexical import Bools
from varve.domain.search.outline import TYPES
from varve.domain.search.row import Message
from varve.domain.statements.cues import Cues, read_cues
from varve.domain.statements.pairs import (
    NEAREST,
    Statement,
    adds_nothing,
    is_barred,
    leaves,
    relate,
    score_pair,
)
from varve.domain.statements.sameness import SAME_COSINE, tell_difference
from varve.domain.statements.telling import CORRECTION, read_corrected

SUPERSEDED = 0.5
"""The least score of a pair whose earlier statement no longer holds."""
SUPERSEDED_WITH_CARE = np.inf  # only what was corrected, for other questions
SUPERSEDED_IF_ASKED = -1.0
"""The same if a question about the present finds both and the later one relates to it."""
SUPERSEDED_IF_FIRST = -2.0
"""The same if both are among the first, and the later one tells of a change or an end."""
FIRST_PLACES = 3
MAX_LATER = 8  # later statements, the nearest by meaning, compared with each
ECHO_REACH = 2  # messages after a statement in which its answer follows
ASSISTANTS = frozenset({"assistant"})
"""The folded names of speakers who state nothing about themselves."""

MAX_RECORDS = 12  # rows beside a fact among which its turn is sought

_TURN = TYPES.index(MemoryType.TURN)
_FACT = TYPES.index(MemoryType.FACT)


def is_person(speaker: str) -> bool:
    """Return whether a speaker is another than the assistant."""
    return speaker.casefold() not in ASSISTANTS


@dataclass(frozen=True, slots=True)
class Standing:
    """How a statement stands.

    `current` is False if it is superseded or has ended; `successor` is then the id of
    the record that says what holds now, if memory has one. `confirmed` is when it was
    last said or confirmed, in microseconds since 1970.
    """

    current: bool
    confirmed: int
    successor: str | None = None


@dataclass(frozen=True, slots=True)
class Successor:
    """The row that supersedes another one, and the pair's score."""

    row: int
    score: float


@dataclass(frozen=True)
class Standings:
    """The standing of the rows of one store.

    `admitted` are the rows that a request may see; what lies outside supersedes nothing.
    `asked` are the rows that a question about the present has found, best first, and
    `question` are that question's cues: what it asks about is evidence that both rows
    tell of it.
    """

    columns: Columns
    admitted: Bools
    asked: tuple[int, ...] = ()
    question: Cues | None = None
    careful: bool = False
    statements: dict[int, Statement] = field(default_factory=dict, repr=False)
    nearest: dict[int, int] = field(default_factory=dict, repr=False)
    repeats: dict[int, list[int]] = field(default_factory=dict, repr=False)

    def find_successors(self, rows: Iterable[int]) -> dict[int, Successor]:
        """Return the successor of each of these rows that is superseded."""
        turns = [row for row in rows if self.is_told(row)]
        found: dict[int, Successor] = {}
        for row in turns:
            if row in self.corrections:
                found[row] = Successor(self.corrections[row], np.inf)
        turns = [row for row in turns if row not in found]
        for row, later in zip(turns, self._find_later(turns), strict=True):
            successor = self._choose(row, later)
            if successor is not None:
                found[row] = successor
        return found

    @cached_property
    def corrections(self) -> dict[int, int]:
        """The last correction of each corrected statement, by row."""
        names = self.columns.conversations.names
        codes = [at for at, name in enumerate(names) if name.startswith(CORRECTION)]
        if not codes:
            return {}
        is_telling = np.isin(self.columns.conversations.of, codes) & self.admitted
        rows = np.flatnonzero(is_telling & (self.columns.types == _TURN))
        order = np.argsort(self.columns.event_times[rows], kind="stable")
        row_by_id = {id_: row for row, id_ in enumerate(self.columns.ids)}
        found: dict[int, int] = {}
        for row in rows[order].tolist():
            corrected = self._find_corrected(row, row_by_id)
            if corrected is not None:
                found[corrected] = row
        return found

    def _find_corrected(self, row: int, row_by_id: Mapping[str, int]) -> int | None:
        for message in self.columns.sources[row]:
            named = row_by_id.get(read_corrected(message) or "")
            if named is not None:
                return self.find_statement(named)
        return None

    def find_confirmed(self, row: int) -> int:
        """Return when a statement was last said, in microseconds since 1970.

        `find_successors` has been asked about the row.
        """
        times = [self.read(row).time]
        for other in self.repeats.get(row, ()):
            if self._is_said_again(row, other):
                times.append(self.read(other).time)
        return max(times)

    def _is_said_again(self, row: int, other: int) -> bool:
        """Return whether a later row says the same statement."""
        if other not in self.repeats.get(row, ()):
            return False
        said = self.read(row).text
        again = self.read(other).text
        return tell_difference(said, again, same_day=False) is None

    def find_last(self, row: int, successors: dict[int, Successor]) -> int:
        """Return the row at the end of a row's chain of successors.

        `successors` gets those of the rows on the way.
        """
        seen = {row}
        while True:
            if row not in successors:
                successors |= self.find_successors([row])
            successor = successors.get(row)
            if successor is None or successor.row in seen:
                return row
            row = successor.row
            seen.add(row)

    def find_statement(self, row: int) -> int | None:
        """Return the turn by whose standing a row stands; None: it has no standing.

        That is the row itself, the turn of a fact's message, or the statement that the
        assistant's answer repeats.
        """
        if self.columns.types.item(row) == _FACT:
            return self._find_turn(row)
        if self.is_told(row):
            return row
        answered = self.find_answered(row)
        if answered is not None and self.echoes(row, answered):
            return answered
        return None

    def _find_turn(self, fact: int) -> int | None:
        """Return the turn of a fact's last message; the rows of a message are adjacent."""
        for other in self._list_neighbours(fact):
            if self.is_told(other) and self._is_same_message(fact, other):
                return other
        return None

    def _list_neighbours(self, row: int) -> list[int]:
        last = min(len(self.columns), row + MAX_RECORDS + 1)
        near = range(max(0, row - MAX_RECORDS), last)
        return sorted(near, key=lambda other: abs(other - row))

    def _is_same_message(self, row: int, other: int) -> bool:
        columns = self.columns
        if columns.conversations.name(row) is None:
            return False
        is_same_talk = columns.conversations.of[row] == columns.conversations.of[other]
        return bool(is_same_talk and columns.positions[row] == columns.positions[other])

    def is_told(self, row: int) -> bool:
        """Return whether a row is a turn of a speaker other than the assistant."""
        is_turn = self.columns.types.item(row) == _TURN
        return is_turn and not self.is_assistant(row)

    def is_assistant(self, row: int) -> bool:
        """Return whether the assistant said the row."""
        return not is_person(self.columns.speakers.name(row) or "")

    def _find_later(self, rows: Sequence[int]) -> list[list[int]]:
        """Return for each row the later statements of its speaker, the nearest first."""
        if not rows:
            return []
        columns = self.columns
        likeness = columns.vectors @ columns.vectors[list(rows)].T
        found = []
        for number, row in enumerate(rows):
            is_later = self._is_same_person(row) & self._is_after(row)
            candidates = np.flatnonzero(is_later)
            cosines = likeness[candidates, number]
            self.repeats[row] = candidates[cosines >= SAME_COSINE].tolist()
            nearest = candidates[np.argsort(-cosines, kind="stable")[:MAX_LATER]]
            asked = [one for one in self.asked if one in set(candidates.tolist())]
            found.append(list(dict.fromkeys([*nearest.tolist(), *asked])))
        return found

    def _is_same_person(self, row: int) -> Bools:
        columns = self.columns
        masks = (
            columns.types == _TURN,
            columns.speakers.of == columns.speakers.of[row],
            columns.users.of == columns.users.of[row],
            self.admitted,
        )
        is_same: Bools = np.logical_and.reduce(masks)
        return is_same

    def _is_after(self, row: int) -> Bools:
        columns = self.columns
        times = columns.event_times
        is_after: Bools = times > times[row]
        is_tied = times == times[row]
        is_same_talk = columns.conversations.of == columns.conversations.of[row]
        is_behind = columns.positions > columns.positions[row]
        is_later: Bools = is_after | (is_tied & is_same_talk & is_behind)
        return is_later

    def _choose(self, row: int, later: Sequence[int]) -> Successor | None:
        """Return the likeliest successor; None: none is likely enough."""
        best: Successor | None = None
        for other in later:
            if self._is_said_again(row, other):
                continue
            score = self._score(row, other)
            if score < self._get_threshold(row, other):
                continue
            if self._is_silent_passage(other):
                continue
            if best is None or score > best.score:
                best = Successor(other, score)
        return best

    def _is_silent_passage(self, row: int) -> bool:
        """Return whether a row is one passage of a long message, without a word of change.

        The scores of pairs are fitted on statements. Two passages of a list differ by
        their numbers alone, as a statement differs from its update.
        """
        if self.read(row).cues.tells_change:
            return False
        near = self._list_neighbours(row)
        return any(
            other != row and self.is_told(other) and self._is_same_message(row, other)
            for other in near
        )

    def _get_threshold(self, row: int, other: int) -> float:
        if self.careful:
            return SUPERSEDED_WITH_CARE
        if row not in self.asked or other not in self.asked:
            return SUPERSEDED
        first = self.asked[:FIRST_PLACES]
        if row in first and other in first and self.read(other).cues.is_strong:
            return SUPERSEDED_IF_FIRST
        if self._is_asked_for(other):
            return SUPERSEDED_IF_ASKED
        return SUPERSEDED

    def _is_asked_for(self, row: int) -> bool:
        """Return whether a row shares a topic or a word with the question."""
        asked = self.question
        return asked is not None and relate(asked, self.read(row).cues)

    def _score(self, row: int, other: int) -> float:
        earlier = self.read(row)
        later = self.read(other)
        if is_barred(earlier.cues, later.cues):
            return -np.inf
        if self.question and leaves(self.question, earlier, later.cues):
            return -np.inf
        score = score_pair(earlier, later)
        threshold = self._get_threshold(row, other)
        # To find the nearest statement reads all vectors: only where it decides.
        if score < threshold <= score + NEAREST and self._find_nearest(other) == row:
            score += NEAREST
        return score

    def concerns(self, row: int, statement: int, successor: int) -> bool:
        """Return whether a successor of a row's statement supersedes the row itself.

        It does not supersede a fact about another part of the statement.
        """
        is_corrected = self.corrections.get(statement) == successor
        if is_corrected or self.columns.types.item(row) != _FACT:
            return True
        return self._concerns_part(self.columns.contents[row], statement, successor)

    def find_superseded(
        self, parts: Mapping[str, tuple[Message, str]]
    ) -> frozenset[str]:
        """Return the keys of the parts that a later statement supersedes.

        Each part is a message and the words that were drawn from it, as a fact, a triple
        or an attribute of a profile.
        """
        row_by_id = {id_: row for row, id_ in enumerate(self.columns.ids)}
        row_by_key: dict[str, int] = {}
        for key, ((conversation, message), _) in parts.items():
            row = row_by_id.get(turn_id(conversation or "", message))
            if row is not None:
                row_by_key[key] = row
        successors = self.find_successors(dict.fromkeys(row_by_key.values()))
        found: set[str] = set()
        for key, row in row_by_key.items():
            successor = successors.get(row)
            if successor and self._concerns_part(parts[key][1], row, successor.row):
                found.add(key)
        return frozenset(found)

    def _concerns_part(self, words: str, statement: int, successor: int) -> bool:
        part = read_cues(words)
        return not leaves(part, self.read(statement), self.read(successor).cues)

    def _find_nearest(self, row: int) -> int:
        """Return the earlier statement of the speaker that is nearest to a row, or -1."""
        if row not in self.nearest:
            is_earlier = self._is_same_person(row) & ~self._is_after(row)
            is_earlier[row] = False
            cosines = np.where(
                is_earlier, self.columns.vectors @ self.columns.vectors[row], -2
            )
            self.nearest[row] = int(cosines.argmax()) if is_earlier.any() else -1
        return self.nearest[row]

    def read(self, row: int) -> Statement:
        """Return a turn as a statement."""
        statement = self.statements.get(row)
        if statement is None:
            columns = self.columns
            speaker = columns.speakers.name(row)
            statement = Statement(
                text=columns.contents[row].removeprefix(f"{speaker}: "),
                vector=columns.vectors[row],
                time=columns.event_times.item(row),
                conversation=columns.conversations.name(row),
                position=columns.positions.item(row),
            )
            self.statements[row] = statement
        return statement

    def find_answered(self, row: int) -> int | None:
        """Return the statement that a row of the assistant repeats or acknowledges.

        None: it is no answer, asks, or says more than the statement did.
        """
        if not self.is_assistant(row):
            return None
        for other in range(row - 1, max(-1, row - 1 - 4 * ECHO_REACH), -1):
            if self.is_told(other) and self._answers(row, other):
                return other
        return None

    def _answers(self, row: int, other: int) -> bool:
        columns = self.columns
        if columns.conversations.of[row] != columns.conversations.of[other]:
            return False
        distance = columns.positions.item(row) - columns.positions.item(other)
        return 0 < distance <= ECHO_REACH

    def echoes(self, row: int, statement: int) -> bool:
        """Return whether an answer adds nothing to the statement that it answers."""
        return adds_nothing(self.read(row).cues, self.read(statement).cues)
