"""Keyword search: words as they are compared, the inverted index of a store, and BM25 over it.

BM25 after Robertson and Zaragoza, The Probabilistic Relevance Framework (2009), with k1 0.9 and b 0.4,
the values of Lin et al. for short texts (Anserini's defaults), and an idf that is never negative.
"""

from collections.abc import Callable, Mapping, Sequence
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
"""So many telling words say something; "Dana: haha, right!" has two, the speaker's name among them."""
LIKENESS_DIMENSIONS = 64
"""Of a word's vector: the embedder is trained so that its first dimensions alone will do."""

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]
Numbers = npt.NDArray[np.int64]
Spots = npt.NDArray[np.intp]
Bools = npt.NDArray[np.bool_]
WordVectors = Callable[[Sequence[str]], Floats]
"""Unit vectors of single words, one row each."""


@dataclass(frozen=True, slots=True)
class Term:
    """A word of a question: its form, the codes that it may have in a store's vocabulary, and how many of
    the texts hold it."""

    form: str
    codes: tuple[int, ...]
    frequency: int


@dataclass(frozen=True, eq=False)
class Lexical:
    """The inverted index of some texts.

    `codes` numbers the stems; the texts that hold stem `c` are `rows[starts[c]:starts[c + 1]]`,
    each once, with how often each does in `counts`. `lengths` are the texts' words without stop words;
    `addressing` is how much of a text speaks of the listener, in [0, 1]. `forms` has one or more words
    as they were written for each stem.
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
        """How many texts there are."""
        return len(self.lengths)

    @cached_property
    def mean_length(self) -> float:
        """The mean of the lengths, at least 1."""
        return max(1.0, float(self.lengths.mean())) if self.size else 1.0

    @cached_property
    def substance(self) -> Floats:
        """1 for each text of `SUBSTANCE` telling words or more, and less the fewer it has."""
        share: Floats = np.minimum(self.lengths / np.float32(SUBSTANCE), np.float32(1))
        return share

    def term(self, form: str) -> Term:
        """The folded word as this vocabulary has it."""
        known = self.terms.get(form)
        if known is None:
            found = (self.codes.get(stem) for stem in stems(form))
            codes = tuple(code for code in found if code is not None)
            held = sum(int(self.starts[code + 1] - self.starts[code]) for code in codes)
            if len(self.terms) >= MOST_KNOWN:
                self.terms.clear()
            known = self.terms[form] = Term(form, codes, held)
        return known

    @cached_property
    def weights(self) -> Floats:
        """BM25's weight of each posting, without the idf."""
        return saturated(self.counts, self.lengths[self.rows], self.mean_length)

    def span(self, code: int) -> slice:
        """Where a stem's postings stand."""
        return slice(self.starts[code], self.starts[code + 1])

    def postings(self, codes: Sequence[int]) -> tuple[Ints, Floats]:
        """The rows that hold any of the stems, and the weights; a row may come once for each stem."""
        if len(codes) == 1:
            span = self.span(codes[0])
            return self.rows[span], self.weights[span]
        spans = [self.span(code) for code in codes]
        if not spans:
            return self.rows[:0], self.weights[:0]
        return np.concatenate([self.rows[s] for s in spans]), np.concatenate(
            [self.weights[s] for s in spans]
        )

    def likenesses(self, embed: WordVectors) -> "Likenesses":
        """How alike the stems are. Made once for each index and kept with it."""
        if not self.kept:
            before = self.earlier[0] if self.earlier else None
            self.kept.append(_likenesses(self.forms, len(self.codes), embed, before))
        return self.kept[0]


@dataclass(frozen=True, eq=False)
class Likenesses:
    """A unit vector for each stem, the mean of its forms' about the `centre` of them all.

    `vectors` has a column for each stem: multiplied from the left, that is three times as fast as rows.
    `sums`, in columns too, are the forms' vectors added up by stem, `written` how many forms each has, and
    `read` how many of the index's forms were looked at; from these a longer index goes on.
    """

    vectors: Floats
    centre: Floats
    embed: WordVectors = field(repr=False)
    sums: Floats = field(repr=False)
    written: Floats = field(repr=False)
    read: int

    def of(self, forms: Sequence[str], least: float) -> tuple[Spots, Spots, Floats]:
        """Which stems are alike to which of the words: the words' numbers, the stems' codes and the cosines.

        Those greater than the least, about the same centre, word by word.
        """
        vectors = self.embed(forms)[:, :LIKENESS_DIMENSIONS]
        cosines = _unit(vectors - self.centre) @ self.vectors
        near = (cosines > least).ravel().nonzero()[0]
        return *np.divmod(near, cosines.shape[1]), cosines.ravel()[near]


def question_forms(text: str) -> tuple[str, ...]:
    """The words of a question that are compared, each once, in order; all of them where none says much."""
    found = [form for word in words(text) for form in (word, *parts(word))]
    telling = dict.fromkeys(form for form in found if form not in STOP_WORDS)
    return tuple(telling or dict.fromkeys(found))


def runs(starts: Numbers, counts: Numbers) -> Numbers:
    """Each start and the numbers that follow it, so many as its count says, one run after the other."""
    ends = np.cumsum(counts)
    return np.arange(counts.sum()) + np.repeat(starts - ends + counts, counts)


def idf(frequency: int, size: int) -> float:
    """How much a word tells that `frequency` of `size` texts hold."""
    return log1p((size - frequency + 0.5) / (frequency + 0.5))


def saturated(counts: Floats, lengths: Floats, mean_length: float) -> Floats:
    """BM25's weight of a word by how often a text has it, for texts of these lengths."""
    damping = np.float32(K1 * (1 - B)) + lengths * np.float32(K1 * B / mean_length)
    weights = counts * np.float32(K1 + 1) / (counts + damping)
    return weights.astype(np.float32, copy=False)


def _likenesses(
    forms: Mapping[str, int], count: int, embed: WordVectors, before: Likenesses | None
) -> Likenesses:
    if before is not None and not any(map(str.isalpha, islice(forms, before.read))):
        before = None
    new = list(islice(forms, before.read if before else 0, None))
    written = [form for form in new if form.isalpha()] or ([] if before else new)
    width, first = before.sums.shape if before else (0, 0)
    vectors = (
        embed(written)[:, :LIKENESS_DIMENSIONS]
        if written
        else np.zeros((0, width), np.float32)
    )
    sums, amounts = (
        np.zeros((vectors.shape[1], count), np.float32),
        np.zeros(count, np.float32),
    )
    if before:
        sums[:, :first], amounts[:first] = before.sums, before.written
    codes = [forms[form] for form in written]
    np.add.at(sums.T, codes, vectors)
    np.add.at(amounts, codes, np.float32(1))
    centre: Floats = sums.sum(axis=1) / np.float32(amounts.sum())
    unit = sums - centre[:, None] * amounts
    unit /= np.maximum(np.linalg.norm(unit, axis=0), np.float32(1e-9))
    return Likenesses(unit, centre, embed, sums, amounts, len(forms))


def _unit(vectors: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    unit: Floats = vectors / np.maximum(lengths, np.float32(1e-9))
    return unit
