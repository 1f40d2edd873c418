"""Where the words of questions occur in a store: worked out once for each word and version, then kept.

Questions share many of their words with each other, and where a word occurs does not depend on the rest of
the question. What depends on the other lanes, how telling a word is, is multiplied in when it is added up.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from varve.domain.search.lexical import Floats, Lexical, Spots, Term, WordVectors, runs
from varve.domain.search.places import Places

Key = TypeVar("Key")

MOST_BYTES = 16 * 1024 * 1024
"""What may be kept of one store; then all of it goes and is made again as it is asked for."""
SPARSE = 8
"""Values are kept with where they are, if at most one in so many is above 0."""
WHOLE = 4_096
"""Rows as short as this are kept whole: one product then sums up all words of a question."""


@dataclass(frozen=True, eq=False, slots=True)
class Sparse:
    """Numbers above 0 in a long row: `values` stand at `at`, or are the whole row where it is None."""

    at: Spots | None
    values: Floats

    @property
    def bytes(self) -> int:
        """The memory that it takes, about."""
        return self.values.nbytes + (0 if self.at is None else self.at.nbytes) + 200


def summed(rows: Sequence[Sparse], weights: Sequence[float], out: Floats) -> None:
    """Write into a row as long their sum, each times its weight."""
    whole = [row.values for row in rows if row.at is None]
    if whole:
        own = [
            weight for row, weight in zip(rows, weights, strict=True) if row.at is None
        ]
        np.matmul(np.array(own, np.float32), np.array(whole), out=out)
    else:
        out[:] = 0
    for row, weight in zip(rows, weights, strict=True):
        if row.at is not None:
            out[row.at] += row.values * np.float32(weight)


def sparse(row: Floats) -> Sparse:
    """The numbers of a row, none below 0; may be the row given."""
    if len(row) <= WHOLE:
        return Sparse(None, row)
    if np.count_nonzero(row) * SPARSE > len(row):
        return Sparse(None, row.copy())
    at = row.nonzero()[0]
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
    _kin: dict[tuple[Kinship, bool], dict[str, Sparse]] = field(
        default_factory=dict, repr=False
    )
    _bytes: int = 0

    def __post_init__(self) -> None:
        self._posted: Spots = self.places.of[self.index.rows]

    def words(self, terms: Sequence[Term]) -> list[Sparse]:
        """Each word's BM25 in each row, without its idf."""
        known = self._words
        return [
            known.get(term.form) or self._kept(known, term.form, self._weights(term))
            for term in terms
        ]

    def kinds(self, kinds: Sequence[tuple[str, ...]]) -> list[Sparse]:
        """For each list of words 1 in each row that has any of them."""
        known = self._kinds
        return [
            known.get(words) or self._kept(known, words, self._any_of(words))
            for words in kinds
        ]

    def kin(
        self, terms: Sequence[Term], wanted: Kinship, embed: WordVectors | None
    ) -> list[Sparse]:
        """For each word how alike the most alike word around each place is, in [0, 1]."""
        of_kind = (wanted, embed is not None)
        found = self._kin.get(of_kind, {})
        if new := [term for term in terms if term.form not in found]:
            made = dict(
                zip(
                    (term.form for term in new),
                    self._all_kin(new, wanted, embed),
                    strict=True,
                )
            )
            self._room(sum(one.bytes for one in made.values()))
            self._kin.setdefault(of_kind, {}).update(made)
            found = found | made
        return [found[term.form] for term in terms]

    def _kept(self, known: dict[Key, Sparse], key: Key, one: Sparse) -> Sparse:
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
        rows, weights = self.index.postings(term.codes)
        size, once = self.index.size, len(term.codes) < 2
        if once and size > WHOLE and len(rows) * SPARSE <= size:
            return Sparse(rows.astype(np.intp), weights)
        by_row = np.zeros(size, np.float32)
        if once:
            by_row[rows] = weights
        else:
            np.add.at(by_row, rows, weights)  # a text may hold both stems
        return sparse(by_row)

    def _any_of(self, words: Sequence[str]) -> Sparse:
        by_row = np.zeros(self.index.size, np.float32)
        for code in {code for word in words for code in self.index.term(word).codes}:
            by_row[self.index.rows[self.index.span(code)]] = 1
        return sparse(by_row)

    def _all_kin(
        self, terms: Sequence[Term], wanted: Kinship, embed: WordVectors | None
    ) -> list[Sparse]:
        which, codes, weights = self._alike(terms, wanted, embed)
        size, starts = len(self.places), self.index.starts
        here = np.zeros((len(terms), size), np.float32)
        first = starts[codes]
        counts = starts[codes + 1] - first
        spots = self._posted[runs(first, counts)]
        spots += np.repeat(which * size, counts)
        np.maximum.at(here.reshape(-1), spots, np.repeat(weights, counts))
        return [sparse(row) for row in self.places.best_around(here, self.reach)]

    def _alike(
        self, terms: Sequence[Term], wanted: Kinship, embed: WordVectors | None
    ) -> tuple[Spots, Spots, Floats]:
        """Which stems are alike to which terms, by numbers, and how much, in [0, 1]: a term's own 1."""
        own = np.repeat(np.arange(len(terms)), [len(term.codes) for term in terms])
        codes = np.array([code for term in terms for code in term.codes], np.intp)
        ones = np.ones(len(codes), np.float32)
        if embed is None or not self.index.forms:
            return own, codes, ones
        which, near, cosines = self.index.likenesses(embed).of(
            [term.form for term in terms], wanted.least
        )
        weights = np.sqrt(
            (cosines - np.float32(wanted.least)) * np.float32(1 / (1 - wanted.least))
        )
        for code in wanted.named:
            weights[near == code] = 0
        return np.append(which, own), np.append(near, codes), np.append(weights, ones)
