"""From all records of all lanes to an order: scores, what says the same, and what is shown beside what."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from operator import itemgetter

import numpy as np
import numpy.typing as npt

from varve.domain.calendar import Grain
from varve.domain.columns import TYPES, Columns
from varve.domain.diversity import mmr
from varve.domain.lexical import Floats, words
from varve.domain.query import Filter
from varve.domain.record import MemoryType
from varve.domain.scoring import Signals
from varve.domain.signals import Sought, signals
from varve.domain.strategies import Strategy

SUMMARY_WEIGHT_NOW = 0.8
SUMMARY_WEIGHT_YEAR = 1.2
ASKED_WEIGHT = 1.15
SPARE = 15
"""How many more than asked for are looked at before repeats go, and four times as many where too few stay."""
SAME_SCORE = 1e-6
"""Scores that differ by less are equal: what is left is the order in which they were summed."""
BLOCK = 32
"""Of so many rows the best is looked at first."""
REPLACED_LIKENESS = 0.8
"""From this cosine on, two facts about one subject speak of one thing, and the newer holds."""


@dataclass(frozen=True, slots=True)
class Lane:
    """The records of one grain, and what their scores are multiplied by."""

    grain: Grain
    columns: Columns
    weight: float = 1.0


@dataclass(slots=True, eq=False)
class Ranked:
    """A row of a lane's columns with its score in [0, 1] and what the score was made of.

    `vector` and `keyword` are cosine and BM25; the `parts`, where asked for, each signal's share of the
    score. `messages` are those a fact or turn comes from, each with its conversation; a summary has none.
    """

    columns: Columns
    row: int
    grain: Grain
    score: float
    vector: float = 0.0
    keyword: float = 0.0
    recency: float = 0.0
    parts: Mapping[str, float] | None = field(default=None, repr=False)
    type: MemoryType = field(init=False)
    messages: frozenset[tuple[str | None, str]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.type = TYPES[self.columns.types[self.row]]
        spoken = self.columns.conversations.name(self.row)
        said = () if self.type is MemoryType.SUMMARY else self.sources
        self.messages = frozenset([(spoken, source) for source in said])

    @property
    def id(self) -> str:
        """The record's id."""
        return self.columns.ids[self.row]

    @property
    def content(self) -> str:
        """What the record says."""
        return self.columns.contents[self.row]

    @property
    def sources(self) -> Sequence[str]:
        """Message ids of a fact or turn, record ids of a summary."""
        return self.columns.sources[self.row]


def lane_weight(grain: Grain, asked: Grain | None, age_days: float | None) -> float:
    """What a lane's scores are multiplied by.

    Facts and turns weigh 1. Summaries weigh less than they for what is near or undated, and more the
    further back the window lies, up to a year; the grain that the question speaks of weighs more again.
    """
    if grain is Grain.WORKING:
        return 1.0
    share = min(1.0, (age_days or 0.0) / 365)
    weight = SUMMARY_WEIGHT_NOW + share * (SUMMARY_WEIGHT_YEAR - SUMMARY_WEIGHT_NOW)
    return weight * (ASKED_WEIGHT if grain is asked else 1.0)


def rank(
    sought: Sought,
    lanes: Sequence[Lane],
    where: Filter,
    present: datetime,
    strategy: Strategy,
    limit: int,
    *,
    explain: bool = False,
) -> list[Ranked]:
    """The best of all records that the filter lets through, best first; more than `limit` where there are.

    The signals are each brought to [0, 1] and summed by the strategy's weights: summed scores find more
    than reciprocal ranks when one of two lists is much better than the other. Then what says the same as
    something better goes, and what is much like it steps back. Ties are broken by event time (newest
    first), then id. With `explain` each has its `parts`.
    """
    filled = [lane for lane in lanes if len(lane.columns)]
    if not filled:
        return []
    found = signals(sought, [lane.columns for lane in filled], where, present, strategy)
    scores = found.scores(strategy.weights, [lane.weight for lane in filled])
    looked_at = limit + SPARE
    while True:
        best = _best(looked_at, sought, found, scores, filled)
        kept = without_repeats(best)
        if len(kept) >= limit or len(best) == len(scores):
            break
        looked_at *= 4
    shown = _diverse(kept, strategy, limit)
    if explain:
        for item in shown:
            item.parts = _parts(item, found, filled, strategy)
    return shown


def _best(count: int, sought: Sought, found: Signals, scores: Floats, lanes: Sequence[Lane]) -> list[Ranked]:
    """The rows with the best scores, best first, with all that score like the last of them."""
    first = _first(scores, count)
    best: list[tuple[float, int, str, Ranked]] = []
    for number, (lane, start, size) in enumerate(zip(lanes, found.starts, found.sizes, strict=True)):
        at = first if size == len(scores) else first[(first >= start) & (first < start + size)]
        columns, rows = lane.columns, found.rows(number, at)
        cosines = columns.vectors[rows] @ sought.whole
        fresh = found.measured["recency"][at]
        numbers = (rows, columns.event_times[rows], scores[at], cosines, found.measured["turn"][at], fresh)
        for row, time, score, vector, keyword, recency in zip(*(n.tolist() for n in numbers), strict=True):
            item = Ranked(columns, row, lane.grain, round(score, 6), vector, keyword, recency)
            best.append((-item.score, -time, columns.ids[row], item))
    best.sort(key=itemgetter(0, 1, 2))
    return [item for _, _, _, item in best]


def _parts(item: Ranked, found: Signals, lanes: Sequence[Lane], strategy: Strategy) -> dict[str, float]:
    """What each signal adds to a row's score."""
    total = sum(weight for weight in strategy.weights.values() if weight > 0)
    lane = next(number for number, lane in enumerate(lanes) if lane.columns is item.columns)
    admitted = found.admitted[lane]
    within = item.row if admitted is None else int(np.searchsorted(admitted, item.row))
    share = lanes[lane].weight / total
    at = found.starts[lane] + within
    return {name: share * weight * found.value(name, at) for name, weight in strategy.weights.items()}


def _first(scores: Floats, count: int) -> npt.NDArray[np.intp]:
    """The rows with the best scores, in no order, with all that score like the last of them."""
    if len(scores) <= count:
        return np.arange(len(scores))
    some = scores
    if len(scores) > BLOCK * count:  # so many blocks hold a score as good as this at the least
        tops = np.maximum.reduceat(scores, np.arange(0, len(scores), BLOCK))
        some = scores[scores >= np.partition(tops, len(tops) - count)[len(tops) - count]]
    least = np.partition(some, len(some) - count)[len(some) - count]
    return np.flatnonzero(scores >= least - np.float32(SAME_SCORE))


def _diverse(ranked: list[Ranked], strategy: Strategy, limit: int) -> list[Ranked]:
    """The first `limit` chosen by maximal marginal relevance, the rest behind them by score.

    First what a newer fact replaces and what adds no message to those before it is lowered. No score
    rises on the way down.
    """
    if not ranked:
        return []
    vectors = _vectors(ranked)
    lowered = np.array([item.score for item in ranked])
    if strategy.superseded:
        lowered -= strategy.superseded * _superseded(ranked, vectors)
    lowered = np.maximum(0, lowered - strategy.repeated * _known(ranked))
    chosen = mmr(lowered, vectors, limit, balance=1 - strategy.diversity)
    rest = sorted(set(range(len(ranked))).difference(chosen), key=lambda i: -lowered[i])
    order = [*chosen, *rest]
    falling = np.minimum.accumulate(lowered[order]).tolist()
    for place, score in zip(order, falling, strict=True):
        ranked[place].score = score
    return [ranked[place] for place in order]


def _vectors(ranked: Sequence[Ranked]) -> Floats:
    columns = ranked[0].columns
    if all(item.columns is columns for item in ranked):
        return columns.vectors[[item.row for item in ranked]]
    return np.array([item.columns.vectors[item.row] for item in ranked])


def _superseded(ranked: Sequence[Ranked], vectors: Floats) -> npt.NDArray[np.bool_]:
    """Which facts there is a newer one for about the same subject and nearly the same thing."""
    columns = [item.columns for item in ranked]
    about = [c.speakers.name(item.row) for c, item in zip(columns, ranked, strict=True)]
    times = [int(c.event_times[item.row]) for c, item in zip(columns, ranked, strict=True)]
    facts = [i for i, item in enumerate(ranked) if item.type is MemoryType.FACT and about[i]]
    alike = vectors[facts] @ vectors[facts].T >= REPLACED_LIKENESS
    old = np.zeros(len(ranked), np.bool_)
    for a, i in enumerate(facts):
        old[i] = any(
            alike[a, b] and about[j] == about[i] and times[j] > times[i] for b, j in enumerate(facts)
        )
    return old


def _known(ranked: Sequence[Ranked]) -> npt.NDArray[np.bool_]:
    """Which are of messages alone that something better shows already."""
    shown: set[tuple[str | None, str]] = set()
    known = []
    for item in ranked:
        known.append(bool(item.messages) and item.messages <= shown)
        shown |= item.messages
    return np.array(known, np.bool_)


def without_repeats(ranked: Iterable[Ranked]) -> list[Ranked]:
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
    for item in ranked:
        if item.type is MemoryType.TURN:
            if not facts.isdisjoint(item.messages):
                continue
            turns |= item.messages
        elif item.type is MemoryType.FACT:
            wording = (item.columns.speakers.name(item.row), tuple(words(item.content)))
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


def _alone(item: Ranked) -> frozenset[str]:
    """The one source of a summary that has no other."""
    return frozenset(item.sources if len(item.sources) == 1 else ())
