"""Where the words of questions occur in a store: worked out once for each word and version, then kept.

Questions share many of their words with each other, and where a word occurs does not depend on the rest of
the question. What depends on the other lanes, how telling a word is, is multiplied in when it is added up.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

import numpy as np

from varve.domain.search.lexical import Floats, Ints, Lexical, Term, WordVectors, runs, saturated
from varve.domain.search.places import Places, Spots

Key = TypeVar("Key")

MOST_BYTES = 16 * 1024 * 1024
"""What may be kept of one store; then all of it goes and is made again as it is asked for."""
SPARSE = 8
"""Values are kept with where they are, if at most one in so many is above 0."""


@dataclass(frozen=True, eq=False, slots=True)
class Sparse:
    """Numbers above 0 in a long row: `values` stand at `at`, or are the whole row where it is None."""

    at: Spots | None
    values: Floats

    def add(self, out: Floats, weight: float) -> None:
        """Add them to a row as long, times a weight."""
        if self.at is None:
            out += self.values * np.float32(weight)
        elif len(self.at):
            out[self.at] += self.values * np.float32(weight)

    @property
    def bytes(self) -> int:
        """The memory that it takes, about."""
        return self.values.nbytes + (0 if self.at is None else self.at.nbytes) + 200


def sparse(row: Floats) -> Sparse:
    """The numbers of a row, none below 0."""
    above = row > 0
    if np.count_nonzero(above) * SPARSE > len(row):
        return Sparse(None, row.copy())
    at = np.flatnonzero(above)
    return Sparse(at, row[at])


@dataclass(frozen=True, slots=True)
class Kinship:
    """What makes two words kin: the least cosine, and which codes are nobody's kin."""

    least: float
    named: tuple[int, ...]


@dataclass(eq=False)
class Met:
    """Where words occur in the texts of one store at one version."""

    index: Lexical
    places: Places
    reach: int
    _words: dict[str, Sparse] = field(default_factory=dict, repr=False)
    _kinds: dict[tuple[str, ...], Sparse] = field(default_factory=dict, repr=False)
    _kin: dict[tuple[Kinship, bool], dict[str, Sparse]] = field(default_factory=dict, repr=False)
    _bytes: int = 0

    def __post_init__(self) -> None:
        self._posted: Spots = self.places.of[self.index.rows]

    def words(self, terms: Sequence[Term]) -> list[Sparse]:
        """Each word's BM25 in each row, without its idf."""
        return [self._kept(self._words, term.form, partial(self._weights, term)) for term in terms]

    def kinds(self, kinds: Sequence[tuple[str, ...]]) -> list[Sparse]:
        """For each list of words 1 in each row that has any of them."""
        return [self._kept(self._kinds, words, partial(self._any_of, words)) for words in kinds]

    def kin(self, terms: Sequence[Term], wanted: Kinship, embed: WordVectors | None) -> list[Sparse]:
        """For each word how alike the most alike word around each place is, in [0, 1]."""
        of_kind = (wanted, embed is not None)
        known = self._kin.get(of_kind, {})
        found = {term.form: known[term.form] for term in terms if term.form in known}
        if new := [term for term in terms if term.form not in found]:
            made = dict(zip((term.form for term in new), self._all_kin(new, wanted, embed), strict=True))
            self._room(sum(one.bytes for one in made.values()))
            self._kin.setdefault(of_kind, {}).update(made)
            found |= made
        return [found[term.form] for term in terms]

    def _kept(self, known: dict[Key, Sparse], key: Key, make: Callable[[], Sparse]) -> Sparse:
        one = known.get(key)
        if one is None:
            one = make()
            self._room(one.bytes)
            known[key] = one
        return one

    def _room(self, wanted: int) -> None:
        if self._bytes + wanted > MOST_BYTES:
            self._words.clear()
            self._kinds.clear()
            self._kin.clear()
            self._bytes = 0
        self._bytes += wanted

    def _weights(self, term: Term) -> Sparse:
        index = self.index
        rows, counts = index.postings(term.codes)
        weights = saturated(counts, index.lengths[rows], index.mean_length)
        if len(term.codes) < 2 and len(rows) * SPARSE <= index.size:
            return Sparse(rows.astype(np.intp), weights)
        by_row = np.zeros(index.size, np.float32)
        np.add.at(by_row, rows, weights)  # a text may hold both stems
        return sparse(by_row)

    def _any_of(self, words: Sequence[str]) -> Sparse:
        codes = {code for word in words for code in self.index.term(word).codes}
        rows = np.unique(self.index.postings(sorted(codes))[0]).astype(np.intp)
        return Sparse(rows, np.ones(len(rows), np.float32))

    def _all_kin(self, terms: Sequence[Term], wanted: Kinship, embed: WordVectors | None) -> list[Sparse]:
        alike = self._alike(terms, wanted, embed)
        size, starts = len(self.places), self.index.starts
        codes = np.concatenate([codes for codes, _ in alike])
        here = np.zeros((len(terms), size), np.float32)
        if len(codes):
            first = starts[codes]
            counts = starts[codes + 1] - first
            spots = runs(first, counts)
            row = np.repeat(np.arange(len(terms)) * size, [len(codes) for codes, _ in alike])
            weights = np.concatenate([weights for _, weights in alike])
            np.maximum.at(
                here.reshape(-1), self._posted[spots] + np.repeat(row, counts), np.repeat(weights, counts)
            )
        return [sparse(row) for row in self.places.best_around(here, self.reach)]

    def _alike(
        self, terms: Sequence[Term], wanted: Kinship, embed: WordVectors | None
    ) -> list[tuple[Ints, Floats]]:
        """For each term the stems that are alike and how much, in [0, 1]: its own 1; none twice above 0."""
        own = [np.array(term.codes, np.int32) for term in terms]
        if embed is None or not self.index.forms:
            return [(codes, np.ones(len(codes), np.float32)) for codes in own]
        near = self.index.likenesses(embed).of([term.form for term in terms], wanted.least)
        scale = np.float32(1 / (1 - wanted.least))
        alike = []
        for mine, (codes, cosines) in zip(own, near, strict=True):
            weights = np.sqrt((cosines - np.float32(wanted.least)) * scale)
            for code in wanted.named:
                weights[codes == code] = 0
            alike.append(
                (np.concatenate((codes, mine)), np.concatenate((weights, np.ones(len(mine), np.float32))))
            )
        return alike
