"""From all records of all lanes to an order: scores, what says the same, and what is shown beside what."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from varve.domain.calendar import Grain
from varve.domain.search.choosing import Contender, diverse, without_repeats
from varve.domain.search.columns import Columns
from varve.domain.search.lexical import Floats, Spots
from varve.domain.search.query import Filter
from varve.domain.search.row import Row
from varve.domain.search.scoring import Signals
from varve.domain.search.signals import Sought, signals
from varve.domain.search.strategies import Strategy

SUMMARY_WEIGHT_NOW = 0.8
SUMMARY_WEIGHT_YEAR = 1.2
ASKED_WEIGHT = 1.15
SPARE = 15
"""How many more than asked for are looked at before repeats go, and four times as many where too few stay."""
SAME_SCORE = 1e-6
"""Scores that differ by less are equal: what is left is the order in which they were summed."""
FOLDED = 8
"""The rows are folded into so many times as many columns as there are wanted."""


@dataclass(frozen=True, slots=True)
class Lane:
    """The records of one grain, and what their scores are multiplied by."""

    grain: Grain
    columns: Columns
    weight: float = 1.0


@dataclass(slots=True, eq=False)
class Ranked:
    """A row of a lane with its score in [0, 1] and what the score was made of.

    `keyword` and `vector` are BM25 and cosine, `parts`, where asked for, each signal's share of the score
    and, below 0, what it lost `behind` others.
    """

    row: Row
    grain: Grain
    score: float
    vector: float
    keyword: float
    recency: float
    parts: Mapping[str, float] | None = field(default=None, repr=False)

    @property
    def id(self) -> str:
        """The record's id."""
        return self.row.id

    @property
    def content(self) -> str:
        """What the record says."""
        return self.row.content

    @property
    def tokens(self) -> int:
        """What it costs an agent to read it, estimated."""
        return self.row.tokens


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
    """The `limit` best of all records that the filter lets through, best first.

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
    size, looked_at = len(found), limit + SPARE
    if not size:
        return []
    while True:
        best = _best(min(looked_at, size), scores, filled, found.spans)
        kept = without_repeats(best)
        if len(kept) >= limit or len(best) == size:
            break
        looked_at *= 4
    vectors = _vectors(kept)
    chosen, falling = diverse(kept, vectors, strategy, limit)
    shown = [kept[place] for place in chosen]
    at = np.array([item.at for item in shown], np.intp)
    parts = [
        _parts(item, score, found, filled, strategy) if explain else None
        for item, score in zip(shown, falling, strict=True)
    ]
    numbers = (
        vectors[chosen] @ sought.whole,
        found.measured("turn")[at],
        found.measured("recency")[at],
    )
    return [
        Ranked(item.row, item.grain, *values)
        for item, *values in zip(
            shown, falling, *(n.tolist() for n in numbers), parts, strict=True
        )
    ]


def _best(
    count: int, scores: Floats, lanes: Sequence[Lane], spans: Sequence[slice]
) -> list[Contender]:
    """The rows with the best scores, best first, with all that score like the last of them."""
    first = _first(scores, count)
    best: list[Contender] = []
    for lane, span in zip(lanes, spans, strict=True):
        columns, grain, start = lane.columns, lane.grain, span.start
        at = first if len(lanes) == 1 else first[(first >= start) & (first < span.stop)]
        rounded, numbers = np.round(scores[at].astype(np.float64), 6), at - start
        found = zip(
            rounded.tolist(),
            at.tolist(),
            numbers.tolist(),
            columns.some(numbers),
            strict=True,
        )
        for score, place, number, row in found:
            best.append(
                Contender(-score, -row.time, row.id, place, number, row, columns, grain)
            )
    best.sort()
    return best


def _first(scores: Floats, count: int) -> Spots:
    """The rows with the best scores, in no order, with all that score like the last of them."""
    width = FOLDED * count
    if len(scores) < 2 * width:
        return _greatest(scores, count)
    # Folded into columns, whose greatest scores are no better than the best of all.
    folded = scores[: len(scores) // width * width].reshape(-1, width)
    some = (scores >= _least(np.maximum.reduce(folded), count)).nonzero()[0]
    return some[_greatest(scores[some], count)]


def _greatest(scores: Floats, count: int) -> Spots:
    """Where the `count` greatest stand, and all that are like the last of them."""
    if len(scores) <= count:
        return np.arange(len(scores))
    return (scores >= _least(scores, count)).nonzero()[0]


def _least(scores: Floats, count: int) -> np.float32:
    """What is as good as the last of the `count` greatest."""
    within = len(scores) - count
    least: np.float32 = np.partition(scores, within)[within] - np.float32(SAME_SCORE)
    return least


def _parts(
    item: Contender,
    score: float,
    found: Signals,
    lanes: Sequence[Lane],
    strategy: Strategy,
) -> dict[str, float]:
    """What each signal adds to a row's score, and what it lost to others that say the same or more."""
    total = sum(weight for weight in strategy.weights.values() if weight > 0)
    share = next(lane.weight for lane in lanes if lane.columns is item.columns) / total
    parts = {
        name: share * weight * found.value(name, item.at)
        for name, weight in strategy.weights.items()
    }
    lost = score + item.minus_score
    return {**parts, "behind": lost} if lost else parts


def _vectors(best: Sequence[Contender]) -> Floats:
    columns = best[0].columns
    if all(item.columns is columns for item in best):
        return columns.vectors[[item.number for item in best]]
    return np.array([item.columns.vectors[item.number] for item in best])
