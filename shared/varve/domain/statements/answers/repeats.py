"""Where a store says what a summary's sentence says: in the same words, else in its sources."""

from collections.abc import Iterable, Sequence

import numpy as np

from varve.domain.extractive import sentences
from varve.domain.listed_lines import join_lines
from varve.domain.search.columns import Columns
from varve.domain.search.lexical import Spots
from varve.domain.statements.answers.summary_sentences import (
    SummarySentence,
    fold_words,
)
from varve.domain.statements.texts.particulars import (
    Particulars,
    count_shared,
    read_particulars,
)

MAX_COMPARED = 16
"""So many records, the newest, are compared with one sentence."""
LEAST_SHARE = 0.6
"""The least share of a sentence's telling words that a source has if it says the same."""
MIN_SHARED = 2


class StoreWords:
    """The records of a store by what they say, kept with its columns."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._wordings: dict[int, frozenset[str]] = {}

    def find_same(
        self, sentence: SummarySentence, user: str | None
    ) -> int | None:
        """Return the newest fact or turn of a user that has a sentence in the same words.

        None as the user: of any user. None: there is none.
        """
        found = self._find_with(read_particulars(sentence.said))
        told: list[int] = [
            row for row in found.tolist() if self._is_told(row, user)
        ]
        times = self._columns.event_times
        told.sort(key=times.item, reverse=True)
        wording = sentence.wording
        for row in told[:MAX_COMPARED]:
            if wording in self._read_wordings(row):
                return row
        return None

    def _find_with(self, words: Particulars) -> Spots:
        """Return the rows that have all telling words, in some form."""
        lexical = self._columns.lexical
        nothing: Spots = np.zeros(0, np.intp)
        found: Spots | None = None
        for word in words.telling:
            having = [
                lexical.rows[lexical.span(lexical.codes[stem])]
                for stem in word.stems
                if stem in lexical.codes
            ]
            rows = np.concatenate([nothing, *having]).astype(np.intp)
            found = rows if found is None else np.intersect1d(found, rows)
        return nothing if found is None else np.unique(found)

    def _is_told(self, row: int, user: str | None) -> bool:
        columns = self._columns
        is_told = columns.is_fact.item(row) or columns.is_turn.item(row)
        return is_told and user in (None, columns.users.name(row))

    def _read_wordings(self, row: int) -> frozenset[str]:
        """Return the folded sentences of a record, without the speaker's name."""
        if row not in self._wordings:
            said = join_lines(self._read_words(row))
            self._wordings[row] = frozenset(map(fold_words, sentences(said)))
        return self._wordings[row]

    def _read_words(self, row: int) -> str:
        speaker = self._columns.speakers.name(row)
        return self._columns.contents[row].removeprefix(f"{speaker}: ")

    def find_telling(
        self, sentence: SummarySentence, sources: Iterable[int]
    ) -> int | None:
        """Return the source that says a sentence: in the same words, else in most of them."""
        return next(iter(self.list_telling(sentence, sources)), None)

    def list_telling(
        self, sentence: SummarySentence, sources: Iterable[int]
    ) -> list[int]:
        """Return the sources that say a sentence in the same words, else `find_source`."""
        rows = list(sources)
        same = [
            row for row in rows if sentence.wording in self._read_wordings(row)
        ]
        if same:
            return same
        row = self.find_source(sentence, rows)
        return [] if row is None else [row]

    def find_source(
        self, sentence: SummarySentence, sources: Iterable[int]
    ) -> int | None:
        """Return the source of a summary with most words of its sentence.

        A model tells in its own words what the sources say. None: none has enough of them.
        """
        asked = read_particulars(sentence.text)
        least = max(MIN_SHARED, LEAST_SHARE * len(asked.telling))
        best: tuple[int, int, int] | None = None
        for row in sources:
            told = read_particulars(self._columns.contents[row])
            shared = count_shared(asked, told)
            place = (shared, self._columns.event_times.item(row), row)
            if shared >= least and (best is None or place > best):
                best = place
        return best[2] if best else None


def list_sources(
    sources: Iterable[str], summaries: Sequence[Columns], told: Columns
) -> set[int]:
    """Return the rows of the facts and turns among a summary's sources, level by level.

    Those that have expired, or whose level has, are missing.
    """
    waiting = list(sources)
    found: set[int] = set()
    seen: set[str] = set()
    while waiting:
        id_ = waiting.pop()
        row = told.row_by_id.get(id_)
        if row is not None:
            found.add(row)
        if row is not None or id_ in seen:
            continue
        seen.add(id_)
        for columns in summaries:
            child = columns.row_by_id.get(id_)
            if child is not None:
                waiting += columns.sources[child]
    return found
