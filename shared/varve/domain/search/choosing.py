"""Which of the best rows are shown, and in which order: what says the same goes, what is alike steps back."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from varve.domain.calendar import Grain
from varve.domain.record import MemoryType
from varve.domain.search.columns import Columns
from varve.domain.search.diversity import mmr
from varve.domain.search.lexical import Bools, Floats
from varve.domain.search.row import Row
from varve.domain.search.strategies import Strategy

REPLACED_LIKENESS = 0.8
"""From this cosine on, two facts about one subject speak of one thing, and the newer holds."""


class Contender(NamedTuple):
    """A row of a lane's columns, by number, and its place `at` among all rows of all lanes.

    Sorts as it ranks: by score, then newest first, then id. A key for each would take as long again.
    """

    minus_score: float
    minus_time: int
    id: str
    at: int
    number: int
    row: Row
    columns: Columns
    grain: Grain


def diverse(
    best: Sequence[Contender], vectors: Floats, strategy: Strategy, limit: int
) -> tuple[list[int], list[float]]:
    """Which `limit` are shown, chosen by maximal marginal relevance, and their scores.

    First what a newer fact replaces and what adds no message to those before it is lowered. No score
    rises on the way down.
    """
    lowered = np.array([-item.minus_score for item in best])
    if strategy.superseded:
        lowered -= strategy.superseded * _superseded(best, vectors)
    lowered = np.maximum(0, lowered - strategy.repeated * _known(best))
    chosen = mmr(lowered, vectors, limit, balance=1 - strategy.diversity)
    return chosen, np.minimum.accumulate(lowered[chosen]).tolist()


def _superseded(best: Sequence[Contender], vectors: Floats) -> Bools:
    """Which facts there is a newer one for about the same subject and nearly the same thing."""
    rows = [item.row for item in best]
    facts = [
        i for i, row in enumerate(rows) if row.type is MemoryType.FACT and row.about
    ]
    alike = vectors[facts] @ vectors[facts].T >= REPLACED_LIKENESS
    old = np.zeros(len(best), np.bool_)
    for a, i in enumerate(facts):
        old[i] = any(
            alike[a, b]
            and rows[j].about == rows[i].about
            and rows[j].time > rows[i].time
            for b, j in enumerate(facts)
        )
    return old


def _known(best: Sequence[Contender]) -> Bools:
    """Which are of messages alone that something better shows already."""
    shown: set[tuple[str | None, str]] = set()
    known = []
    for item in best:
        messages = item.row.messages
        known.append(bool(messages) and messages <= shown)
        shown |= messages
    return np.array(known, np.bool_)


def without_repeats(best: Iterable[Contender]) -> list[Contender]:
    """The same order without what says the same: the better stays.

    That is a fact and the brief words it is from (several facts of one message say different things, and so
    do a fact and a long text or one of its passages), a fact in the words of another, and a summary made from
    one other summary alone, as a week's with one day that had anything.
    """
    turns: set[tuple[str | None, str]] = set()
    facts: set[tuple[str | None, str]] = set()
    worded: set[tuple[str | None, str]] = set()
    said: set[str] = set()
    alone: set[str] = set()
    kept = []
    for item in best:
        row = item.row
        if row.type is MemoryType.TURN:
            if row.brief:
                if not facts.isdisjoint(row.messages):
                    continue
                turns |= row.messages
        elif row.type is MemoryType.FACT:
            if row.messages <= turns or row.wording in worded:
                continue
            facts |= row.messages
            worded.add(row.wording)
        else:
            if row.id in alone or not said.isdisjoint(_alone(row)):
                continue
            alone |= _alone(row)
        said.add(row.id)
        kept.append(item)
    return kept


def _alone(row: Row) -> frozenset[str]:
    """The one source of a summary that has no other."""
    return frozenset(row.sources if len(row.sources) == 1 else ())
