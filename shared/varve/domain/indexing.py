"""The inverted index of texts, made at once or on top of an earlier one."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import Stemmer

from varve.domain.lexical import Lexical, is_spanish, parts, words
from varve.domain.stopwords import ADDRESSING, STOP_WORDS

_ENGLISH, _SPANISH = Stemmer.Stemmer("english"), Stemmer.Stemmer("spanish")


def index_texts(
    texts: Sequence[str], before: Lexical | None = None, kept: npt.NDArray[np.intp] | None = None
) -> Lexical:
    """The index of the texts, by their places in the sequence; also of those indexed `before`.

    `kept` says where the latter stand among all (None: first); the new ones fill the gaps in their order.
    """
    if before is None:
        return _indexed(texts, _Reader({}, {}))
    added = _indexed(texts, _Reader(dict(before.codes), dict(before.forms)))
    places = np.arange(before.size + added.size)
    kept = places[: before.size] if kept is None else kept
    gaps = np.delete(places, kept)
    old = np.diff(before.starts, append=np.full(len(added.codes) - len(before.codes), before.starts[-1]))
    new = np.diff(added.starts)
    starts = np.concatenate(([0], np.cumsum(old + new)))
    rows, counts = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.float32)
    known = np.arange(len(before.rows)) + np.repeat(starts[:-1] - np.cumsum(old) + old, old)
    others = np.arange(len(added.rows)) + np.repeat(starts[:-1] + old - np.cumsum(new) + new, new)
    rows[known], counts[known] = kept[before.rows], before.counts
    rows[others], counts[others] = gaps[added.rows], added.counts
    lengths, addressing = np.empty(len(places), np.float32), np.empty(len(places), np.float32)
    lengths[kept], lengths[gaps] = before.lengths, added.lengths
    addressing[kept], addressing[gaps] = before.addressing, added.addressing
    return Lexical(
        codes=added.codes,
        starts=starts,
        rows=rows,
        counts=counts,
        lengths=lengths,
        addressing=addressing,
        forms=added.forms,
        kept=[],
        earlier=list(before.kept),
    )


def _indexed(texts: Sequence[str], reader: "_Reader") -> Lexical:
    lists = [reader.read(text) for text in texts]
    lengths = np.fromiter(map(len, lists), np.float32, len(lists))
    row_of = np.repeat(np.arange(len(lists), dtype=np.int64), lengths.astype(np.int64))
    flat = np.fromiter((code for codes in lists for code in codes), np.int64, len(row_of))
    keys, counts = np.unique(flat * max(1, len(lists)) + row_of, return_counts=True)
    stems_of, rows = np.divmod(keys, max(1, len(lists)))
    starts = np.searchsorted(stems_of, np.arange(len(reader.codes) + 1))
    return Lexical(
        codes=reader.codes,
        starts=starts,
        rows=rows.astype(np.int32),
        counts=counts.astype(np.float32),
        lengths=lengths,
        addressing=np.array(reader.addressing, np.float32),
        forms=reader.forms,
    )


class _Reader:
    """Reads texts into codes, stemming each form once for each language."""

    def __init__(self, codes: dict[str, int], forms: dict[str, int]) -> None:
        self.codes = codes
        self.forms = forms
        self.addressing: list[float] = []
        self._known: tuple[dict[str, list[int]], dict[str, list[int]]] = ({}, {})

    def read(self, text: str) -> list[int]:
        """The codes of a text's words, in order."""
        found = words(text)
        spoken = sum(word in ADDRESSING for word in found)
        self.addressing.append(min(1.0, 4 * spoken / (3 + len(found))))
        spanish = is_spanish(found)
        known = self._known[spanish]
        codes: list[int] = []
        for word in found:
            of_word = known.get(word)
            if of_word is None:
                of_word = known[word] = self._codes(word, spanish)
            codes += of_word
        return codes

    def _codes(self, word: str, spanish: bool) -> list[int]:
        stemmer = _SPANISH if spanish else _ENGLISH
        kept = [word, *parts(word)]
        codes = []
        for form in kept:
            if form not in STOP_WORDS:
                stem = stemmer.stemWord(form) if form.isalpha() else form
                code = self.codes.setdefault(stem, len(self.codes))
                self.forms.setdefault(form, code)
                codes.append(code)
        return codes
