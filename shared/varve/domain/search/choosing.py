"""Selection of the rows to show: drop repeats, then lower rows that add little."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from varve.domain.calendar import Grain
from varve.domain.record import MemoryType
from varve.domain.search.columns import Columns
from varve.domain.search.diversity import mmr
from varve.domain.search.lexical import Bools, Floats
from varve.domain.search.row import Message, RecordRow
from varve.domain.search.strategies import Strategy

REPLACED_COSINE = 0.8
"""The least cosine at which a newer fact replaces an older one about its subject."""


class Contender(NamedTuple):
    """A row of a lane's columns, by its `number` there, with its score.

    `at` is the row's place among all rows of all lanes. Contenders sort in ranking
    order: by score, then newest first, then by id. A sort key would double the time.
    """

    minus_score: float
    minus_time: int
    id: str
    at: int
    number: int
    row: RecordRow
    columns: Columns
    grain: Grain


def choose_diverse(
    best: Sequence[Contender], vectors: Floats, strategy: Strategy, limit: int
) -> tuple[list[int], list[float]]:
    """Return the indices of the `limit` contenders to show, and their scores.

    First lower the score of facts that a newer fact replaces, and of rows that add no
    message to better rows. Then choose by maximal marginal relevance. The returned
    scores never rise.
    """
    scores = np.array([-item.minus_score for item in best])
    if strategy.superseded:
        scores -= strategy.superseded * _find_replaced(best, vectors)
    scores -= strategy.repeated * _find_covered(best)
    scores = np.maximum(0, scores)
    chosen = mmr(scores, vectors, limit, balance=1 - strategy.diversity)
    falling = np.minimum.accumulate(scores[chosen])
    return chosen, falling.tolist()


def _find_replaced(best: Sequence[Contender], vectors: Floats) -> Bools:
    """Mark facts for which a newer, similar fact about the same subject exists."""
    rows = [item.row for item in best]
    facts = [at for at, row in enumerate(rows) if _is_fact_about_something(row)]
    fact_vectors = vectors[facts]
    similar = fact_vectors @ fact_vectors.T >= REPLACED_COSINE
    replaced = np.zeros(len(best), np.bool_)
    for number, at in enumerate(facts):
        for other in np.flatnonzero(similar[number]).tolist():
            candidate = rows[facts[other]]
            if _is_newer_of_same_subject(candidate, rows[at]):
                replaced[at] = True
                break
    return replaced


def _is_fact_about_something(row: RecordRow) -> bool:
    return row.type is MemoryType.FACT and bool(row.about)


def _is_newer_of_same_subject(row: RecordRow, other: RecordRow) -> bool:
    is_newer = row.time > other.time
    return is_newer and row.about == other.about


def _find_covered(best: Sequence[Contender]) -> Bools:
    """Mark rows all of whose messages appear in better rows."""
    shown: set[Message] = set()
    covered = []
    for item in best:
        messages = item.row.messages
        covered.append(bool(messages) and messages <= shown)
        shown |= messages
    return np.array(covered, np.bool_)


def drop_repeats(best: Iterable[Contender]) -> list[Contender]:
    """Drop each contender that repeats a better one; keep the order.

    These repeat each other:
    - a fact and the brief turn it comes from. Several facts of one message do not: they
      say different things. Nor do a fact and a long turn or one of its passages.
    - two facts in the same words.
    - a summary and the only summary it was made from, such as a week and its one day.
    """
    shown = _Shown()
    return [item for item in best if shown.add(item.row)]


class _Shown:
    """Messages, wordings and summaries of the rows kept so far."""

    def __init__(self) -> None:
        self._turn_messages: set[Message] = set()
        self._fact_messages: set[Message] = set()
        self._wordings: set[Message] = set()
        self._ids: set[str] = set()
        self._only_sources: set[str] = set()

    def add(self, row: RecordRow) -> bool:
        """Add the row and return True, or return False if it repeats a kept row."""
        if row.type is MemoryType.TURN:
            is_new = self._add_turn(row)
        elif row.type is MemoryType.FACT:
            is_new = self._add_fact(row)
        else:
            is_new = self._add_summary(row)
        if is_new:
            self._ids.add(row.id)
        return is_new

    def _add_turn(self, row: RecordRow) -> bool:
        if not row.brief:
            return True
        if not self._fact_messages.isdisjoint(row.messages):
            return False
        self._turn_messages |= row.messages
        return True

    def _add_fact(self, row: RecordRow) -> bool:
        if row.messages <= self._turn_messages:
            return False
        if row.wording in self._wordings:
            return False
        self._fact_messages |= row.messages
        self._wordings.add(row.wording)
        return True

    def _add_summary(self, row: RecordRow) -> bool:
        if row.id in self._only_sources:
            return False
        if len(row.sources) == 1:
            source = row.sources[0]
            if source in self._ids:
                return False
            self._only_sources.add(source)
        return True
