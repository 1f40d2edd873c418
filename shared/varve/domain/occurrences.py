"""Where the words of questions occur in a store: worked out once for each word and version, then kept.

Questions share many of their words with each other, and where a word occurs does not depend on the rest of
the question. What depends on the other lanes, how telling a word is, is multiplied in when it is added up.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from varve.domain.lexical import Floats, Ints, Lexical, Term, WordVectors, idf, saturated
from varve.domain.places import Places, Spots

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

    def set(self, out: Floats, value: float) -> None:
        """Add a value wherever there is a number."""
        if self.at is None:
            out += (self.values > 0) * np.float32(value)
        elif len(self.at):
            out[self.at] += np.float32(value)

    @property
    def bytes(self) -> int:
        """The memory that it takes, about."""
        return self.values.nbytes + (0 if self.at is None else self.at.nbytes) + 200


def sparse(row: Floats) -> Sparse:
    """The numbers of a row, none below 0."""
    at = np.flatnonzero(row)
    return Sparse(None, row.copy()) if len(at) * SPARSE > len(row) else Sparse(at, row[at])


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A word's BM25 in each row, without its idf, and in each place with those `reach` around, with it."""

    rows: Sparse
    window: Sparse

    @property
    def bytes(self) -> int:
        """The memory that it takes, about."""
        return self.rows.bytes + self.window.bytes


@dataclass(frozen=True, slots=True)
class Kinship:
    """What makes two words kin: the least cosine, how far around, and which codes are nobody's kin."""

    least: float
    reach: int
    named: tuple[int, ...]


@dataclass(eq=False)
class Met:
    """Where words occur in the texts of one store at one version."""

    index: Lexical
    places: Places
    lengths: Floats
    """How many telling words there are around each place."""
    reach: int
    _words: dict[str, Occurrence] = field(default_factory=dict, repr=False)
    _kin: dict[tuple[str, Kinship, bool], Sparse] = field(default_factory=dict, repr=False)
    _bytes: int = 0

    def __post_init__(self) -> None:
        self._posted: Spots = self.places.of[self.index.rows]
        self._mean_length = max(1.0, float(self.lengths.mean())) if len(self.lengths) else 1.0

    def words(self, terms: Sequence[Term]) -> list[Occurrence]:
        """Where each of the words is."""
        known = self._words
        found = []
        for term in terms:
            one = known.get(term.form)
            if one is None:
                one = self._occurrence(term)
                self._room(one.bytes)
                known[term.form] = one
            found.append(one)
        return found

    def kin(self, terms: Sequence[Term], wanted: Kinship, embed: WordVectors | None) -> list[Sparse]:
        """For each word how alike the most alike word around each place is, in [0, 1]."""
        known, given = self._kin, embed is not None
        found = {term.form: known.get((term.form, wanted, given)) for term in terms}
        new = [term for term in terms if found[term.form] is None]
        if new:
            for term, one in zip(new, self._all_kin(new, wanted, embed), strict=True):
                found[term.form] = one
                self._room(one.bytes)
                known[term.form, wanted, given] = one
        return [one for one in (found[term.form] for term in terms) if one is not None]

    def _room(self, wanted: int) -> None:
        if self._bytes + wanted > MOST_BYTES:
            self._words.clear()
            self._kin.clear()
            self._bytes = 0
        self._bytes += wanted

    def _occurrence(self, term: Term) -> Occurrence:
        index, size = self.index, len(self.places)
        nothing = Sparse(np.zeros(0, np.intp), np.zeros(0, np.float32))
        if not term.codes:
            return Occurrence(nothing, nothing)
        rows, counts = index.postings(term.codes)
        weights = saturated(counts, index.lengths[rows], index.mean_length)
        if len(term.codes) > 1:  # a text may hold both stems
            by_row = np.zeros(index.size, np.float32)
            np.add.at(by_row, rows, weights)
            turn = sparse(by_row)
        else:
            turn = Sparse(rows.astype(np.intp), weights)
        there = np.zeros(size, np.float32)
        np.maximum.at(there, self.places.of[rows], counts)
        wide = self.places.around(there, self.reach)
        at = np.flatnonzero(wide)
        here = saturated(wide[at], self.lengths[at], self._mean_length) * np.float32(idf(len(at), size))
        if len(at) * SPARSE <= size:
            return Occurrence(turn, Sparse(at, here))
        wide[at] = here
        return Occurrence(turn, Sparse(None, wide))

    def _all_kin(self, terms: Sequence[Term], wanted: Kinship, embed: WordVectors | None) -> list[Sparse]:
        alike = self._alike(terms, wanted, embed)
        size, starts = len(self.places), self.index.starts
        codes = np.concatenate([codes for codes, _ in alike])
        here = np.zeros((len(terms), size), np.float32)
        if len(codes):
            first = starts[codes]
            counts = starts[codes + 1] - first
            ends = np.cumsum(counts)
            spots = np.arange(ends[-1]) + np.repeat(first - ends + counts, counts)
            row = np.repeat(np.arange(len(terms)) * size, [len(codes) for codes, _ in alike])
            weights = np.concatenate([weights for _, weights in alike])
            np.maximum.at(
                here.reshape(-1), self._posted[spots] + np.repeat(row, counts), np.repeat(weights, counts)
            )
        return [sparse(row) for row in self.places.best_around(here, wanted.reach)]

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
