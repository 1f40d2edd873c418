"""Which of the best rows are shown, and in which order: what says the same goes, what is alike steps back."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from varve.domain.calendar import Grain
from varve.domain.record import MemoryType
from varve.domain.search.columns import Columns
from varve.domain.search.diversity import mmr
from varve.domain.search.lexical import Floats, words
from varve.domain.search.strategies import Strategy

REPLACED_LIKENESS = 0.8
"""From this cosine on, two facts about one subject speak of one thing, and the newer holds."""

Messages = frozenset[tuple[str | None, str]]
"""Messages, each with its conversation."""


class Contender(NamedTuple):
    """A row of a lane's columns with its score, and its place among all rows of all lanes.

    `messages` are those a fact or turn comes from; a summary has none.
    """

    columns: Columns
    row: int
    grain: Grain
    at: int
    score: float
    type: MemoryType
    messages: Messages

    @property
    def id(self) -> str:
        """The record's id."""
        return self.columns.ids[self.row]

    @property
    def sources(self) -> Sequence[str]:
        """Message ids of a fact or turn, record ids of a summary."""
        return self.columns.sources[self.row]


def diverse(
    best: Sequence[Contender], vectors: Floats, strategy: Strategy, limit: int
) -> tuple[list[int], list[float]]:
    """Which `limit` are shown, chosen by maximal marginal relevance, and their scores.

    First what a newer fact replaces and what adds no message to those before it is lowered. No score
    rises on the way down.
    """
    lowered = np.array([item.score for item in best])
    if strategy.superseded:
        lowered -= strategy.superseded * _superseded(best, vectors)
    lowered = np.maximum(0, lowered - strategy.repeated * _known(best))
    chosen = mmr(lowered, vectors, limit, balance=1 - strategy.diversity)
    return chosen, np.minimum.accumulate(lowered[chosen]).tolist()


def _superseded(best: Sequence[Contender], vectors: Floats) -> npt.NDArray[np.bool_]:
    """Which facts there is a newer one for about the same subject and nearly the same thing."""
    columns = [item.columns for item in best]
    about = [c.speakers.name(item.row) for c, item in zip(columns, best, strict=True)]
    times = [int(c.event_times[item.row]) for c, item in zip(columns, best, strict=True)]
    facts = [i for i, item in enumerate(best) if item.type is MemoryType.FACT and about[i]]
    alike = vectors[facts] @ vectors[facts].T >= REPLACED_LIKENESS
    old = np.zeros(len(best), np.bool_)
    for a, i in enumerate(facts):
        old[i] = any(
            alike[a, b] and about[j] == about[i] and times[j] > times[i] for b, j in enumerate(facts)
        )
    return old


def _known(best: Sequence[Contender]) -> npt.NDArray[np.bool_]:
    """Which are of messages alone that something better shows already."""
    shown: set[tuple[str | None, str]] = set()
    known = []
    for item in best:
        known.append(bool(item.messages) and item.messages <= shown)
        shown |= item.messages
    return np.array(known, np.bool_)


def without_repeats(best: Iterable[Contender]) -> list[Contender]:
    """The same order without what says the same: the better stays.

    That is a fact and a turn of one message (several facts of one message say different things), a fact
    in the words of another, and a summary made from one other summary alone, as a week's with one day
    that had anything.
    """
    turns: set[tuple[str | None, str]] = set()
    facts: set[tuple[str | None, str]] = set()
    worded: set[tuple[str | None, tuple[str, ...]]] = set()
    said: set[str] = set()
    alone: set[str] = set()
    kept = []
    for item in best:
        if item.type is MemoryType.TURN:
            if not facts.isdisjoint(item.messages):
                continue
            turns |= item.messages
        elif item.type is MemoryType.FACT:
            wording = (item.columns.speakers.name(item.row), tuple(words(item.columns.contents[item.row])))
            if item.messages <= turns or wording in worded:
                continue
            facts |= item.messages
            worded.add(wording)
        else:
            if item.id in alone or not said.isdisjoint(_alone(item)):
                continue
            alone |= _alone(item)
        said.add(item.id)
        kept.append(item)
    return kept


def _alone(item: Contender) -> frozenset[str]:
    """The one source of a summary that has no other."""
    return frozenset(item.sources if len(item.sources) == 1 else ())
