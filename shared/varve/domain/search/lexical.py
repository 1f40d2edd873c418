"""Keyword search: the inverted index of a store, and BM25 over it.

BM25 after Robertson and Zaragoza, The Probabilistic Relevance Framework (2009), with k1 0.9 and b 0.4,
the values of Lin et al. for short texts (Anserini's defaults), and an idf that is never negative.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from math import log1p

import numpy as np
import numpy.typing as npt

from varve.domain.language.stems import stems
from varve.domain.language.stopwords import STOP_WORDS
from varve.domain.language.tokens import parts, words

K1, B = 0.9, 0.4
MOST_KNOWN = 4_096
SUBSTANCE = 4
"""A text of so many telling words says something.

"Dana: haha, right!" has two, with the speaker's name.
"""
LIKENESS_DIMENSIONS = 64
"""How many dimensions of a word's vector are compared; the embedder puts the most into the first."""

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]
Numbers = npt.NDArray[np.int64]
Spots = npt.NDArray[np.intp]
Bools = npt.NDArray[np.bool_]
WordVectors = Callable[[Sequence[str]], Floats]
"""Unit vectors of single words, one row each."""


@dataclass(frozen=True, slots=True)
class Term:
    """A word of a question as a store's vocabulary has it.

    `codes` are the codes of its stems; `frequency` is how many of the texts hold it.
    """

    form: str
    codes: tuple[int, ...]
    frequency: int


@dataclass(frozen=True, eq=False)
class Lexical:
    """The inverted index of some texts.

    `codes` numbers the stems. The texts that hold stem `c` are `rows[starts[c]:starts[c + 1]]`, each
    once; `counts` has how often each holds it. `lengths` counts the texts' words without stop words;
    `addressing` is how much of a text speaks of the listener, in [0, 1]. `forms` maps words as they
    were written to the code of their stem, at least one word a stem.
    """

    codes: Mapping[str, int]
    starts: npt.NDArray[np.int64]
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
        return max(1.0, float(self.lengths.mean())) if self.size else 1.0

    @cached_property
    def substance(self) -> Floats:
        """For each text the share of `SUBSTANCE` that its telling words reach, at most 1."""
        share: Floats = np.minimum(self.lengths / np.float32(SUBSTANCE), np.float32(1))
        return share

    def term(self, form: str) -> Term:
        """Return a folded word as this vocabulary has it."""
        known = self.terms.get(form)
        if known is not None:
            return known
        found = (self.codes.get(stem) for stem in stems(form))
        codes = tuple(code for code in found if code is not None)
        held = sum(int(self.starts[code + 1] - self.starts[code]) for code in codes)
        if len(self.terms) >= MOST_KNOWN:
            self.terms.clear()
        term = Term(form, codes, held)
        self.terms[form] = term
        return term

    @cached_property
    def weights(self) -> Floats:
        """The BM25 weight of each posting, without the idf."""
        return saturated(self.counts, self.lengths[self.rows], self.mean_length)

    def span(self, code: int) -> slice:
        """Return where a stem's postings stand."""
        return slice(self.starts[code], self.starts[code + 1])

    def postings(self, codes: Sequence[int]) -> tuple[Ints, Floats]:
        """Return the rows that hold any of the stems, and their weights; a row comes once a stem."""
        if len(codes) == 1:
            span = self.span(codes[0])
            return self.rows[span], self.weights[span]
        spans = [self.span(code) for code in codes]
        if not spans:
            return self.rows[:0], self.weights[:0]
        rows = np.concatenate([self.rows[span] for span in spans])
        weights = np.concatenate([self.weights[span] for span in spans])
        return rows, weights

    def likenesses(self, embed: WordVectors) -> "Likenesses":
        """Return how alike the stems are, built on first use and kept with the index."""
        if not self.kept:
            before = self.earlier[0] if self.earlier else None
            found = _compare_stems(self.forms, len(self.codes), embed, before)
            self.kept.append(found)
        return self.kept[0]


@dataclass(frozen=True, eq=False)
class Likenesses:
    """A unit vector for each stem: the mean of its forms' vectors, less the `centre` of all.

    `vectors` has a column a stem: multiplied from the left, that is three times as fast as rows. A
    longer index goes on from `sums` (the forms' vectors added up by stem, in columns too),
    `written` (how many forms each stem has) and `read` (how many forms of the index were read).
    """

    vectors: Floats
    centre: Floats
    embed: WordVectors = field(repr=False)
    sums: Floats = field(repr=False)
    written: Floats = field(repr=False)
    read: int

    def of(self, forms: Sequence[str], least: float) -> tuple[Spots, Spots, Floats]:
        """Return the pairs of a word and a stem whose cosine is greater than `least`, word by word.

        Three arrays: the words' positions in `forms`, the stems' codes and the cosines.
        """
        vectors = self.embed(forms)[:, :LIKENESS_DIMENSIONS]
        cosines = _unit(vectors - self.centre) @ self.vectors
        near = (cosines > least).ravel().nonzero()[0]
        word, code = np.divmod(near, cosines.shape[1])
        return word, code, cosines.ravel()[near]


def question_forms(text: str) -> tuple[str, ...]:
    """Return the words of a question that are compared, each once, in order.

    Stop words are left out, unless there are no others. A word with joints also has its parts.
    """
    found: list[str] = []
    for word in words(text):
        found += (word, *parts(word))
    telling = dict.fromkeys(form for form in found if form not in STOP_WORDS)
    return tuple(telling or dict.fromkeys(found))


def runs(starts: Numbers, counts: Numbers) -> Numbers:
    """Return runs of consecutive numbers, one after the other: from each start as many as its count."""
    ends = np.cumsum(counts)
    return np.arange(counts.sum()) + np.repeat(starts - ends + counts, counts)


def idf(frequency: int, size: int) -> float:
    """Return the inverse document frequency of a word that `frequency` of `size` texts hold."""
    return log1p((size - frequency + 0.5) / (frequency + 0.5))


def saturated(counts: Floats, lengths: Floats, mean_length: float) -> Floats:
    """Return the BM25 weight of a word in texts that hold it so often and have these lengths."""
    damping = np.float32(K1 * (1 - B)) + lengths * np.float32(K1 * B / mean_length)
    weights = counts * np.float32(K1 + 1) / (counts + damping)
    return weights.astype(np.float32, copy=False)


def _compare_stems(
    forms: Mapping[str, int], count: int, embed: WordVectors, before: Likenesses | None
) -> Likenesses:
    """Build the likenesses of `count` stems, going on from those of a shorter index if it had words."""
    if before is not None and not _has_words(islice(forms, before.read)):
        before = None
    new = list(islice(forms, before.read if before else 0, None))
    written = [form for form in new if form.isalpha()]
    if before is None:
        written = written or new
        vectors = _embed_words(written, embed, 0)
        sums = np.zeros((vectors.shape[1], count), np.float32)
        amounts = np.zeros(count, np.float32)
    else:
        width, known = before.sums.shape
        vectors = _embed_words(written, embed, width)
        sums = np.zeros((width, count), np.float32)
        amounts = np.zeros(count, np.float32)
        sums[:, :known] = before.sums
        amounts[:known] = before.written
    codes = [forms[form] for form in written]
    np.add.at(sums.T, codes, vectors)
    np.add.at(amounts, codes, np.float32(1))
    centre: Floats = sums.sum(axis=1) / np.float32(amounts.sum())
    unit = sums - centre[:, None] * amounts
    unit /= np.maximum(np.linalg.norm(unit, axis=0), np.float32(1e-9))
    return Likenesses(unit, centre, embed, sums, amounts, len(forms))


def _has_words(forms: Iterable[str]) -> bool:
    return any(form.isalpha() for form in forms)


def _embed_words(words: Sequence[str], embed: WordVectors, width: int) -> Floats:
    if not words:
        return np.zeros((0, width), np.float32)
    return embed(words)[:, :LIKENESS_DIMENSIONS]


def _unit(vectors: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    unit: Floats = vectors / np.maximum(lengths, np.float32(1e-9))
    return unit
