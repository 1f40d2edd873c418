"""How near in time a memory is: to the present, and to the time a question names."""

from datetime import datetime
from math import log

import numpy as np
import numpy.typing as npt

from varve.domain.calendar import microseconds, moment
from varve.domain.search.columns import Columns
from varve.domain.search.lexical import Floats
from varve.domain.search.outline import Times
from varve.domain.search.question import Question
from varve.domain.search.strategies import Strategy

MICROSECONDS_PER_DAY = 86_400 * 10**6


def measure_date_nearness(
    times: Times, question: Question, strategy: Strategy
) -> Floats:
    """Return 1 inside the time that the question names, halved per `date_days` outside.

    If the question asks for a state, earlier memories halve with the half-life instead:
    the state may have begun before and lasted.
    """
    if question.since is None and question.until is None:
        return np.zeros(len(times), np.float32)
    halvings = np.zeros(len(times))
    if question.since is not None:
        days = (
            strategy.half_life_days if question.lasting else strategy.date_days
        )
        too_early = microseconds(question.since) - times
        halvings += _count_days(too_early) / days
    if question.until is not None:
        too_late = times - microseconds(question.until)
        halvings += _count_days(too_late) / strategy.date_days
    nearness = 0.5**halvings
    return nearness.astype(np.float32)


def _count_days(spans: Times) -> npt.NDArray[np.float64]:
    """Return spans in microseconds as days; negative spans count as 0."""
    days: npt.NDArray[np.float64] = np.maximum(0, spans) / MICROSECONDS_PER_DAY
    return days


def recency(times: Times, present: datetime, half_life_days: float) -> Floats:
    """Return 1 for times at or after `present`, halved for each half-life before it."""
    ages = np.maximum(0, microseconds(present) - times)
    half_life = half_life_days * MICROSECONDS_PER_DAY
    exponents = ages.astype(np.float32)
    exponents *= np.float32(-log(2) / half_life)
    values: Floats = np.exp(exponents, out=exponents)
    return values


def measure_row_recency(
    columns: Columns, present: datetime, half_life_days: float
) -> Floats:
    """Return the recency of all rows, computed once for each half-life.

    If no row lies after `present`, the recency at the newest event time is cached. From
    there, recency falls by one factor for all rows.
    """
    since = microseconds(present) - columns.newest
    if since < 0:
        return recency(columns.event_times, present, half_life_days)
    at_newest = columns.recency_by_half_life.get(half_life_days)
    if at_newest is None:
        newest = moment(columns.newest)
        at_newest = recency(columns.event_times, newest, half_life_days)
        columns.recency_by_half_life[half_life_days] = at_newest
    half_life = half_life_days * MICROSECONDS_PER_DAY
    factor = 0.5 ** (since / half_life)
    return at_newest * np.float32(factor)
