"""From all records of all lanes to an order: scores, what says the same, and what is shown beside what."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property

import numpy as np
import numpy.typing as npt

from varve.domain.calendar import Grain
from varve.domain.columns import TYPES, Columns
from varve.domain.diversity import mmr
from varve.domain.lexical import Floats, words
from varve.domain.query import Filter
from varve.domain.record import MemoryType, Record
from varve.domain.signals import Signals, Sought, signals
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
class Candidate:
    """A record some lane found: its cosine similarity to the query, its BM25 score (0: no word hit)."""

    record: Record
    vector: float
    keyword: float


@dataclass(frozen=True, slots=True)
class Lane:
    """The records of one grain, and what their scores are multiplied by."""

    grain: Grain
    columns: Columns
    weight: float = 1.0


@dataclass(frozen=True)
class Ranked:
    """A row of a lane's columns with its score in [0, 1] and what the score was made of.

    `vector` and `keyword` are cosine and BM25; the `parts`, where asked for, each signal's share of the
    score.
    """

    columns: Columns
    row: int
    grain: Grain
    score: float
    vector: float = 0.0
    keyword: float = 0.0
    recency: float = 0.0
    parts: Mapping[str, float] = field(default_factory=dict, repr=False)

    @property
    def id(self) -> str:
        """The record's id."""
        return self.columns.ids[self.row]

    @property
    def content(self) -> str:
        """What the record says."""
        return self.columns.contents[self.row]

    @cached_property
    def type(self) -> MemoryType:
        """The record's memory type."""
        return TYPES[int(self.columns.types[self.row])]

    @property
    def sources(self) -> Sequence[str]:
        """Message ids of a fact or turn, record ids of a summary."""
        return self.columns.sources[self.row]

    @cached_property
    def messages(self) -> set[tuple[str | None, str]]:
        """The messages a fact or turn comes from, each with its conversation."""
        if self.type is MemoryType.SUMMARY:
            return set()
        conversation = self.columns.conversations.name(self.row)
        return {(conversation, source) for source in self.sources}


def records_of(ranked: Sequence[Ranked]) -> list[Record]:
    """Their records, made store by store, in the same order."""
    wanted: dict[int, list[Ranked]] = {}
    for item in ranked:
        wanted.setdefault(id(item.columns), []).append(item)
    made = {
        (key, item.row): record
        for key, items in wanted.items()
        for item, record in zip(items, items[0].columns.records([i.row for i in items]), strict=True)
    }
    return [made[id(item.columns), item.row] for item in ranked]


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
    return (
        [replace(item, parts=_parts(item, found, filled, strategy)) for item in shown] if explain else shown
    )


def _best(count: int, sought: Sought, found: Signals, scores: Floats, lanes: Sequence[Lane]) -> list[Ranked]:
    """The rows with the best scores, best first, with all that score like the last of them."""
    first = _first(scores, count)
    best: list[Ranked] = []
    for number, (lane, start, size) in enumerate(zip(lanes, found.starts, found.sizes, strict=True)):
        at = first if size == len(scores) else first[(first >= start) & (first < start + size)]
        rows = found.rows(number, at)
        cosines = lane.columns.vectors[rows] @ sought.whole
        numbers = (rows, scores[at], cosines, found.keyword[at], found.values["recency"][at])
        for row, score, vector, keyword, fresh in zip(*(column.tolist() for column in numbers), strict=True):
            best.append(Ranked(lane.columns, row, lane.grain, round(score, 6), vector, keyword, fresh))
    best.sort(key=lambda item: (-item.score, -int(item.columns.event_times[item.row]), item.id))
    return best


def _parts(item: Ranked, found: Signals, lanes: Sequence[Lane], strategy: Strategy) -> dict[str, float]:
    """What each signal adds to a row's score."""
    total = sum(weight for weight in strategy.weights.values() if weight > 0)
    lane = next(number for number, lane in enumerate(lanes) if lane.columns is item.columns)
    admitted = found.admitted[lane]
    within = item.row if admitted is None else int(np.searchsorted(admitted, item.row))
    at = found.starts[lane] + within
    share = lanes[lane].weight / total
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


def _diverse(ranked: Sequence[Ranked], strategy: Strategy, limit: int) -> list[Ranked]:
    """The first `limit` chosen by maximal marginal relevance, the rest behind them by score.

    First what a newer fact replaces and what adds no message to those before it is lowered. No score
    rises on the way down.
    """
    if not ranked:
        return []
    vectors = np.array([item.columns.vectors[item.row] for item in ranked])
    lowered = np.array([item.score for item in ranked])
    if strategy.superseded:
        lowered -= strategy.superseded * _superseded(ranked, vectors)
    lowered = np.maximum(0, lowered - strategy.repeated * _known(ranked))
    chosen = mmr(lowered.tolist(), vectors, limit, balance=1 - strategy.diversity)
    rest = sorted(set(range(len(ranked))) - set(chosen), key=lambda i: -lowered[i])
    order = [*chosen, *rest]
    falling = np.minimum.accumulate(lowered[order]).tolist()
    return [_scored(ranked[i], score) for i, score in zip(order, falling, strict=True)]


def _scored(item: Ranked, score: float) -> Ranked:
    return item if item.score == score else replace(item, score=score)


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
        messages = item.messages
        known.append(bool(messages) and messages <= shown)
        shown |= messages
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
        messages = item.messages
        if item.type is MemoryType.TURN:
            if messages & facts:
                continue
            turns |= messages
        elif item.type is MemoryType.FACT:
            wording = (item.columns.speakers.name(item.row), tuple(words(item.content)))
            if messages <= turns or wording in worded:
                continue
            facts |= messages
            worded.add(wording)
        elif _alone(item) & said or item.id in alone:
            continue
        said.add(item.id)
        alone |= _alone(item)
        kept.append(item)
    return kept


def _alone(item: Ranked) -> frozenset[str]:
    """The one source of a summary that has no other."""
    is_summary = item.type is MemoryType.SUMMARY
    return frozenset(item.sources if is_summary and len(item.sources) == 1 else ())
