"""How near in time a memory is: to now, and to the time a question speaks of."""

from datetime import datetime
from math import log

import numpy as np

from varve.domain.search.columns import Columns
from varve.domain.search.lexical import Floats
from varve.domain.search.outline import Times, microseconds, moment
from varve.domain.search.question import Question
from varve.domain.search.strategies import Strategy

DAY = 86_400 * 10**6


def near(times: Times, question: Question, strategy: Strategy) -> Floats:
    """1 in the time the question speaks of, halved every `date_days` outside it.

    For a state, what was said before counts in full at the time's start and halves with the half-life:
    it may have held still.
    """
    nothing = np.zeros(len(times), np.float32)
    if question.since is None and question.until is None:
        return nothing
    before = after = np.zeros(len(times))
    if question.since is not None:
        before = np.maximum(0, microseconds(question.since) - times) / DAY
    if question.until is not None:
        after = np.maximum(0, times - microseconds(question.until)) / DAY
    days = strategy.half_life_days if question.lasting else strategy.date_days
    return (0.5 ** (before / days + after / strategy.date_days)).astype(np.float32)


def recency(times: Times, present: datetime, half_life_days: float) -> Floats:
    """1 for what happens now or is still to come, halved every `half_life_days` days."""
    ages = np.maximum(0, microseconds(present) - times).astype(np.float32)
    ages *= np.float32(-log(2) / (half_life_days * DAY))
    fresh: Floats = np.exp(ages, out=ages)
    return fresh


def fresh(columns: Columns, present: datetime, half_life_days: float) -> Floats:
    """The recency of all rows. Of what is past it falls for all alike, so it is worked out only once."""
    since = microseconds(present) - columns.newest
    if since < 0:
        return recency(columns.event_times, present, half_life_days)
    if half_life_days not in columns.faded:
        columns.faded[half_life_days] = recency(
            columns.event_times, moment(columns.newest), half_life_days
        )
    return columns.faded[half_life_days] * np.float32(
        0.5 ** (since / (half_life_days * DAY))
    )
