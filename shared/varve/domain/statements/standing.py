"""Which statements of a store still hold: a pure function of the store's columns.

A turn is superseded by the later turn of the same speaker and user that a model linked to
it (`links.py`), else by the one that most likely changes it (`pairs.py`). Facts stand as
the turns of their messages do. What the assistant repeats stands as the statement it
answers. The answer of each row is computed when it is asked for, so that a change of the
store, late arrivals and erasure need nothing else.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from varve.domain.record import turn_id
from varve.domain.search.columns import Columns
from varve.domain.search.lexical import Bools
from varve.domain.search.row import Message
from varve.domain.statements.cues import Cues, read_cues
from varve.domain.statements.links import Relation
from varve.domain.statements.paired import StoreStatements
from varve.domain.statements.pairs import NEAREST, leaves, relate, tells_beside
from varve.domain.statements.sameness import SAME_COSINE, tell_difference

SUPERSEDED = 0.0
"""The least score of a pair whose earlier statement no longer holds."""
SUPERSEDED_IF_ASKED = -0.5
"""The same if a question about the present finds both and the later one relates to it."""
DOUBTFUL = -1.0
"""The same for one that a person should look at: it holds, and may not."""
SUPERSEDED_IF_FIRST = -1.0
"""The same if both are among the first, and the later one tells of a change or an end."""
FIRST_PLACES = 3


@dataclass(frozen=True, slots=True)
class Standing:
    """How a statement stands.

    `current` is False if it is superseded or has ended; `successor` is then the id of
    the record that says what holds now, if memory has one. `is_corrected`: that record
    corrects it by name; any other successor is likely only. `confirmed` is when it was
    last said or confirmed, in microseconds since 1970.
    """

    current: bool
    confirmed: int
    successor: str | None = None
    is_corrected: bool = False


@dataclass(frozen=True, slots=True)
class Successor:
    """The row that supersedes another one, and the pair's score."""

    row: int
    score: float


@dataclass(frozen=True)
class Standings:
    """The standing of the rows of one store.

    `admitted` are the rows that a request may see; what lies outside supersedes nothing.
    None: it may see all rows of the users whom it asks for. `asked` are the rows that a
    question about the present has found, best first, and `question` are that question's
    cues: what it asks about is evidence that both rows tell of it.
    """

    columns: Columns
    admitted: Bools | None = None
    asked: tuple[int, ...] = ()
    question: Cues | None = None
    careful: bool = False

    @cached_property
    def store(self) -> StoreStatements:
        """The store's statements, kept with its columns."""
        return self.columns.derive(StoreStatements)

    @cached_property
    def corrections(self) -> dict[int, int]:
        """The last correction of each corrected statement, by row."""
        return self.store.find_corrections(self.admitted)

    def find_successors(self, rows: Iterable[int]) -> dict[int, Successor]:
        """Return the successor of each of these rows that is superseded."""
        found: dict[int, Successor] = {}
        turns: list[int] = []
        for row in rows:
            named = self._find_named(row)
            if named is not None:
                found[row] = Successor(named, np.inf)
            elif self.store.is_told(row):
                turns.append(row)
        if self.careful:
            return found
        for row, later in self._find_later(turns).items():
            successor = self._choose(row, later)
            if successor is not None:
                found[row] = successor
        return found

    def _find_named(self, row: int) -> int | None:
        """Return the last row that names a row as superseded: its correction, else a link."""
        if row in self.corrections:
            return self.corrections[row]
        linked = self._find_linked(row)
        return linked[-1] if linked else None

    def _find_linked(self, row: int) -> list[int]:
        """Return the rows that supersede a row as a model judged, oldest first."""
        later = self.store.find_linked(row, Relation.SUPERSEDES, self.admitted)
        return [other for other in later if not self._leaves(row, other)]

    def _find_later(self, rows: Sequence[int]) -> dict[int, list[int]]:
        """Return each row's nearest later statements and those that the question found."""
        found = self.store.find_later(rows, self.admitted)
        return {
            row: self._add_asked(row, later.nearest)
            for row, later in found.items()
        }

    def _add_asked(self, row: int, later: Sequence[int]) -> list[int]:
        known = set(later)
        more = [
            one
            for one in self.asked
            if one not in known and self.store.is_later(row, one)
        ]
        return [*later, *more]

    def find_confirmed(self, row: int) -> int:
        """Return when a statement was last said, in microseconds since 1970."""
        times = [self.store.read(row).time]
        for other in self.store.find_later([row], self.admitted)[row].repeats:
            if self._is_said_again(row, other):
                times.append(self.store.read(other).time)
        for other in self._find_confirming(row):
            times.append(self.store.read(other).time)
        return max(times)

    def _find_confirming(self, row: int) -> list[int]:
        """Return the rows that confirm a row as a model judged."""
        return self.store.find_linked(row, Relation.CONFIRMS, self.admitted)

    def _is_said_again(self, row: int, other: int) -> bool:
        """Return whether a later row says the same statement."""
        earlier = self.store.read(row)
        later = self.store.read(other)
        if float(earlier.vector @ later.vector) < SAME_COSINE:
            return False
        return (
            tell_difference(earlier.text, later.text, same_day=False) is None
        )

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

    def _choose(self, row: int, later: Sequence[int]) -> Successor | None:
        """Return the likeliest successor; None: none is likely enough."""
        best: Successor | None = None
        confirming = self._find_confirming(row)
        for other in later:
            if other in confirming or self._is_said_again(row, other):
                continue
            score = self._score(row, other)
            if score > (best.score if best else -np.inf):
                best = Successor(other, score)
        return best

    def find_doubt(self, row: int) -> int | None:
        """Return the later statement that most likely contradicts a row; None: none may.

        The row holds all the same: no score reaches `SUPERSEDED`.
        """
        best: tuple[float, int] | None = None
        confirming = self._find_confirming(row)
        for other in self.store.find_later([row], self.admitted)[row].nearest:
            if other in confirming or self._is_said_again(row, other):
                continue
            score = self.store.score(row, other)
            if score + NEAREST >= DOUBTFUL:
                score += NEAREST * self.store.is_nearest(row, other)
            if score >= DOUBTFUL and (best is None or score > best[0]):
                best = (score, other)
        return best[1] if best else None

    def _get_threshold(self, row: int, other: int) -> float:
        if row not in self.asked or other not in self.asked:
            return SUPERSEDED
        first = self.asked[:FIRST_PLACES]
        if (
            row in first
            and other in first
            and self.store.read(other).cues.is_strong
        ):
            return SUPERSEDED_IF_FIRST
        if self._is_asked_for(other):
            return SUPERSEDED_IF_ASKED
        return SUPERSEDED

    def _is_asked_for(self, row: int) -> bool:
        """Return whether a row shares a topic or a word with the question."""
        asked = self.question
        return asked is not None and relate(asked, self.store.read(row).cues)

    def _score(self, row: int, other: int) -> float:
        """Return the pair's score if it reaches the pair's threshold, else -inf."""
        score = self.store.score(row, other)
        threshold = self._get_threshold(row, other)
        if score + NEAREST < threshold:
            return -np.inf
        # To find the nearest statement reads all vectors: only where it decides.
        if score < threshold:
            score += NEAREST * self.store.is_nearest(row, other)
        if score < threshold or self._leaves(row, other):
            return -np.inf
        return score

    def _leaves(self, row: int, other: int) -> bool:
        """Return whether a later row leaves as it is what the question asks for."""
        if self.question is None:
            return False
        later = self.store.read(other).cues
        return leaves(self.question, self.store.read(row).text, later)

    def is_beside(self, row: int) -> bool:
        """Return whether a turn is no answer to a question about the speaker's present.

        It tells of a wish, of what never came, of another's words, or of persons whom
        the question does not name. A question in the third person may ask for them.
        """
        if self.question is None or not self.question.has("own"):
            return False
        if not self.store.is_told(row):
            return False
        return tells_beside(self.question, self.store.read(row).cues)

    def is_unrelated(self, row: int) -> bool:
        """Return whether a row shares nothing with a question about its speaker."""
        if self.question is None or not self.question.has("own"):
            return False
        return not relate(self.question, self.store.read(row).cues)

    def concerns(self, row: int, statement: int, successor: int) -> bool:
        """Return whether a successor of a row's statement supersedes the row itself.

        It does not supersede a fact about another part of the statement.
        """
        is_corrected = self.corrections.get(statement) == successor
        if is_corrected or not self.store.is_fact(row):
            return True
        return self._concerns_part(
            self.columns.contents[row], statement, successor
        )

    def find_corrected(
        self, parts: Mapping[str, tuple[Message, str]]
    ) -> frozenset[str]:
        """Return the keys of the parts that a correction or a link supersedes.

        Each part is a message and the words that were drawn from it, as a fact, a triple
        or an attribute of a profile.
        """
        if not (self.corrections or self.store.has_links):
            return frozenset()
        row_by_id = {id_: row for row, id_ in enumerate(self.columns.ids)}
        found: set[str] = set()
        for key, ((conversation, message), words) in parts.items():
            row = row_by_id.get(turn_id(conversation or "", message), -1)
            successor = self._find_named(row)
            if successor is not None and self._concerns_part(
                words, row, successor
            ):
                found.add(key)
        return frozenset(found)

    def _concerns_part(
        self, words: str, statement: int, successor: int
    ) -> bool:
        part = read_cues(words)
        return not leaves(
            part,
            self.store.read(statement).text,
            self.store.read(successor).cues,
        )
