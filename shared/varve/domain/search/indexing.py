"""The inverted index of texts, built new or as an extension of an earlier index."""

from array import array
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt
import Stemmer

from varve.domain.search.lexical import (
    Floats,
    Ints,
    Lexical,
    Spots,
    parts,
    runs,
    words,
)
from varve.domain.search.stopwords import ADDRESSING, ENGLISH, SPANISH, STOP_WORDS

MAX_CACHED_STEMS = 65_536
"""The most words of each language whose stems a process caches, about 20 MB.

Candidates from a large store are indexed for each question; the cache makes that cheap.
"""


def index_texts(
    texts: Sequence[str], before: Lexical | None = None, kept: Spots | None = None
) -> Lexical:
    """Build the index of the texts; extend the index `before` if given.

    `kept` holds the place of each text of `before` among all texts (None: they come
    first). The new texts fill the gaps in their order.
    """
    if before is None:
        return _build_index(texts, {}, {})
    added = _build_index(texts, dict(before.codes), dict(before.forms))
    places = np.arange(before.size + added.size)
    if kept is None:
        kept = places[: before.size]
    return _merge_indexes(before, added, kept, np.delete(places, kept))


def _merge_indexes(
    before: Lexical, added: Lexical, kept: Spots, gaps: Spots
) -> Lexical:
    """Merge two indexes whose texts have the places `kept` and `gaps`.

    The codes of `added` extend those of `before`.
    """
    new_stems = len(added.codes) - len(before.codes)
    old_starts = np.append(before.starts, np.full(new_stems, before.starts[-1]))
    insert_at = np.repeat(old_starts[1:], np.diff(added.starts))
    old_rows = kept.astype(np.int32)[before.rows]

    def merge(old: Floats, new: Floats) -> Floats:
        merged = np.empty(len(kept) + len(gaps), np.float32)
        merged[kept] = old
        merged[gaps] = new
        return merged

    return Lexical(
        codes=added.codes,
        starts=old_starts + added.starts,
        rows=np.insert(old_rows, insert_at, gaps[added.rows]),
        counts=np.insert(before.counts, insert_at, added.counts),
        lengths=merge(before.lengths, added.lengths),
        addressing=merge(before.addressing, added.addressing),
        forms=added.forms,
        kept=[],
        earlier=list(before.kept),
    )


def _build_index(
    texts: Sequence[str], codes: dict[str, int], forms: dict[str, int]
) -> Lexical:
    """Build the index of these texts; add their new stems and forms to those given."""
    read = _Words(texts)
    stems = _stem_words(read, codes, forms)
    text_count = max(1, len(texts))
    # One number per occurrence, so that one sort groups them by stem, then by text.
    keys, counts = np.unique(stems.code * text_count + stems.text, return_counts=True)
    code_of_posting, rows = np.divmod(keys, text_count)
    addressing_words = read.count(ADDRESSING)
    addressing = np.minimum(1, 4 * addressing_words / (3 + read.lengths))
    lengths = np.bincount(stems.text, minlength=len(texts))
    return Lexical(
        codes=codes,
        starts=np.searchsorted(code_of_posting, np.arange(len(codes) + 1)),
        rows=rows.astype(np.int32),
        counts=counts.astype(np.float32),
        lengths=lengths.astype(np.float32),
        addressing=addressing.astype(np.float32),
        forms=forms,
    )


@dataclass(frozen=True, slots=True)
class _StemOccurrences:
    """The occurrences of stems in texts: the `code` and the `text` of each."""

    code: npt.NDArray[np.int64]
    text: Ints


def _stem_words(
    read: "_Words", codes: dict[str, int], forms: dict[str, int]
) -> _StemOccurrences:
    """Stem all words; number new stems in `codes` and record their `forms`.

    Each word is stemmed in the language that most small words of its text belong to.
    """
    is_spanish = read.count(SPANISH) > read.count(ENGLISH)
    # The number of a word in a language: 2 * word for English, 1 more for Spanish.
    word_in_language = 2 * read.tokens + is_spanish[read.text_of]
    total = 2 * len(read.seen)
    distinct = find_distinct(word_in_language, total)
    stems_by_word = [
        _STEMS[number % 2][read.seen[number // 2]] for number in distinct.tolist()
    ]
    found_codes = []
    for form, stem in chain.from_iterable(stems_by_word):
        code = codes.setdefault(stem, len(codes))
        forms.setdefault(form, code)
        found_codes.append(code)
    counts = np.zeros(total, np.int64)
    starts = np.zeros(total, np.int64)
    counts[distinct] = list(map(len, stems_by_word))
    starts[distinct] = np.cumsum(counts[distinct]) - counts[distinct]
    count_of_token = counts[word_in_language]
    picked = runs(starts[word_in_language], count_of_token)
    return _StemOccurrences(
        code=np.array(found_codes, np.int64)[picked],
        text=np.repeat(read.text_of, count_of_token),
    )


class _Words:
    """The words of texts.

    `seen` holds the distinct words, `tokens` their numbers text by text, `text_of` the
    text of each token, and `lengths` the number of tokens of each text.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        numbers: defaultdict[str, int] = defaultdict(lambda: len(numbers))
        lengths = array("i")

        def split_texts() -> Iterator[list[str]]:
            for text in texts:
                found = words(text)
                lengths.append(len(found))
                yield found

        all_words = chain.from_iterable(split_texts())
        self.tokens = np.fromiter(map(numbers.__getitem__, all_words), np.int32)
        self.seen = list(numbers)
        self.lengths = np.array(lengths, np.int32)
        self.text_of = np.repeat(np.arange(len(texts), dtype=np.int32), self.lengths)

    def count(self, wanted: Collection[str]) -> npt.NDArray[np.float64]:
        """Return how many words of each text are among the wanted words."""
        is_wanted = map(wanted.__contains__, self.seen)
        weights = np.fromiter(is_wanted, np.float64, len(self.seen))
        counts = np.bincount(self.text_of, weights[self.tokens], len(self.lengths))
        return counts.astype(np.float64)


def find_distinct(values: Ints, size: int) -> Spots:
    """Return the distinct values in the order of first occurrence; all are below `size`."""
    first = np.full(size, len(values))
    # Assign from last to first, so that the first occurrence of a value remains.
    first[values[::-1]] = np.arange(len(values))[::-1]
    found = np.flatnonzero(first < len(values))
    return found[np.argsort(first[found])]


class _Stems(dict[str, tuple[tuple[str, str], ...]]):
    """Pairs of form and stem by word: the word and its parts, without stop words."""

    def __init__(self, language: str) -> None:
        self._stem = Stemmer.Stemmer(language).stemWord

    def __missing__(self, word: str) -> tuple[tuple[str, str], ...]:
        if len(self) >= MAX_CACHED_STEMS:
            self.clear()
        pairs = []
        for form in (word, *parts(word)):
            if form not in STOP_WORDS:
                pairs.append((form, self._stem(form) if form.isalpha() else form))
        stemmed = tuple(pairs)
        self[word] = stemmed
        return stemmed


_STEMS = (_Stems("english"), _Stems("spanish"))
