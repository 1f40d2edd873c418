"""Which past answer a situation speaks for, and whether it speaks for any of them.

Situations that ended in the same answer are a group. Two things are measured, and each can be read off:

- `told`: how much of the situation its corrections talk about. A correction says what made the difference,
  so a group is known by its words; each word of the situation is compared with those of each correction
  (late interaction; Khattab and Zaharia, SIGIR 2020), and the fewer past situations have it, the more it
  counts. So what look-alikes share decides nothing.
- `apart`: how much nearer the situation lies to the mean of the group's situations than to the mean of all
  groups: what all share counts for nothing (nearest centroids; Tibshirani et al., PNAS 2002).

`WEIGHTS` turns them into odds: of each answer, and against an answer that was never seen. How often an
answer came is no signal: it added nothing on domains that the weights were not fitted on. Nothing is
random; `benchmarks/experience_fit.py` shows where the weights are from and what they are worth.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, sqrt

import numpy as np

from varve.domain.experience.alike import EmbedWords, closeness, rarity
from varve.domain.experience.words import spoken_words
from varve.domain.record import Vector


@dataclass(frozen=True, slots=True)
class Weights:
    """What each signal adds to the log of an answer's odds against an answer never seen."""

    told: float
    apart: float
    seen: float


WEIGHTS = Weights(told=18.1, apart=7.05, seen=-1.73)


@dataclass(frozen=True, slots=True)
class Precedent:
    """A past situation with its vector, the answer it ended in, and what was said to be different."""

    id: str
    answer: str
    situation: str
    vector: Vector
    correction: str = ""


@dataclass(frozen=True, slots=True)
class Signals:
    """For each answer."""

    told: Mapping[str, float]
    apart: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Belief:
    """How likely the answer is one of the past's, in [0, 1], and how that divides among them."""

    familiarity: float
    shares: Mapping[str, float]


def belief(
    situation: str,
    vector: Vector,
    precedents: Sequence[Precedent],
    words: EmbedWords | None = None,
) -> Belief:
    """What the precedents make of a new situation; the shares sum to 1, or are empty without any.

    Without `words` only equal stems are alike.
    """
    if not precedents:
        return Belief(0.0, {})
    found = signals(situation, vector, precedents, words)
    odds = {
        answer: exp(
            WEIGHTS.seen + WEIGHTS.told * told + WEIGHTS.apart * found.apart[answer]
        )
        for answer, told in found.told.items()
    }
    total = sum(odds.values())
    return Belief(
        total / (1.0 + total), {answer: one / total for answer, one in odds.items()}
    )


def signals(
    situation: str,
    vector: Vector,
    precedents: Sequence[Precedent],
    words: EmbedWords | None = None,
) -> Signals:
    """What is measured, of at least one precedent."""
    groups: dict[str, list[Precedent]] = {}
    for precedent in sorted(precedents, key=lambda p: (p.answer, p.id)):
        groups.setdefault(precedent.answer, []).append(precedent)
    spoken = spoken_words(situation)
    weights = rarity(spoken, [p.situation for p in precedents])
    told = {
        answer: float(
            np.mean(
                closeness(spoken, [p.correction or p.situation for p in group], words)
                @ weights
            )
        )
        for answer, group in groups.items()
    }
    return Signals(told, _apart(vector, groups))


def _apart(
    vector: Vector, groups: Mapping[str, Sequence[Precedent]]
) -> dict[str, float]:
    """The situation's product with each group's mean situation, less that with the mean of those."""
    means = {
        a: _unit(np.mean(np.stack([p.vector for p in group]), axis=0))
        for a, group in groups.items()
    }
    middle = np.mean(np.stack(list(means.values())), axis=0)
    return {
        answer: float(np.dot(vector, one - middle)) for answer, one in means.items()
    }


def _unit(vector: Vector) -> Vector:
    length = sqrt(float(np.dot(vector, vector)))
    return np.asarray(vector / length if length else vector, dtype=np.float32)
