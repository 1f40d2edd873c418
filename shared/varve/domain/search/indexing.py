"""The inverted index of texts, built new or as an extension of an earlier index."""

from array import array
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from varve.domain.language.named_words import split_words
from varve.domain.language.stems import stem
from varve.domain.language.stopwords import (
    ADDRESSING,
    STOP_WORDS,
    STOP_WORDS_BY_STEMMER,
)
from varve.domain.language.tokens import parts
from varve.domain.search.lexical import Floats, Ints, Lexical, Spots, runs

Numbering = dict[str, int]

MAX_CACHED_STEMS = 65_536
"""The most words of each language whose stems a process caches, about 20 MB.

Candidates from a large store are indexed for each question; the cache makes that cheap.
"""


def index_texts(
    texts: Sequence[str],
    before: Lexical | None = None,
    kept: Spots | None = None,
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
    no_postings = np.full(new_stems, before.starts[-1])
    old_starts = np.append(before.starts, no_postings)
    added_counts = np.diff(added.starts)
    insert_at = np.repeat(old_starts[1:], added_counts)
    old_rows = kept.astype(np.int32)[before.rows]

    def merge(old: Floats, new: Floats) -> Floats:
        size = len(kept) + len(gaps)
        merged = np.empty(size, np.float32)
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
    texts: Sequence[str], codes: Numbering, forms: Numbering
) -> Lexical:
    """Build the index of these texts; add their new stems and forms to those given."""
    read = _Words(texts)
    stems = _stem_words(read, codes, forms)
    text_count = max(1, len(texts))
    # One number per occurrence, so that one sort groups them by stem, then by text.
    occurrences = stems.code * text_count + stems.text
    keys, counts = np.unique(occurrences, return_counts=True)
    code_of_posting, rows = np.divmod(keys, text_count)
    addressing_words = read.count(ADDRESSING)
    share = addressing_words / (3 + read.lengths)
    addressing = np.minimum(1, 4 * share)
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
    read: "_Words", codes: Numbering, forms: Numbering
) -> _StemOccurrences:
    """Stem all words; number new stems in `codes` and record their `forms`.

    Each word is stemmed in the language that most small words of its text belong to.
    """
    languages = len(_STEMS)
    language_of_text = _find_languages(read)
    language_of_token = language_of_text[read.text_of]
    # The number of a word in a language: `languages` numbers for each word.
    word_in_language = languages * read.tokens + language_of_token
    total = languages * len(read.seen)
    distinct = find_distinct(word_in_language, total)
    stems_by_word = []
    for number in distinct.tolist():
        word = read.seen[number // languages]
        stems_by_word.append(_STEMS[number % languages][word])
    found_codes = []
    for form, root in chain.from_iterable(stems_by_word):
        code = codes.setdefault(root, len(codes))
        forms.setdefault(form, code)
        found_codes.append(code)
    lengths = [len(stems) for stems in stems_by_word]
    stem_counts = np.array(lengths, np.int64)
    counts = np.zeros(total, np.int64)
    counts[distinct] = stem_counts
    starts = np.zeros(total, np.int64)
    starts[distinct] = np.cumsum(stem_counts) - stem_counts
    count_of_token = counts[word_in_language]
    start_of_token = starts[word_in_language]
    picked = runs(start_of_token, count_of_token)
    code_array = np.array(found_codes, np.int64)
    return _StemOccurrences(
        code=code_array[picked],
        text=np.repeat(read.text_of, count_of_token),
    )


def _find_languages(read: "_Words") -> Spots:
    """Return the number of the language that most small words of each text belong to."""
    stop_words = STOP_WORDS_BY_STEMMER.values()
    counts = [read.count(words) for words in stop_words]
    languages: Spots = np.argmax(counts, axis=0)
    return languages


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
                found = split_words(text)
                lengths.append(len(found))
                yield found

        all_words = chain.from_iterable(split_texts())
        self.tokens = np.fromiter(
            map(numbers.__getitem__, all_words), np.int32
        )
        self.seen = list(numbers)
        self.lengths = np.array(lengths, np.int32)
        text_numbers = np.arange(len(texts), dtype=np.int32)
        self.text_of = np.repeat(text_numbers, self.lengths)

    def count(self, wanted: Collection[str]) -> npt.NDArray[np.float64]:
        """Return how many words of each text are among the wanted words."""
        is_wanted = map(wanted.__contains__, self.seen)
        weights = np.fromiter(is_wanted, np.float64, len(self.seen))
        text_count = len(self.lengths)
        counts = np.bincount(self.text_of, weights[self.tokens], text_count)
        return counts.astype(np.float64)


def find_distinct(values: Ints, size: int) -> Spots:
    """Return the distinct values in the order of first occurrence; all are below `size`."""
    count = len(values)
    first = np.full(size, count)
    # Assign from last to first, so that the first occurrence of a value remains.
    from_last = np.arange(count)[::-1]
    first[values[::-1]] = from_last
    found = np.flatnonzero(first < count)
    return found[np.argsort(first[found])]


FormsAndStems = tuple[tuple[str, str], ...]


class _Stems(dict[str, FormsAndStems]):
    """Pairs of form and stem by word: the word and its parts, without stop words."""

    def __init__(self, language: str) -> None:
        self._language = language

    def __missing__(self, word: str) -> FormsAndStems:
        if len(self) >= MAX_CACHED_STEMS:
            self.clear()
        pairs = []
        for form in (word, *parts(word)):
            if form not in STOP_WORDS:
                is_word = form.isalpha()
                root = stem(form, self._language) if is_word else form
                pairs.append((form, root))
        stemmed = tuple(pairs)
        self[word] = stemmed
        return stemmed


_STEMS = tuple(_Stems(language) for language in STOP_WORDS_BY_STEMMER)
