"""Whether a later statement supersedes an earlier one, given a question that both may answer.

What a question asks for is evidence that both tell of it: the same pair is judged more
readily than without a question. `benchmarks/updates_fit_asked.py` fitted the weights.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from varve.domain.search.lexical import Floats
from varve.domain.statements.cues import Cues
from varve.domain.statements.pairs import (
    MIN_CROWD,
    Statement,
    measure_bars,
    measure_likeness,
    relate,
    tells_nothing_own,
)

LEAST_SCORE = -8.0
SCORE_UNIT = 4.0
"""A pair's own score counts from `LEAST_SCORE` on, in these units."""

WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "bias": -3.68, "pair": 0.89, "found before": 2.87, "margin": 1.62,
        "near question": 0.71, "unrelated": -0.94, "likeness": 0.77,
        "words": 2.22, "change": 0.52, "own": 0.23, "continues": -2.22,
        "crowd": -1.00, "comma": 0.71, "colon": 0.80, "never": -1.93,
        "event": -0.49,
    }
)  # fmt: skip
NEAREST_IF_ASKED = 1.14
"""What it adds that no earlier statement of the speaker is nearer to the later one."""


@dataclass(frozen=True, slots=True)
class PairQuestion:
    """A question's cues and vector with the statements that it found.

    `relevances` has the share of the best score that each row of a statement has, best
    first.
    """

    cues: Cues
    vector: Floats = field(repr=False)
    relevances: Mapping[int, float]

    def measure_margin(self, row: int, other: int) -> float:
        """Return how far `other` stands out from the best row beside these two.

        0: there is none from which it could.
        """
        for found, relevance in self.relevances.items():
            if found not in (row, other):
                return self.relevances.get(other, 0.0) - relevance
        return 0.0


@dataclass(frozen=True, slots=True)
class AskedPair:
    """Two statements of a speaker.

    `relevance` is that of the earlier one (`PairQuestion.relevances`), and `margin` is
    `PairQuestion.measure_margin`. `crowd` counts the later statements of the speaker.
    `score` is that of the pair alone, as if no words barred it (`pairs.weigh_pair`).
    """

    earlier: Statement
    later: Statement
    score: float
    relevance: float
    margin: float
    crowd: int


def score_asked(question: PairQuestion, pair: AskedPair) -> float:
    """Return how likely the later statement supersedes the earlier one, as a logit.

    -inf: the later one is a passage of a longer message, only asks, tells of others or of
    nothing present, or has no value.
    """
    after = pair.later.cues
    is_foreign = tells_nothing_own(pair.earlier.cues, after)
    if pair.score == -np.inf or is_foreign or not _may_tell_value(after):
        return -np.inf
    signals = measure_asked(question, pair)
    return sum(weight * signals[name] for name, weight in WEIGHTS.items())


def measure_asked(question: PairQuestion, pair: AskedPair) -> dict[str, float]:
    """Return the signals of a pair, each about from 0 to 1; "pair" from -2.

    "crowd" is the natural logarithm of the count, from `MIN_CROWD` on.
    """
    before = pair.earlier.cues
    after = pair.later.cues
    near = float(question.vector @ pair.earlier.vector)
    return {
        "bias": 1.0,
        "pair": max(LEAST_SCORE, pair.score) / SCORE_UNIT,
        "found before": pair.relevance,
        "margin": pair.margin,
        "near question": max(0.0, near),
        "unrelated": float(not relate(question.cues, after)),
        **measure_likeness(before, after),
        "change": float(after.tells_change),
        "own": float(after.has("own")),
        "continues": float(_continues_another(pair.earlier, pair.later)),
        "crowd": math.log(max(1.0, pair.crowd / MIN_CROWD)),
        "comma": float("," in pair.later.text),
        "colon": float(":" in pair.later.text),
        **measure_bars(before, after),
    }


def _may_tell_value(later: Cues) -> bool:
    """Return whether a text has a speaker, a change, a name, a number or a date.

    "The kiln is hot" has none: it ends nothing that was said of the kiln.
    """
    told = later.particulars
    has_value = later.tells_name or bool(told.numbers or told.dates)
    return has_value or later.has("own") or later.tells_change


def goes_on(earlier: Statement, later: Statement) -> bool:
    """Return whether a speaker goes on in one conversation without a word of change.

    "I live in Utrecht." and "My dog is called Rex." answer no question in turn.
    """
    is_same = earlier.conversation == later.conversation
    return is_same and not later.cues.tells_change


def _continues_another(earlier: Statement, later: Statement) -> bool:
    """Return whether the later statement goes on with another conversation's matter."""
    return later.position > 0 and later.conversation != earlier.conversation
