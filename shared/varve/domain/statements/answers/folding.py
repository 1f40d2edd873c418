"""Fold lines of a block that say the same, so that each statement takes one line."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from varve.domain.language.stems import stem_all, stems
from varve.domain.language.stopwords import COURTESIES, STOP_WORDS
from varve.domain.language.timemarks import tells_time
from varve.domain.language.tokens import words
from varve.domain.search.row import MessageKey
from varve.domain.statements.pairs.sameness import (
    SAME_COSINE,
    Saying,
    have_same_source,
    names_value,
    tell_difference,
)
from varve.domain.statements.pairs.superseding import split_clauses

MAX_ADDED_WORDS = 2
"""A sentence with more telling words than the value's says more than the value."""


@dataclass(frozen=True, slots=True)
class BlockLine:
    """One line: its id, its saying, and the ids of the triples that it states.

    A line `derived` from words, such as a triple, gives its place to the words.
    """

    id: str
    saying: Saying
    triples: frozenset[str] = frozenset()
    derived: bool = False


@dataclass(slots=True)
class _Kept:
    """A statement with a line, and the ids of the lines folded into it."""

    line: BlockLine
    fixed: bool
    folded: list[str] = field(default_factory=list)


class Folding:
    """The statements that have a line so far.

    `fixed` lines stay as they are. They have no turn's words, so that a turn that says
    more keeps its line.
    """

    def __init__(self, fixed: Iterable[BlockLine] = ()) -> None:
        self._kept: list[_Kept] = []
        self._by_message: dict[MessageKey, list[_Kept]] = {}
        self._by_triple: dict[str, _Kept] = {}
        self._vectors: npt.NDArray[np.float32] | None = None
        for line in fixed:
            self._note(line, _Kept(line, fixed=True))

    def add(self, line: BlockLine) -> bool:
        """Add a line; return False if it is folded into one that says the same."""
        known = self._find(line)
        if known is None:
            kept = _Kept(line, fixed=False)
            self._note(line, kept)
            return True
        self._fold(known, line)
        return False

    def says(self, saying: Saying) -> str | None:
        """Return the id of a kept line in the same words; None: there is none."""
        known = self._find_by_meaning(saying)
        return known.line.id if known else None

    def note_folded(self, id_: str, into: str) -> None:
        """Note that a part of the line `id_` was folded into another one."""
        for kept in self._kept:
            if kept.line.id == into and id_ not in kept.folded:
                kept.folded.append(id_)

    @property
    def lines(self) -> list[BlockLine]:
        """The kept lines that are not fixed, in the order of their first saying."""
        return [kept.line for kept in self._kept if not kept.fixed]

    @property
    def also_in(self) -> Mapping[str, tuple[str, ...]]:
        """The ids of the folded lines, by the id of the line that says the same."""
        return {
            kept.line.id: tuple(kept.folded)
            for kept in self._kept
            if kept.folded
        }

    def _note(self, line: BlockLine, kept: _Kept) -> None:
        if kept not in self._kept:
            self._kept.append(kept)
        self._vectors = None
        for message in line.saying.messages:
            self._by_message.setdefault(message, []).append(kept)
        for triple in line.triples:
            self._by_triple.setdefault(triple, kept)

    def _fold(self, known: _Kept, line: BlockLine) -> None:
        """Fold a line; words take the place of a triple made from them."""
        gives_way = known.line.derived and not line.derived and not known.fixed
        if gives_way:
            known.folded.append(known.line.id)
            known.line = line
        else:
            known.folded.append(line.id)
        self._note(line, known)

    def _find(self, line: BlockLine) -> _Kept | None:
        for triple in line.triples:
            if triple in self._by_triple:
                return self._by_triple[triple]
        for message in line.saying.messages:
            for kept in self._by_message.get(message, ()):
                if not kept.fixed and have_same_source(
                    line.saying, kept.line.saying
                ):
                    return kept
        return self._find_by_meaning(line.saying)

    def _find_by_meaning(self, saying: Saying) -> _Kept | None:
        if not self._kept:
            return None
        if self._vectors is None:
            self._vectors = np.array(
                [kept.line.saying.vector for kept in self._kept]
            )
        cosines = self._vectors @ saying.vector
        for at in np.flatnonzero(cosines >= SAME_COSINE).tolist():
            kept = self._kept[at]
            if _say_the_same(saying, kept.line.saying):
                return kept
        return None


def _say_the_same(one: Saying, other: Saying) -> bool:
    """Return whether two similar sayings mean the same; two users' never do.

    A saying without a user, such as a triple, is compared with those of all users.
    """
    if one.user and other.user and one.user != other.user:
        return False
    same_day = one.day == other.day
    return tell_difference(one.text, other.text, same_day=same_day) is None


def says_little_more(text: str, statement: str) -> bool:
    """Return whether a text has at most two telling words that a statement lacks.

    Words of time do not count. "I moved to Utrecht last week" says little more than
    "Ana lives in: Utrecht".
    """
    return _count_added(text, statement) <= MAX_ADDED_WORDS


def tells_something_beside(
    text: str, values: Collection[str], statement: str
) -> bool:
    """Return whether the clauses of a text without these values tell something of their own.

    "I work at Acme and my boss is Petra" does, beside Acme. The label before a value
    does not: "New number: 555 0199".
    """
    told = text
    for value in values:
        told = told.replace(f": {value}", f" {value}")
    others = [
        one
        for one in split_clauses(told)
        if not any(names_value(one, value) for value in values)
    ]
    return _count_added(" ".join(others), statement) >= MAX_ADDED_WORDS


def _count_added(text: str, statement: str) -> int:
    """Return how many telling words a text has that a statement lacks."""
    known = stem_all(words(statement))
    added = 0
    for word in words(text):
        if word in STOP_WORDS or word in COURTESIES or tells_time(word):
            continue
        added += known.isdisjoint(stems(word))
    return added
