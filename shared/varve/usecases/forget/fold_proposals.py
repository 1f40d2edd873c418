"""Fold the records, triples and entries that tell one statement into one proposal.

A proposal stands for every telling of its statement. Erasure takes whole messages, so what
one message says is one proposal as well.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from varve.domain.erasure import MessageKey
from varve.domain.language.tokens import spaced_words
from varve.domain.record import Vector
from varve.domain.statements.pairs.likeness import word_likeness
from varve.domain.statements.pairs.sameness import (
    SAME_COSINE,
    names_value,
    tell_difference,
)
from varve.domain.statements.texts.parts import split_parts
from varve.usecases.forget.proposals import Proposal, list_whole_messages

_NOTE = "note"
_ORDER = ("fact", "turn", _NOTE, "profile", "triple", "summary")
Vectors = Mapping[str, Vector]
"""The vectors of sentences, by their words."""


def find_sentence(query: str, one: Proposal) -> str:
    """Return the part of a proposal that a query names; all of it, if none is likeliest."""
    told = _split(one)
    shares = [word_likeness(query, sentence) for sentence in told]
    most = max(shares, default=0.0)
    if len(told) < 2 or shares.count(most) > 1:
        return one.content
    return f"{_find_head(one)}{told[shares.index(most)]}"


def _split(one: Proposal) -> Sequence[str]:
    return split_parts(one.content.removeprefix(_find_head(one)))


def _find_head(one: Proposal) -> str:
    return f"{one.speaker}: " if one.speaker else ""


def fold_statements(
    query: str,
    likely: Iterable[Proposal],
    others: Iterable[Proposal] = (),
    vectors: Vectors | None = None,
) -> list[Proposal]:
    """Return the likely proposals with one for each statement, the likeliest first.

    `others` are less likely: they are only added where they tell a likely one again.
    Without `vectors` two sentences are one statement only in the same words.
    """
    known = vectors or {}
    folding = _Folding()
    for one in sorted(likely, key=_rank):
        folding.add(_read_telling(query, one, known))
    for one in sorted(others, key=_rank):
        folding.add_again(_read_telling(query, one, known))
    return [place.fold() for place in folding.places]


def _rank(one: Proposal) -> tuple[float, int, str]:
    return -one.likeness, _ORDER.index(one.memory_type), one.id


@dataclass(frozen=True, slots=True)
class _Telling:
    """A proposal with the sentence that stands for it, its words, and their vector if known.

    It `is_whole` if it is all that its message says.
    """

    proposal: Proposal
    sentence: str
    words: str
    vector: "Vector | None" = field(compare=False, repr=False)
    is_whole: bool

    def is_again(self, other: "_Telling") -> bool:
        """Return whether the other one tells the same statement of the same user."""
        one = self.proposal
        if one.users != other.proposal.users or not self._is_near(other):
            return False
        # A note is erased as a whole, with all else that it says.
        if _NOTE in (one.memory_type, other.proposal.memory_type):
            return False
        same_day = one.date == other.proposal.date
        difference = tell_difference(
            self.sentence, other.sentence, same_day=same_day
        )
        return difference is None

    def _is_near(self, other: "_Telling") -> bool:
        if self.words == other.words:
            return True
        if self.vector is None or other.vector is None:
            return False
        return float(np.dot(self.vector, other.vector)) >= SAME_COSINE


def _read_telling(query: str, one: Proposal, vectors: Vectors) -> _Telling:
    sentence = find_sentence(query, one)
    return _Telling(
        one,
        sentence,
        words=spaced_words(sentence),
        vector=vectors.get(sentence),
        is_whole=bool(one.speaker) and len(_split(one)) == 1,
    )


@dataclass(slots=True, eq=False)
class _Place:
    """One statement: what tells it first, and all that tell it."""

    first: _Telling
    all: list[Proposal] = field(default_factory=list)
    messages: set[MessageKey] = field(default_factory=set)

    def add(self, ones: Iterable[Proposal]) -> None:
        """Add proposals that tell the statement."""
        for one in ones:
            self.all.append(one)
            self.messages |= one.messages

    def fold(self) -> Proposal:
        """Return one proposal for all."""
        erases: dict[str, None] = {}
        also_in: dict[str, None] = {}
        for one in self.all:
            erases.update(dict.fromkeys(one.erases))
            also_in[one.id] = None
        first = self.first.proposal
        also_in.pop(first.id)
        return replace(
            first,
            messages=frozenset(self.messages),
            erases=tuple(erases),
            also_in=tuple(also_in),
            whole_messages=list_whole_messages(first, self.all),
        )


class _Folding:
    """The statements so far, in the order of what tells each first."""

    def __init__(self) -> None:
        self.places: list[_Place] = []

    def add(self, telling: _Telling) -> None:
        """Add a proposal to the place of its statement, or give it a new place."""
        if self.add_again(telling) or self._add_by_message(telling.proposal):
            return
        place = _Place(telling)
        place.add([telling.proposal])
        self.places.append(place)

    def add_again(self, telling: _Telling) -> bool:
        """Add a proposal that tells a known statement; return whether it does."""
        one = telling.proposal
        found = [place for place in self.places if _is_stated(place, one)]
        if not found:
            found = self._find_same(telling)
        if not found:
            return False
        if telling.is_whole:
            found += self._find_by_message(one)
            found = [place for place in self.places if place in found]
        first, *rest = found
        first.add([one])
        for place in rest:
            first.add(place.all)
            self.places.remove(place)
        return True

    def _find_same(self, telling: _Telling) -> list[_Place]:
        for place in self.places:
            if place.first.is_again(telling):
                return [place]
        return []

    def _add_by_message(self, one: Proposal) -> bool:
        for place in self._find_by_message(one):
            # A triple of further messages states something else than the place does.
            if not one.value or one.messages <= place.messages:
                place.add([one])
                return True
        return False

    def _find_by_message(self, one: Proposal) -> list[_Place]:
        return [
            place
            for place in self.places
            if not place.messages.isdisjoint(one.messages)
        ]


def _is_stated(place: _Place, triple: Proposal) -> bool:
    """Return whether a place's messages state a triple's value, in the place's sentence."""
    if not triple.value or place.messages.isdisjoint(triple.messages):
        return False
    return _states(place.first.sentence, triple)


def _states(sentence: str, triple: Proposal) -> bool:
    """Return whether a sentence has a triple's value and all telling words of its label."""
    if not names_value(sentence, triple.value):
        return False
    return word_likeness(triple.label.replace("_", " "), sentence) == 1.0


def list_sentences(query: str, proposals: Sequence[Proposal]) -> list[str]:
    """Return the sentences that stand for proposals, each once."""
    return list(dict.fromkeys(find_sentence(query, one) for one in proposals))
