"""The inverted index of texts, made at once or on top of an earlier one."""

from array import array
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt
import Stemmer

from varve.domain.language.stopwords import (
    ADDRESSING,
    STOP_WORDS,
    STOP_WORDS_BY_STEMMER,
)
from varve.domain.language.tokens import parts, words
from varve.domain.search.lexical import Ints, Lexical, Spots, runs

MOST_STEMMED = 65_536
"""Words of each language that a process remembers with their stems, some 20 MB: candidates are read anew for
each question."""


def index_texts(
    texts: Sequence[str], before: Lexical | None = None, kept: Spots | None = None
) -> Lexical:
    """The index of the texts, by their places in the sequence; also of those indexed `before`.

    `kept` says where the latter stand among all (None: first); the new ones fill the gaps in their order.
    """
    if before is None:
        return _indexed(texts, {}, {})
    added = _indexed(texts, dict(before.codes), dict(before.forms))
    places = np.arange(before.size + added.size)
    kept = places[: before.size] if kept is None else kept
    gaps = np.delete(places, kept)
    new_stems = len(added.codes) - len(before.codes)
    old = np.append(before.starts, np.full(new_stems, before.starts[-1]))
    ends = np.repeat(old[1:], np.diff(added.starts))
    lengths, addressing = (
        np.empty(len(places), np.float32),
        np.empty(len(places), np.float32),
    )
    lengths[kept], lengths[gaps] = before.lengths, added.lengths
    addressing[kept], addressing[gaps] = before.addressing, added.addressing
    return Lexical(
        codes=added.codes,
        starts=old + added.starts,
        rows=np.insert(kept.astype(np.int32)[before.rows], ends, gaps[added.rows]),
        counts=np.insert(before.counts, ends, added.counts),
        lengths=lengths,
        addressing=addressing,
        forms=added.forms,
        kept=[],
        earlier=list(before.kept),
    )


def _indexed(
    texts: Sequence[str], codes: dict[str, int], forms: dict[str, int]
) -> Lexical:
    """The index of these texts alone; their new stems and forms are added to those given."""
    read, size = _Words(texts), max(1, len(texts))
    # A text's language is that of most of its stop words; each word is stemmed once for each language.
    told = [read.count(stop_words) for stop_words in STOP_WORDS_BY_STEMMER.values()]
    language, languages = np.argmax(told, axis=0), len(told)
    stemmed = languages * read.tokens + language[read.text_of]
    different = by_first(stemmed, languages * len(read.seen))
    found = [
        _STEMS[one % languages][read.seen[one // languages]]
        for one in different.tolist()
    ]
    pairs = list(chain.from_iterable(found))
    coded = [codes.setdefault(stem, len(codes)) for _, stem in pairs]
    for (form, _), code in zip(pairs, coded, strict=True):
        forms.setdefault(form, code)
    amounts, starts = np.zeros((2, languages * len(read.seen)), np.int64)
    amounts[different] = list(map(len, found))
    starts[different] = np.cumsum(amounts[different]) - amounts[different]
    amount = amounts[stemmed]
    flat = np.array(coded, np.int64)[runs(starts[stemmed], amount)]
    row_of = np.repeat(read.text_of, amount)
    keys, counts = np.unique(flat * size + row_of, return_counts=True)
    stems_of, rows = np.divmod(keys, size)
    spoken = read.count(ADDRESSING)
    return Lexical(
        codes=codes,
        starts=np.searchsorted(stems_of, np.arange(len(codes) + 1)),
        rows=rows.astype(np.int32),
        counts=counts.astype(np.float32),
        lengths=np.bincount(row_of, minlength=len(texts)).astype(np.float32),
        addressing=np.minimum(1, 4 * spoken / (3 + read.lengths)).astype(np.float32),
        forms=forms,
    )


class _Words:
    """The words of texts: `seen` are the different ones, `tokens` their numbers, text by text.

    `text_of` is the text of each token, `lengths` how many each text has.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        numbers: defaultdict[str, int] = defaultdict(lambda: len(numbers))
        lengths = array("i")

        def read() -> Iterator[list[str]]:
            for text in texts:
                found = words(text)
                lengths.append(len(found))
                yield found

        self.tokens = np.fromiter(
            map(numbers.__getitem__, chain.from_iterable(read())), np.int32
        )
        self.seen, self.lengths = list(numbers), np.array(lengths, np.int32)
        self.text_of = np.repeat(np.arange(len(texts), dtype=np.int32), self.lengths)

    def count(self, meant: Collection[str]) -> npt.NDArray[np.float64]:
        """How many of each text's words are meant."""
        counted = np.fromiter(
            map(meant.__contains__, self.seen), np.float64, len(self.seen)
        )
        return np.bincount(
            self.text_of, counted[self.tokens], len(self.lengths)
        ).astype(np.float64)


def by_first(values: Ints, size: int) -> Spots:
    """The different ones of values below the size, in the order in which they first occur."""
    first = np.full(size, len(values))
    first[values[::-1]] = np.arange(len(values))[
        ::-1
    ]  # of several the last stays, which is the first
    found = np.flatnonzero(first < len(values))
    return found[np.argsort(first[found])]


class _Stems(dict[str, tuple[tuple[str, str], ...]]):
    """What a word is found by, but for stop words: itself and its parts, each with its stem."""

    def __init__(self, language: str) -> None:
        self._stem = Stemmer.Stemmer(language).stemWord

    def __missing__(self, word: str) -> tuple[tuple[str, str], ...]:
        if len(self) >= MOST_STEMMED:
            self.clear()
        found = (form for form in (word, *parts(word)) if form not in STOP_WORDS)
        self[word] = stemmed = tuple(
            (form, self._stem(form) if form.isalpha() else form) for form in found
        )
        return stemmed


_STEMS = tuple(_Stems(stemmer) for stemmer in STOP_WORDS_BY_STEMMER)
