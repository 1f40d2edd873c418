"""Which statements of a store still hold: a pure function of the store's columns.

A turn is superseded by the later turn of the same speaker and user that a model linked to
it (`links.py`), else by the one that most likely changes it (`superseding.py`). Facts stand as
the turns of their messages do. What the assistant repeats stands as the statement it
answers. The answer of each row is computed when it is asked for, so that a change of the
store, late arrivals and erasure need nothing else.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from varve.domain.record import turn_id
from varve.domain.search.columns import Columns
from varve.domain.search.lexical import Bools
from varve.domain.search.row import MessageKey
from varve.domain.statements.pairs.confirming import (
    Again,
    only_reminds,
    says_again,
)
from varve.domain.statements.pairs.leaving import leaves_asked
from varve.domain.statements.pairs.links import Relation
from varve.domain.statements.pairs.superseding import NEAREST, leaves
from varve.domain.statements.questions.asked_statements import AskedStatements
from varve.domain.statements.questions.whom import NamedSpeaker
from varve.domain.statements.standings.corrections import (
    Corrections,
    StoreCorrections,
)
from varve.domain.statements.standings.standing import Successor
from varve.domain.statements.stores.going_on import list_superseding
from varve.domain.statements.stores.listed import leaves_others, tells_apart
from varve.domain.statements.stores.paired import StoreStatements
from varve.domain.statements.stores.told_values import ToldValues
from varve.domain.statements.texts.cues import Cues, read_cues
from varve.domain.statements.texts.parts import leave_out_parts

SUPERSEDED = 0.0
"""The least score of a pair whose earlier statement no longer holds."""
CLEAR = 1.0
"""The same of a score that marks an attribute of the profile, which each block shows."""


@dataclass(frozen=True)
class Standings:
    """The standing of the rows of one store.

    `admitted` are the rows that a request may see; what lies outside supersedes nothing.
    None: it may see all rows of the users whom it asks for. `question` has the cues of a
    question, and `judged` what it found, if it judges that. `careful`: only what is named
    supersedes, and what the `speaker` whom the question names changed. `told` has the
    values that the store's messages state.
    """

    columns: Columns
    admitted: Bools | None = None
    question: Cues | None = None
    judged: AskedStatements | None = None
    careful: bool = False
    speaker: NamedSpeaker | None = None
    told: ToldValues = field(default_factory=ToldValues)

    @cached_property
    def store(self) -> StoreStatements:
        """The store's statements, kept with its columns."""
        return self.columns.derive(StoreStatements)

    @cached_property
    def every_correction(self) -> Corrections:
        """The corrections of statements and of parts of them."""
        return self.columns.derive(StoreCorrections).find(self.admitted)

    @cached_property
    def corrections(self) -> dict[int, int]:
        """The last correction of each corrected statement, by row.

        A statement that is corrected in part is among them if the question asks for that
        part.
        """
        every = self.every_correction
        if self.question is None:
            return every.whole
        return {**every.find_all_asked(self.question), **every.whole}

    def find_part_correction(self, statement: int, words: str) -> int | None:
        """Return the row that corrects the part from which words were drawn.

        None: it is not corrected, or its correction states the same value.
        """
        row = self.every_correction.find_part(statement, words)
        if row is None or self._is_told_again(words, statement, row):
            return None
        return row

    def find_rest(self, row: int) -> str | None:
        """Return what a statement's row tells without its corrected parts.

        None: none of its parts is corrected, or all of them.
        """
        parts = self.every_correction.list_parts(row)
        if not parts:
            return None
        text = self.store.read(row).text
        spoken = self.columns.contents[row].removesuffix(text)
        return spoken + leave_out_parts(text, parts)

    def find_successors(self, rows: Iterable[int]) -> dict[int, Successor]:
        """Return the successor of each of these rows that is superseded."""
        found: dict[int, Successor] = {}
        turns: list[int] = []
        for row in rows:
            named = self._find_named(row)
            if named is not None:
                found[row] = Successor(named, np.inf)
            elif self.store.is_told(row) and self._compares(row):
                turns.append(row)
        for row, later in self._find_later(turns).items():
            successor = self._choose(row, later)
            if successor is not None:
                found[row] = successor
        return found

    def _compares(self, row: int) -> bool:
        """Return whether a row may have a successor that nothing names."""
        speaker = self.speaker
        return not self.careful or bool(speaker and speaker.said(row))

    def _find_named(self, row: int) -> int | None:
        """Return the last row that names a row as superseded: its correction, else a link."""
        if row in self.corrections:
            return self.corrections[row]
        linked = self._find_linked(row)
        return linked[-1] if linked else None

    def _find_linked(self, row: int) -> list[int]:
        """Return the rows that supersede a row as a model judged, oldest first."""
        later = self.store.find_linked(row, Relation.SUPERSEDES, self.admitted)
        return [
            other
            for other in later
            if not self.leaves(row, other, self.question)
        ]

    def _find_later(self, rows: Sequence[int]) -> dict[int, list[int]]:
        """Return each row's nearest later statements and those that the question found."""
        found = self.store.find_later(rows, self.admitted)
        return {
            row: self._add_asked(row, later.nearest)
            for row, later in found.items()
        }

    def _add_asked(self, row: int, later: Sequence[int]) -> list[int]:
        asked = self.judged.find_later(row) if self.judged else []
        every = list(dict.fromkeys([*later, *asked]))
        return list_superseding(row, every, self.store)

    def find_confirmed(self, row: int) -> int:
        """Return when a statement was last said, in microseconds since 1970."""
        saying = self.list_saying(row)
        return max(self.store.read(other).time for other in saying)

    def list_saying(self, row: int) -> list[int]:
        """Return a statement's row, and those that say it again or confirm it."""
        later = self.store.find_later([row], self.admitted)[row]
        again = [
            other
            for other in {*later.repeats, *later.nearest}
            if self.is_said_again(row, other)
        ]
        return [row, *again, *self.find_confirming(row)]

    def find_confirming(self, row: int) -> list[int]:
        """Return the rows that confirm a row as a model judged."""
        return self.store.find_linked(row, Relation.CONFIRMS, self.admitted)

    def is_said_again(self, row: int, other: int) -> bool:
        """Return whether a later row says the same, in its words or by its values."""
        again = self.store.compare_tellings(row, other)
        if again is not Again.PERHAPS:
            return again is Again.IN_WORDS
        store = self.store
        return says_again(
            self.told.agree(
                store.list_messages(row), store.list_messages(other)
            ),
            store.read(row),
            store.read(other),
        )

    def list_later(self, row: int) -> Sequence[int]:
        """Return the nearest later statements of a row's speaker."""
        return self.store.find_later([row], self.admitted)[row].nearest

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
        confirming = self.find_confirming(row)
        for other in later:
            score = self._score(row, other)
            if other in confirming or score <= (
                best.score if best else -np.inf
            ):
                continue
            if only_reminds(self.store.read(other).cues):
                continue
            if self.every_correction.corrects_part(row, other):
                continue
            # Last, for it may read the triples.
            if not self.is_said_again(row, other):
                best = Successor(other, score)
        return best

    def _score(self, row: int, other: int) -> float:
        """Return the pair's score if it reaches the pair's threshold, else -inf."""
        if self.judged is not None and self.judged.compares(row, other):
            score = self.judged.score_pair(row, other)
            least = self.judged.find_least(row, other)
            return score if score >= least else -np.inf
        score = self._score_unasked(row, other)
        if score < SUPERSEDED or self.leaves(row, other, self.question):
            return -np.inf
        return score

    def _score_unasked(self, row: int, other: int) -> float:
        """Return the score of a pair by its words alone; -inf: too low to matter."""
        score = self.store.score(row, other)
        if score + NEAREST < SUPERSEDED:
            return -np.inf
        speaker = self.speaker
        if self.careful and not (speaker and speaker.changes(row, other)):
            return -np.inf
        # To find the nearest statement reads all vectors: only where it decides.
        if score < SUPERSEDED:
            score += NEAREST * self.store.is_nearest(row, other)
        return score

    def leaves(self, row: int, other: int, question: Cues | None) -> bool:
        """Return whether a later row leaves as it is what a question asks for.

        It does so too if it ends some of the row's values, and others hold, or if both state
        values of other attributes.
        """
        earlier = self.store.read(row)
        later = self.store.read(other)
        if leaves_others(self.told, question, earlier, later):
            return True
        if tells_apart(self.told, earlier, later):
            return True
        if question is None:
            return False
        return leaves_asked(question, earlier.text, later.cues)

    def concerns(self, row: int, statement: int, successor: int) -> bool:
        """Return whether a successor of a row's statement supersedes the row itself.

        It does not supersede a fact about another part of the statement.
        """
        is_fact = self.store.is_fact(row)
        part = self.columns.contents[row] if is_fact else None
        return self.takes(part, statement, successor)

    def takes(self, part: str | None, statement: int, successor: int) -> bool:
        """Return whether a statement's successor supersedes a part of it, such as a fact.

        None as `part` is the whole statement. A correction of the whole supersedes all parts.
        """
        if part is None:
            return True
        whole = self.every_correction.whole
        if statement not in whole and self.every_correction.corrects_part(
            statement, successor
        ):
            return self.find_part_correction(statement, part) == successor
        if whole.get(statement) == successor:
            return True
        return self._concerns_part(part, statement, successor)

    def find_corrected(
        self, parts: Mapping[str, tuple[MessageKey, str]]
    ) -> frozenset[str]:
        """Return the keys of the parts that a correction or a link supersedes.

        Each part is a message and the words that were drawn from it, as a fact, a triple
        or an attribute of a profile.
        """
        found = self._find_lost(parts)
        partial = self.every_correction.partial
        if not (partial or self.corrections or self.store.has_links):
            return frozenset(found)
        for key, row in self.store.find_turns(parts).items():
            _, words = parts[key]
            if self.find_part_correction(row, words) is not None:
                found.add(key)
            successor = self._find_named(row)
            if successor is not None and self._concerns_part(
                words, row, successor
            ):
                found.add(key)
        return frozenset(found)

    def _find_lost(
        self, parts: Mapping[str, tuple[MessageKey, str]]
    ) -> set[str]:
        """Return the keys of the parts whose messages have expired and were corrected."""
        lost = self.columns.derive(StoreCorrections).lost
        found: set[str] = set()
        if not lost:
            return found
        for key, ((conversation, message), words) in parts.items():
            row = lost.get(turn_id(conversation or "", message))
            if row is None or not self._admits(row):
                continue
            if not leaves(read_cues(words), words, self.store.read(row).cues):
                found.add(key)
        return found

    def _admits(self, row: int) -> bool:
        return self.admitted is None or bool(self.admitted[row])

    def find_likely_superseded(
        self, parts: Mapping[str, tuple[MessageKey, str]]
    ) -> frozenset[str]:
        """Return the keys of the parts whose messages a later one likely supersedes.

        Parts are as in `find_corrected`.
        """
        found: set[str] = set()
        for key, row in self.store.find_turns(parts).items():
            successor = self.find_successors([row]).get(row)
            if successor is None or successor.score < CLEAR:
                continue
            if self._concerns_part(parts[key][1], row, successor.row):
                found.add(key)
        return frozenset(found)

    def _concerns_part(
        self, words: str, statement: int, successor: int
    ) -> bool:
        if self._is_told_again(words, statement, successor):
            return False
        # A correction that shares nothing with its message corrects all of it.
        is_correction = self.every_correction.corrects(statement, successor)
        is_left = leaves if is_correction else leaves_asked
        earlier = self.store.read(statement).text
        return not is_left(
            read_cues(words), earlier, self.store.read(successor).cues
        )

    def _is_told_again(
        self, words: str, statement: int, successor: int
    ) -> bool:
        """Return whether a successor states again the value in a part's words."""
        return self.told.tell_again(
            words,
            self.store.list_messages(statement),
            self.store.list_messages(successor),
        )
