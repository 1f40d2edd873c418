"""Whether a later statement supersedes an earlier one, given a question that both may answer.

What a question asks for is evidence that both tell of it: the same pair is judged more
readily than without a question. `benchmarks/updates_fit_asked.py` fitted the weights.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from varve.domain.statements.cues import Cues
from varve.domain.statements.pairs import MIN_CROWD, Statement
from varve.domain.statements.particulars import count_shared

FIRST_PLACES = 6
"""So many statements at the beginning of an answer may be superseded by its others."""
LEAST_SCORE = -8.0
SCORE_UNIT = 4.0
"""A pair's own score counts from `LEAST_SCORE` on, in these units."""
MAX_BRIEF = 3
"""A statement with fewer telling words tells little by itself."""

WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "bias": -2.03, "pair": 3.04, "found before": 2.06, "found after": 0.77,
        "near statement": -0.57, "words before": 0.65, "asks help": -1.19,
        "own": 0.36, "names": 0.94, "dates": 0.81, "brief": -0.28,
        "continues": -1.97, "crowd": -1.00,
    }
)  # fmt: skip
NEAREST_IF_ASKED = 1.77
"""What it adds that no earlier statement of the speaker is nearer to the later one."""


@dataclass(frozen=True, slots=True)
class PairQuestion:
    """A question's cues with the statements that it found.

    `relevances` has the share of the best score that each row of a statement has, best
    first.
    """

    cues: Cues
    relevances: Mapping[int, float]

    @property
    def first(self) -> list[int]:
        """The rows that most likely answer the question, best first."""
        return list(self.relevances)[:FIRST_PLACES]


@dataclass(frozen=True, slots=True)
class AskedPair:
    """Two statements of a speaker.

    The relevances are theirs to the question (`PairQuestion.relevances`). `crowd` counts the
    later statements of the speaker.
    `score` is that of the pair alone (`pairs.score_pair`).
    """

    earlier: Statement
    later: Statement
    score: float
    relevance_before: float
    relevance_after: float
    crowd: int


def score_asked(question: PairQuestion, pair: AskedPair) -> float:
    """Return how likely the later statement supersedes the earlier one, as a logit.

    -inf: it cannot, as in `pairs.score_pair`.
    """
    if pair.score == -np.inf:
        return -np.inf
    signals = measure_asked(question, pair)
    return sum(weight * signals[name] for name, weight in WEIGHTS.items())


def measure_asked(question: PairQuestion, pair: AskedPair) -> dict[str, float]:
    """Return the signals of a pair, each about from 0 to 1; "pair" from -2.

    "crowd" is greater: the natural logarithm of the count, from `MIN_CROWD` on.
    """
    asked = question.cues.particulars
    before = pair.earlier.cues
    after = pair.later.cues
    near = float(pair.earlier.vector @ pair.later.vector)
    return {
        "bias": 1.0,
        "pair": max(LEAST_SCORE, pair.score) / SCORE_UNIT,
        "found before": pair.relevance_before,
        "found after": pair.relevance_after,
        "near statement": max(0.0, near),
        "words before": float(count_shared(before.particulars, asked) > 0),
        "asks help": float(after.has("asks_help")),
        "own": float(after.has("own")),
        "names": float(before.tells_name and after.tells_name),
        "dates": float(
            bool(before.particulars.dates and after.particulars.dates)
        ),
        "brief": float(len(after.particulars.telling) < MAX_BRIEF),
        "continues": float(_continues_another(pair.earlier, pair.later)),
        "crowd": math.log(max(1.0, pair.crowd / MIN_CROWD)),
    }


def goes_on(earlier: Statement, later: Statement) -> bool:
    """Return whether a speaker goes on in one conversation without a word of change.

    "I live in Utrecht." and "My dog is called Rex." answer no question in turn.
    """
    is_same = earlier.conversation == later.conversation
    return is_same and not later.cues.tells_change


def _continues_another(earlier: Statement, later: Statement) -> bool:
    """Return whether the later statement goes on with another conversation's matter."""
    return later.position > 0 and later.conversation != earlier.conversation
