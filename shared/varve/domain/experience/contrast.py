"""Which past answer a situation speaks for: learnt from what told past situations apart.

Situations that ended in the same answer are a group. Of each group there is a prototype, the mean of its
situations and, twice as heavy, of its corrections, for a correction says what made the difference; what
all groups share is subtracted, so that only what separates them counts (the difference from the grand
mean, as in a nearest-centroid classifier; Tibshirani et al., PNAS 2002). Words that stand in one group's
corrections and in no other's count beside the vectors. Nothing is trained, nothing is random.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log, sqrt

import numpy as np

from varve.domain.experience.words import content_words
from varve.domain.record import Vector

CORRECTION_WEIGHT = 2.0
WORD_WEIGHT = 0.5
COUNT_WEIGHT = 0.03
TEMPERATURE = 0.1
FAMILIAR_FROM, FAMILIAR_WIDTH = 0.2, 0.06
"""The share of a situation's words known from the past at which it is half familiar, and how soft that is."""


@dataclass(frozen=True, slots=True)
class Precedent:
    """A past situation with its vector, the answer it ended in, and what was said to be different."""

    id: str
    answer: str
    situation: str
    vector: Vector
    correction: str = ""
    correction_vector: Vector | None = None


@dataclass(frozen=True, slots=True)
class Belief:
    """How much of a situation is known from the past, in [0, 1], and how that divides among the answers."""

    familiarity: float
    shares: Mapping[str, float]


def belief(situation: str, vector: Vector, precedents: Sequence[Precedent]) -> Belief:
    """What the precedents make of a new situation; the shares sum to 1, or are empty without any."""
    if not precedents:
        return Belief(0.0, {})
    groups: dict[str, list[Precedent]] = {}
    for precedent in sorted(precedents, key=lambda p: (p.answer, p.id)):
        groups.setdefault(precedent.answer, []).append(precedent)
    words = content_words(situation)
    nearness = _nearness(vector, groups)
    wording = _wording(words, groups)
    raised = {
        answer: exp(
            (nearness[answer] + WORD_WEIGHT * wording[answer] + COUNT_WEIGHT * log(len(group))) / TEMPERATURE
        )
        for answer, group in groups.items()
    }
    total = sum(raised.values())
    return Belief(_familiarity(words, precedents), {answer: one / total for answer, one in raised.items()})


def _nearness(vector: Vector, groups: Mapping[str, Sequence[Precedent]]) -> dict[str, float]:
    """The situation's product with each prototype's difference from their mean."""
    prototypes = {answer: _prototype(group) for answer, group in groups.items()}
    middle = np.mean(np.stack(list(prototypes.values())), axis=0)
    return {answer: float(np.dot(vector, one - middle)) for answer, one in prototypes.items()}


def _prototype(group: Sequence[Precedent]) -> Vector:
    corrections = [p.correction_vector for p in group if p.correction_vector is not None]
    prototype = _unit(np.mean(np.stack([p.vector for p in group]), axis=0))
    if corrections:
        prototype = prototype + CORRECTION_WEIGHT * _unit(np.mean(np.stack(corrections), axis=0))
    return _unit(prototype)


def _wording(words: frozenset[str], groups: Mapping[str, Sequence[Precedent]]) -> dict[str, float]:
    """Per group, the mean over the words of how much more its corrections use them than any other's do."""
    rates = {
        answer: {word: sum(word in content_words(p.correction) for p in group) / len(group) for word in words}
        for answer, group in groups.items()
    }
    return {
        answer: sum(
            rate - max((rates[other][word] for other in groups if other != answer), default=0.0)
            for word, rate in own.items()
        )
        / max(1, len(words))
        for answer, own in rates.items()
    }


def _familiarity(words: frozenset[str], precedents: Sequence[Precedent]) -> float:
    """A logistic curve over the share of the situation's words that the past has."""
    known = frozenset[str]().union(*(content_words(f"{p.situation} {p.correction}") for p in precedents))
    share = len(words & known) / max(1, len(words))
    return 1.0 / (1.0 + exp(-(share - FAMILIAR_FROM) / FAMILIAR_WIDTH))


def _unit(vector: Vector) -> Vector:
    length = sqrt(float(np.dot(vector, vector)))
    return np.asarray(vector / length if length else vector, dtype=np.float32)
