"""Keyword search: the inverted index of a store, and BM25 over it.

BM25 after Robertson and Zaragoza, The Probabilistic Relevance Framework (2009). k1 is 0.9
and b is 0.4, the values of Lin et al. for short texts (Anserini's defaults). The idf is
never negative.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from math import log1p

import numpy as np
import numpy.typing as npt

from varve.domain.language.named_words import split_words
from varve.domain.language.stems import stems
from varve.domain.language.stopwords import STOP_WORDS
from varve.domain.language.tokens import parts

K1 = 0.9
B = 0.4
MAX_CACHED_TERMS = 4_096
SUBSTANCE = 4
"""The number of telling words from which on a text has full substance.

"Dana: haha, right!" has two, with the speaker's name.
"""
LIKENESS_DIMENSIONS = 64
"""How many dimensions of a word's vector are compared.

The embedder puts the most meaning into the first ones.
"""
MIN_LENGTH = np.float32(1e-9)

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]
Numbers = npt.NDArray[np.int64]
Spots = npt.NDArray[np.intp]
Bools = npt.NDArray[np.bool_]
WordVectors = Callable[[Sequence[str]], Floats]
"""Unit vectors of single words, one row each."""


@dataclass(frozen=True, slots=True)
class Term:
    """A word of a question in the vocabulary of a store.

    `codes` are the codes of its stems; `frequency` is the number of texts with any of
    them, counted once per stem.
    """

    form: str
    codes: tuple[int, ...]
    frequency: int


@dataclass(frozen=True, eq=False)
class Lexical:
    """The inverted index of some texts.

    - `codes`: the number of each stem.
    - `starts`, `rows`, `counts`: the postings. `rows[starts[c]:starts[c + 1]]` are the
      texts that contain stem `c`, each once; `counts` has how often each contains it.
    - `lengths`: the number of words of each text, without stop words.
    - `addressing`: the share of each text that addresses the listener, in [0, 1].
    - `forms`: the code of the stem of each word as written, at least one word a stem.
    - `terms`: a cache of words of questions.
    - `kept`: the likenesses of the stems once they are computed; `earlier`: those of the
      shorter index that this one extends. Both have at most one item.
    """

    codes: Mapping[str, int]
    starts: Numbers
    rows: Ints
    counts: Floats
    lengths: Floats
    addressing: Floats
    forms: Mapping[str, int] = field(repr=False)
    terms: dict[str, Term] = field(default_factory=dict, repr=False)
    kept: list["Likenesses"] = field(default_factory=list, repr=False)
    earlier: Sequence["Likenesses"] = field(default=(), repr=False)

    @property
    def size(self) -> int:
        """The number of texts."""
        return len(self.lengths)

    @cached_property
    def mean_length(self) -> float:
        """The mean of the lengths, at least 1."""
        if not self.size:
            return 1.0
        mean = float(self.lengths.mean())
        return max(1.0, mean)

    @cached_property
    def substance(self) -> Floats:
        """For each text the share of `SUBSTANCE` that its telling words reach, at most 1."""
        share = self.lengths / np.float32(SUBSTANCE)
        substance: Floats = np.minimum(share, np.float32(1))
        return substance

    def term(self, form: str) -> Term:
        """Return the term of a folded word; cache it."""
        term = self.terms.get(form)
        if term is None:
            term = self._build_term(form)
            if len(self.terms) >= MAX_CACHED_TERMS:
                self.terms.clear()
            self.terms[form] = term
        return term

    def _build_term(self, form: str) -> Term:
        codes = []
        frequency = 0
        for stem in stems(form):
            if stem in self.codes:
                code = self.codes[stem]
                codes.append(code)
                postings = self.span(code)
                frequency += int(postings.stop - postings.start)
        return Term(form, tuple(codes), frequency)

    @cached_property
    def weights(self) -> Floats:
        """The BM25 weight of each posting, without the idf."""
        lengths = self.lengths[self.rows]
        return weigh_counts(self.counts, lengths, self.mean_length)

    def span(self, code: int) -> slice:
        """Return the slice of a stem's postings."""
        start = self.starts[code]
        end = self.starts[code + 1]
        return slice(start, end)

    def postings(self, codes: Sequence[int]) -> tuple[Ints, Floats]:
        """Return the rows that contain any of the stems, and their weights.

        A row comes once for each of the stems that it contains.
        """
        if not codes:
            return self.rows[:0], self.weights[:0]
        spans = [self.span(code) for code in codes]
        rows = [self.rows[span] for span in spans]
        weights = [self.weights[span] for span in spans]
        if len(spans) == 1:
            return rows[0], weights[0]  # views, not copies
        return np.concatenate(rows), np.concatenate(weights)

    def likenesses(self, embed: WordVectors) -> "Likenesses":
        """Return the likenesses of the stems; compute them on first use."""
        if not self.kept:
            before = self.earlier[0] if self.earlier else None
            count = len(self.codes)
            found = _compare_stems(self.forms, count, embed, before)
            self.kept.append(found)
        return self.kept[0]


@dataclass(frozen=True, slots=True)
class FormSums:
    """The vectors of written words, added up by stem.

    `vectors` has a column for each stem; `counts` has the number of words of each stem.
    """

    vectors: Floats
    counts: Floats

    def add(self, codes: Sequence[int], vectors: Floats) -> None:
        """Add the vectors of words, given the codes of their stems."""
        np.add.at(self.vectors.T, codes, vectors)
        np.add.at(self.counts, codes, np.float32(1))

    def widen(self, count: int) -> "FormSums":
        """Return a copy with zeros for new stems, up to `count` stems."""
        width, old_count = self.vectors.shape
        wide = create_sums(width, count)
        wide.vectors[:, :old_count] = self.vectors
        wide.counts[:old_count] = self.counts
        return wide


def create_sums(width: int, count: int) -> FormSums:
    """Return zeros for `count` stems in `width` dimensions."""
    vectors = np.zeros((width, count), np.float32)
    return FormSums(vectors, np.zeros(count, np.float32))


@dataclass(frozen=True, eq=False)
class Likenesses:
    """A unit vector for each stem: the mean of its forms' vectors, less the `centre` of all.

    `vectors` has a column for each stem: multiplied from the left, that is three times as
    fast as rows. A longer index extends `sums` by the forms after the first `read`.
    """

    vectors: Floats
    centre: Floats
    embed: WordVectors = field(repr=False)
    sums: FormSums = field(repr=False)
    read: int

    def of(
        self, forms: Sequence[str], least: float
    ) -> tuple[Spots, Spots, Floats]:
        """Return the pairs of a word and a stem whose cosine is above `least`.

        The result is three arrays, ordered by word: the words' positions in `forms`, the
        stems' codes and the cosines.
        """
        vectors = self.embed(forms)[:, :LIKENESS_DIMENSIONS]
        centred: Floats = vectors - self.centre
        lengths = np.linalg.norm(centred, axis=-1, keepdims=True)
        centred /= np.maximum(lengths, MIN_LENGTH)
        cosines = centred @ self.vectors
        flat = cosines.ravel()
        near = (flat > least).nonzero()[0]
        word, code = np.divmod(near, cosines.shape[1])
        return word, code, flat[near]


def question_forms(text: str) -> tuple[str, ...]:
    """Return the words of a question that are compared, each once, in order.

    Stop words are left out, unless there are no others. A word with joints also has its parts.
    """
    found: list[str] = []
    for word in split_words(text):
        found.append(word)
        found += parts(word)
    distinct = tuple(dict.fromkeys(found))
    telling = tuple(form for form in distinct if form not in STOP_WORDS)
    return telling or distinct


def runs(starts: Numbers, counts: Numbers) -> Numbers:
    """Return runs of consecutive numbers, one run after the other.

    Each run begins at its start and has as many numbers as its count.
    """
    run_ends = np.cumsum(counts)
    offsets = starts - run_ends + counts
    numbers = np.arange(counts.sum())
    return numbers + np.repeat(offsets, counts)


def idf(frequency: int, size: int) -> float:
    """Return the inverse document frequency of a word that occurs in `frequency` of `size` texts."""
    without = size - frequency
    return log1p((without + 0.5) / (frequency + 0.5))


def weigh_counts(
    counts: Floats, lengths: Floats, mean_length: float
) -> Floats:
    """Return the BM25 weight of a word from its counts in texts of these lengths."""
    constant = np.float32(K1 * (1 - B))
    per_word = np.float32(K1 * B / mean_length)
    damping = constant + lengths * per_word
    weights = counts * np.float32(K1 + 1) / (counts + damping)
    return weights.astype(np.float32, copy=False)


def _compare_stems(
    forms: Mapping[str, int],
    count: int,
    embed: WordVectors,
    before: Likenesses | None,
) -> Likenesses:
    """Compute the likenesses of `count` stems.

    Extend those of a shorter index if it had words.
    """
    if before is not None and _has_words(islice(forms, before.read)):
        written = _list_words(islice(forms, before.read, None))
        sums = before.sums.widen(count)
    else:
        written = _list_words(forms) or list(forms)
        sums = None
    if written:
        vectors = embed(written)[:, :LIKENESS_DIMENSIONS]
        sums = sums or create_sums(vectors.shape[1], count)
        sums.add([forms[form] for form in written], vectors)
    return _build_likenesses(sums or create_sums(0, count), embed, len(forms))


def _build_likenesses(
    sums: FormSums, embed: WordVectors, read: int
) -> Likenesses:
    form_count = np.float32(sums.counts.sum())
    centre: Floats = sums.vectors.sum(axis=1) / form_count
    # The direction of a sum is that of the mean.
    unit = sums.vectors - centre[:, None] * sums.counts
    lengths = np.linalg.norm(unit, axis=0)
    unit /= np.maximum(lengths, MIN_LENGTH)
    return Likenesses(unit, centre, embed, sums, read)


def _has_words(forms: Iterable[str]) -> bool:
    return any(form.isalpha() for form in forms)


def _list_words(forms: Iterable[str]) -> list[str]:
    """Return the forms that are words, not codes or numbers."""
    return [form for form in forms if form.isalpha()]
