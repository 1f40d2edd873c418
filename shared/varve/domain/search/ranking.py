"""Ranking: score all records of all lanes, fold repeats, choose the ones to show."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from varve.domain.calendar import Grain
from varve.domain.language.tokens import words
from varve.domain.record import Store, StoreName
from varve.domain.search.choosing import (
    SAME_SCORE,
    Contender,
    Place,
    choose_diverse,
    fold_repeats,
    get_vectors,
)
from varve.domain.search.columns import Columns
from varve.domain.search.lexical import Floats, Spots
from varve.domain.search.query import Filter
from varve.domain.search.row import RecordRow
from varve.domain.search.scoring import SignalTable, sum_positive
from varve.domain.search.sharing import share_scores
from varve.domain.search.signals import EmbeddedQuestion, compute_signals
from varve.domain.search.strategies import Strategy
from varve.domain.statements.standings.standing import Standing

SUMMARY_WEIGHT_NOW = 0.8
SUMMARY_WEIGHT_YEAR = 1.2
ASKED_WEIGHT = 1.15
LEAST_KEYWORD = 1e-6
LEAST_KIN = 0.41
LEAST_COSINE = 0.3
"""If no row reaches one of these, memory holds nothing that the question is about.

Words that mean nothing here ("xylophone", "zzzqqq") have a kinship of 0.26 to 0.40 with
the nearest words of a long chat, and others ("felines", "automobile") 0.42 to 0.70.
"""
SPARE_ROWS = 15
"""How many rows beyond the limit are considered before repeats are folded."""
SAME_PART = 1e-4
"""A smaller share of a score is rounding."""
WIDEN_FACTOR = 4
"""The factor by which more rows are considered if too few remain without repeats."""
FOLD_FACTOR = 8
"""Rows are folded into this many columns for each wanted row."""


@dataclass(frozen=True, slots=True)
class Lane:
    """The records of one grain, and the factor of their scores.

    `where` passes the rows that may be found; None: those that the search's filter
    passes. `agent` is the other agent whose records they are; None: the agent's own.
    """

    grain: StoreName
    columns: Columns
    weight: float = 1.0
    where: Filter | None = None
    agent: str | None = None


@dataclass(slots=True, eq=False)
class Ranked:
    """A row of a lane, its score in [0, 1], and the inputs of the score.

    `keyword` is BM25, `vector` a cosine. `parts` is set if the request wants an
    explanation: each signal's share of the score; what the row got from or left to the
    fact or words of its message (`shared`); and, below 0, its loss because better
    rows say nearly the same (`behind`). `also_in` are the ids of the rows that say the
    same and were folded into this one, and `said_in` those of their messages.
    `number` is the row's place in the `columns` of its lane. `standing` says whether its
    statement holds. `outdated` are the folded sentences of a summary that do not, and
    `repeats` has for a folded sentence the ids of the records that say it; `apart` are
    those of conversations without anything on the question. `agent` is the other agent
    whose row it is; None: the agent's own. `is_near`: some row found shares a word or a
    meaning with the question. `answers`: the statement likely answers it. `place` is its
    place in the ranking, from 0.
    """

    row: RecordRow
    grain: StoreName
    score: float
    vector: float
    keyword: float
    recency: float
    parts: Mapping[str, float] | None = field(default=None, repr=False)
    also_in: tuple[str, ...] = field(default=(), repr=False)
    said_in: tuple[str, ...] = field(default=(), repr=False)
    columns: Columns | None = field(default=None, repr=False)
    number: int = -1
    standing: Standing | None = None
    is_near: bool = True
    answers: bool = False
    place: int = 0
    agent: str | None = None
    outdated: tuple[str, ...] = field(default=(), repr=False)
    repeats: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict, repr=False
    )
    apart: frozenset[str] = field(default=frozenset(), repr=False)

    @property
    def id(self) -> str:
        """The id of the record."""
        return self.row.id

    @property
    def content(self) -> str:
        """The content of the record."""
        return self.row.content

    @property
    def tokens(self) -> int:
        """The estimated tokens of the content."""
        return self.row.tokens


def find_place(id_: str, rows: Sequence[Ranked]) -> int:
    """Return the place of a record among the rows of one agent.

    A row that was moved or folded is another object, so it is found by its id.
    """
    return [row.id for row in rows].index(id_)


def lane_weight(
    grain: StoreName, asked: Grain | None, age_days: float | None
) -> float:
    """Return the factor of a lane's scores.

    Facts, turns and notes have weight 1. Summaries have less for a recent or missing window.
    Their weight grows with the window's age, up to one year. The grain that the question
    asks for has a higher weight.
    """
    if grain in (Grain.WORKING, Store.NOTES):
        return 1.0
    share = min(1.0, (age_days or 0.0) / 365)
    weight = SUMMARY_WEIGHT_NOW + share * (
        SUMMARY_WEIGHT_YEAR - SUMMARY_WEIGHT_NOW
    )
    return weight * ASKED_WEIGHT if grain is asked else weight


def rank(
    question: EmbeddedQuestion,
    lanes: Sequence[Lane],
    where: Filter,
    present: datetime,
    strategy: Strategy,
    limit: int,
    *,
    explain: bool = False,
) -> list[Ranked]:
    """Return the `limit` best of all records that pass the filter, best first.

    Each signal is scaled to [0, 1] and multiplied by its weight in the strategy; the sum
    is the score. If one of two lists is much better than the other, summed scores find
    more than reciprocal ranks. Rows that repeat a better row are folded into it, and
    rows similar to better ones lose score. Without a row that shares a word or a meaning
    with the question the rows are not `is_near`. Ties are broken by event time (newest first),
    then by id. With `explain`, each result has its `parts`.
    """
    filled = [lane for lane in lanes if len(lane.columns)]
    if not filled:
        return []
    columns = [lane.columns for lane in filled]
    filters = [lane.where or where for lane in filled]
    table = compute_signals(question, columns, filters, present, strategy)
    if not len(table):
        return []
    return _choose(question, table, filled, strategy, limit, explain=explain)


def _choose(
    question: EmbeddedQuestion,
    table: SignalTable,
    filled: Sequence[Lane],
    strategy: Strategy,
    limit: int,
    *,
    explain: bool,
) -> list[Ranked]:
    """Return the best statements."""
    scores = _score_lanes(table, filled, strategy)
    places = _find_places(limit, scores, filled, table)
    kept = [place.shown for place in places]
    vectors = get_vectors(kept)
    chosen, falling = choose_diverse(kept, vectors, strategy, limit)
    shown = [kept[number] for number in chosen]
    cosines = vectors[chosen] @ question.whole
    ranked = _describe(shown, falling, cosines.tolist(), table)
    is_near = _bears_on_question(table, cosines) or _holds_symbols(
        ranked, question.question.text
    )
    for place, (item, number) in enumerate(zip(ranked, chosen, strict=True)):
        item.is_near = is_near
        item.place = place
        item.also_in = places[number].also_in
        if item.row.messages:
            item.said_in = places[number].said_in
        if explain:
            contender = kept[number]
            item.parts = _explain(
                contender, item.score, table, filled, strategy
            )
    return ranked


def _bears_on_question(table: SignalTable, cosines: Floats) -> bool:
    """Return whether any row shares a word or a meaning with the question."""
    if table.reaches("turn", LEAST_KEYWORD) or table.reaches(
        "kind", LEAST_KEYWORD
    ):
        return True
    if table.reaches("kin", LEAST_KIN):
        return True
    return bool(np.maximum.reduce(cosines, initial=0) >= LEAST_COSINE)


def _holds_symbols(ranked: Sequence[Ranked], text: str) -> bool:
    """Return whether a question without words, such as a rule of dashes, occurs in a row."""
    return not words(text) and any(text in item.content for item in ranked)


def _score_lanes(
    table: SignalTable, lanes: Sequence[Lane], strategy: Strategy
) -> Floats:
    """Return the score of each row, which facts share with their words; -1 if hidden."""
    weights = [lane.weight for lane in lanes]
    scores = table.score_rows(strategy.weights, weights)
    for lane, span in zip(lanes, table.spans, strict=True):
        share_scores(scores[span], lane.columns.sharing)
    return scores


def _find_places(
    limit: int, scores: Floats, lanes: Sequence[Lane], table: SignalTable
) -> list[Place]:
    """Return at least `limit` best statements, or all if there are fewer."""
    size = len(table)
    considered = limit + SPARE_ROWS
    while True:
        best = _find_best(min(considered, size), scores, lanes, table.spans)
        places = fold_repeats(best)
        if len(places) >= limit or len(best) == size:
            return places
        considered *= WIDEN_FACTOR


def _find_best(
    count: int, scores: Floats, lanes: Sequence[Lane], spans: Sequence[slice]
) -> list[Contender]:
    """Return the `count` best rows, best first, and all that tie with the last one."""
    found = _find_greatest_of_many(scores, count)
    best: list[Contender] = []
    for lane, span in zip(lanes, spans, strict=True):
        at = found
        if len(lanes) > 1:
            in_lane = (found >= span.start) & (found < span.stop)
            at = found[in_lane]
        best += _build_contenders(lane, span.start, at, scores)
    best.sort()
    return best


def _build_contenders(
    lane: Lane, start: int, at: Spots, scores: Floats
) -> list[Contender]:
    """Build the contenders of one lane, whose rows begin at `start`."""
    columns = lane.columns
    exact = scores[at].astype(np.float64)
    rounded = np.round(exact, 6).tolist()
    rows = columns.read_rows(at - start)
    contenders = []
    for place, score, row in zip(at.tolist(), rounded, rows, strict=True):
        contenders.append(
            Contender(
                minus_score=-score,
                minus_time=-row.time,
                id=row.id,
                at=place,
                number=place - start,
                row=row,
                columns=columns,
                grain=lane.grain,
                agent=lane.agent,
            )
        )
    return contenders


def _find_greatest_of_many(scores: Floats, count: int) -> Spots:
    """Return the same as `_find_greatest`, faster if there are many scores."""
    width = FOLD_FACTOR * count
    if len(scores) < 2 * width:
        return _find_greatest(scores, count)
    # Fold the scores into `width` columns. The `count` greatest column maxima are scores
    # of different rows, so no row below the least of them is among the best.
    whole = len(scores) // width * width
    folded = scores[:whole].reshape(-1, width)
    maxima = np.maximum.reduce(folded)
    threshold = _find_threshold(maxima, count)
    candidates = (scores >= threshold).nonzero()[0]
    best = _find_greatest(scores[candidates], count)
    return candidates[best]


def _find_greatest(scores: Floats, count: int) -> Spots:
    """Return where the `count` greatest scores stand, and all that tie with the last."""
    if len(scores) <= count:
        return np.arange(len(scores))
    threshold = _find_threshold(scores, count)
    return (scores >= threshold).nonzero()[0]


def _find_threshold(scores: Floats, count: int) -> np.float32:
    """Return the least score that ties with the last of the `count` greatest."""
    place = len(scores) - count
    last: np.float32 = np.partition(scores, place)[place]
    return last - np.float32(SAME_SCORE)


def _describe(
    shown: Sequence[Contender],
    scores: Sequence[float],
    cosines: Sequence[float],
    table: SignalTable,
) -> list[Ranked]:
    at = np.array([item.at for item in shown], np.intp)
    keywords = table.get_raw("turn")[at].tolist()
    recencies = table.get_raw("recency")[at].tolist()
    ranked = []
    for number, item in enumerate(shown):
        ranked.append(
            Ranked(
                row=item.row,
                grain=item.grain,
                score=scores[number],
                vector=cosines[number],
                keyword=keywords[number],
                recency=recencies[number],
                columns=item.columns,
                number=item.number,
                agent=item.agent,
            )
        )
    return ranked


def _explain(
    item: Contender,
    score: float,
    table: SignalTable,
    lanes: Sequence[Lane],
    strategy: Strategy,
) -> dict[str, float]:
    """Return each signal's share of a score, and what the row lost behind others."""
    lane = next(lane for lane in lanes if lane.columns is item.columns)
    share = lane.weight / sum_positive(strategy.weights)
    parts: dict[str, float] = {}
    for name, weight in strategy.weights.items():
        value = table.value(name, item.at)
        parts[name] = share * weight * value
    shared = -item.minus_score - max(0.0, min(1.0, sum(parts.values())))
    if item.columns.sharing is not None and abs(shared) > SAME_PART:
        parts["shared"] = shared
    lost = score + item.minus_score
    if lost:
        parts["behind"] = lost
    return parts
