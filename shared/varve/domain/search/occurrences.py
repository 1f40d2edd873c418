"""Where the words of questions occur in a store, cached for each word and version.

Questions share many words, and where a word occurs does not depend on the rest of the
question. How telling a word is depends on the other lanes; that factor is applied when
the words of a question are summed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from varve.domain.search.lexical import (
    Floats,
    Lexical,
    Spots,
    Term,
    WordVectors,
    runs,
)
from varve.domain.search.places import Places

KeyT = TypeVar("KeyT")
Words = tuple[str, ...]

MAX_CACHE_BYTES = 16 * 1024 * 1024
"""The most bytes cached for one store; when more are needed, the cache is emptied."""
SPARSE_RATIO = 8
"""A row is stored as positions and values if at most one in so many values is above 0."""
WHOLE_ROW_LENGTH = 4_096
"""Rows up to this length are stored whole: one product then sums up a question's words."""


@dataclass(frozen=True, eq=False, slots=True)
class Sparse:
    """A long row of numbers of which few are above 0.

    `values` belong to the positions `at`, or are the whole row if `at` is None.
    """

    at: Spots | None
    values: Floats

    @property
    def bytes(self) -> int:
        """The estimated memory in bytes."""
        positions = 0 if self.at is None else self.at.nbytes
        return self.values.nbytes + positions + 200


def write_weighted_sum(
    rows: Sequence[Sparse], weights: Sequence[float], out: Floats
) -> None:
    """Write the weighted sum of the rows into `out`."""
    whole_rows = []
    whole_weights = []
    sparse_rows = []
    for row, weight in zip(rows, weights, strict=True):
        if row.at is None:
            whole_rows.append(row.values)
            whole_weights.append(weight)
        else:
            sparse_rows.append((row.at, row.values, weight))
    if whole_rows:
        factors = np.array(whole_weights, np.float32)
        np.matmul(factors, np.array(whole_rows), out=out)
    else:
        out[:] = 0
    for at, values, weight in sparse_rows:
        out[at] += values * np.float32(weight)


def compress_row(row: Floats) -> Sparse:
    """Compress a row without negative numbers; the result may share its memory."""
    if len(row) <= WHOLE_ROW_LENGTH:
        return Sparse(None, row)
    if np.count_nonzero(row) * SPARSE_RATIO > len(row):
        return Sparse(None, row.copy())
    at = row.nonzero()[0]
    return Sparse(at, row[at])


@dataclass(frozen=True, slots=True)
class Kinship:
    """When two words count as similar.

    Their cosine is above `least`, and the code of the similar word is not in
    `excluded_codes`.
    """

    least: float
    excluded_codes: tuple[int, ...]


KinKey = tuple[Kinship, bool]
"""A kinship, and whether words are embedded."""


@dataclass(eq=False)
class Occurrences:
    """Where words occur in the texts of one store at one version."""

    index: Lexical
    places: Places
    reach: int

    def __post_init__(self) -> None:
        self._place_of_posting: Spots = self.places.of[self.index.rows]
        self._words: dict[str, Sparse] = {}
        self._kinds: dict[Words, Sparse] = {}
        self._kin: dict[KinKey, dict[str, Sparse]] = {}
        self._bytes = 0

    def words(self, terms: Sequence[Term]) -> list[Sparse]:
        """Return for each word its BM25 in each row, without its idf."""
        cached = self._words
        rows = []
        for term in terms:
            row = cached.get(term.form)
            if row is None:
                row = self._cache(cached, term.form, self._weigh(term))
            rows.append(row)
        return rows

    def kinds(self, kinds: Sequence[Words]) -> list[Sparse]:
        """Return for each list of words 1 in each row that has any of them, else 0."""
        cached = self._kinds
        rows = []
        for words in kinds:
            row = cached.get(words)
            if row is None:
                row = self._cache(cached, words, self._mark_any(words))
            rows.append(row)
        return rows

    def kin(
        self,
        terms: Sequence[Term],
        kinship: Kinship,
        embed: WordVectors | None,
    ) -> list[Sparse]:
        """Return for each word its likeness to the most similar word around each place.

        Likenesses lie in [0, 1]. Without `embed`, a word is similar to itself only.
        """
        key = (kinship, embed is not None)
        found = self._kin.get(key, {})
        missing = [term for term in terms if term.form not in found]
        if missing:
            rows = self._find_kin(missing, kinship, embed)
            self._make_room(sum(row.bytes for row in rows))
            forms = [term.form for term in missing]
            added = dict(zip(forms, rows, strict=True))
            self._kin.setdefault(key, {}).update(added)
            found = found | added
        return [found[term.form] for term in terms]

    def _cache(
        self, cached: dict[KeyT, Sparse], key: KeyT, row: Sparse
    ) -> Sparse:
        self._make_room(row.bytes)
        cached[key] = row
        return row

    def _make_room(self, wanted: int) -> None:
        """Count the wanted bytes; empty the cache first if they do not fit."""
        if self._bytes + wanted > MAX_CACHE_BYTES:
            self._words.clear()
            self._kinds.clear()
            self._kin.clear()
            self._bytes = 0
        self._bytes += wanted

    def _weigh(self, term: Term) -> Sparse:
        rows, weights = self.index.postings(term.codes)
        size = self.index.size
        has_one_code = len(term.codes) < 2
        is_sparse = len(rows) * SPARSE_RATIO <= size
        if has_one_code and is_sparse and size > WHOLE_ROW_LENGTH:
            return Sparse(rows.astype(np.intp), weights)
        by_row = np.zeros(size, np.float32)
        if has_one_code:
            by_row[rows] = weights
        else:
            np.add.at(
                by_row, rows, weights
            )  # a text may contain several stems
        return compress_row(by_row)

    def _mark_any(self, words: Sequence[str]) -> Sparse:
        by_row = np.zeros(self.index.size, np.float32)
        for word in words:
            term = self.index.term(word)
            rows, _ = self.index.postings(term.codes)
            by_row[rows] = 1
        return compress_row(by_row)

    def _find_kin(
        self,
        terms: Sequence[Term],
        kinship: Kinship,
        embed: WordVectors | None,
    ) -> list[Sparse]:
        """Find for each word the most similar word around each place."""
        pairs = _pair_with_own_stems(terms)
        if embed is not None and self.index.forms:
            pairs = self._find_similar(terms, kinship, embed).followed_by(
                pairs
            )
        place_count = len(self.places)
        shape = (len(terms), place_count)
        here = np.zeros(shape, np.float32)
        starts = self.index.starts[pairs.codes]
        counts = self.index.starts[pairs.codes + 1] - starts
        postings = runs(starts, counts)
        spots = self._place_of_posting[postings]
        first_spots = pairs.terms * place_count
        spots += np.repeat(first_spots, counts)
        values = np.repeat(pairs.likenesses, counts)
        np.maximum.at(here.reshape(-1), spots, values)
        around = self.places.best_around(here, self.reach)
        return [compress_row(row) for row in around]

    def _find_similar(
        self, terms: Sequence[Term], kinship: Kinship, embed: WordVectors
    ) -> "_Pairs":
        """Pair each term with the stems that are similar to it."""
        least = kinship.least
        forms = [term.form for term in terms]
        all_likenesses = self.index.likenesses(embed)
        numbers, codes, cosines = all_likenesses.of(forms, least)
        above_least = cosines - np.float32(least)
        widest = 1 - least
        likenesses = np.sqrt(above_least * np.float32(1 / widest))
        for code in kinship.excluded_codes:
            likenesses[codes == code] = 0
        return _Pairs(numbers, codes, likenesses)


@dataclass(frozen=True, eq=False, slots=True)
class _Pairs:
    """Pairs of a term, by its number, and a stem, by its code.

    `likenesses` lie in [0, 1].
    """

    terms: Spots
    codes: Spots
    likenesses: Floats

    def followed_by(self, other: "_Pairs") -> "_Pairs":
        """Return these pairs with the other ones appended."""
        return _Pairs(
            terms=np.append(self.terms, other.terms),
            codes=np.append(self.codes, other.codes),
            likenesses=np.append(self.likenesses, other.likenesses),
        )


def _pair_with_own_stems(terms: Sequence[Term]) -> _Pairs:
    """Pair each term with its own stems, at likeness 1."""
    numbers: list[int] = []
    codes: list[int] = []
    for number, term in enumerate(terms):
        for code in term.codes:
            numbers.append(number)
            codes.append(code)
    return _Pairs(
        terms=np.array(numbers, np.intp),
        codes=np.array(codes, np.intp),
        likenesses=np.ones(len(codes), np.float32),
    )
