"""The probability that a situation has the answer of a past one, or of none of them.

Situations that ended in the same answer form a group. Two signals are measured:

- `told`: how well the group's corrections cover the situation's words. A correction says
  what made the difference, so its words identify the group. Each word of the situation is
  compared with the words of each correction (late interaction; Khattab and Zaharia, SIGIR
  2020). A word that few past situations have counts more, so words that similar situations
  share decide nothing.
- `apart`: how much nearer the situation lies to the mean of the group's situations than to
  the mean of all groups (nearest centroids; Tibshirani et al., PNAS 2002). Words that all
  groups share count for nothing.
- `clash`: the share of the situation's words that the group's precedents say the opposite
  of: "no release" where they had one. Vectors hardly see a denial.

`WEIGHTS` turns the signals into odds of each answer against an unseen answer. The frequency
of an answer is no signal: it added nothing on domains that the weights were not fitted on.
Nothing is random. `benchmarks/experience_fit.py` fits the weights and measures them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, sqrt

import numpy as np

from varve.domain.experience.alike import (
    EmbedWords,
    WordByStem,
    closeness,
    rarity,
)
from varve.domain.experience.words import content_words, opposite, spoken_words
from varve.domain.record import Vector
from varve.domain.search.lexical import Floats


@dataclass(frozen=True, slots=True)
class Weights:
    """What each signal adds to the log odds of an answer against an unseen answer."""

    told: float
    apart: float
    seen: float
    clash: float


UNLIKE = 0.4
"""The cosine of two situations from which a denial in one concerns the other."""
WEIGHTS = Weights(told=15.6, apart=5.77, seen=-1.38, clash=-80.0)


@dataclass(frozen=True, slots=True)
class Precedent:
    """A past situation with its vector, its final answer and its correction, if any.

    `weight` is under 1 if it happened under another regime.
    """

    id: str
    answer: str
    situation: str
    vector: Vector
    correction: str = ""
    weight: float = 1.0


Groups = Mapping[str, Sequence[Precedent]]
"""The precedents of each answer."""


@dataclass(frozen=True, slots=True)
class AnswerSignals:
    """The value of each signal, by answer."""

    told: Mapping[str, float]
    apart: Mapping[str, float]
    clash: Mapping[str, float]
    weight: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Belief:
    """The probability that the answer is a known one, and each known answer's share of it.

    `familiarity` lies in [0, 1]. `shares` sum to 1, or are empty without precedents.
    """

    familiarity: float
    shares: Mapping[str, float]


def form_belief(
    situation: str,
    vector: Vector,
    precedents: Sequence[Precedent],
    words: EmbedWords | None = None,
) -> Belief:
    """Return the belief that the precedents give for a new situation.

    Without `words` only equal stems are similar.
    """
    if not precedents:
        return Belief(0.0, {})
    signals = measure_signals(situation, vector, precedents, words)
    odds: dict[str, float] = {}
    for answer, told in signals.told.items():
        by_told = WEIGHTS.told * told
        by_apart = WEIGHTS.apart * signals.apart[answer]
        by_clash = WEIGHTS.clash * signals.clash[answer]
        by_all = WEIGHTS.seen + by_told + by_apart + by_clash
        odds[answer] = exp(by_all) * signals.weight[answer]
    total = sum(odds.values())
    shares = {answer: one / total for answer, one in odds.items()}
    return Belief(total / (1.0 + total), shares)


def measure_signals(
    situation: str,
    vector: Vector,
    precedents: Sequence[Precedent],
    words: EmbedWords | None = None,
) -> AnswerSignals:
    """Return the signals of each answer; `precedents` must not be empty."""
    groups = _group_by_answer(precedents)
    spoken = spoken_words(situation)
    weights = rarity(spoken, [p.situation for p in precedents])
    told: dict[str, float] = {}
    clash: dict[str, float] = {}
    weight: dict[str, float] = {}
    for answer, group in groups.items():
        clashes = [_clash(spoken, vector, p) @ weights for p in group]
        clash[answer] = float(np.mean(clashes))
        corrections = [p.correction or p.situation for p in group]
        covered = closeness(spoken, corrections, words) @ weights
        told[answer] = float(np.mean(covered))
        weight[answer] = max(p.weight for p in group)
    return AnswerSignals(told, _apart(vector, groups), clash, weight)


def _clash(spoken: WordByStem, vector: Vector, precedent: Precedent) -> Floats:
    """Return for each word how far the precedent says the opposite, from 0 to 1.

    A precedent of another subject says nothing about the word: it counts as much as its
    vector is like the situation's.
    """
    said = content_words(precedent.situation)
    clashes: list[bool] = []
    for stem in spoken:
        is_denied = opposite(stem) in said
        clashes.append(is_denied and stem not in said)
    likeness = float(np.dot(vector, precedent.vector))
    alike = min(1.0, max(0.0, (likeness - UNLIKE) / (1.0 - UNLIKE)))
    return np.array(clashes, dtype=np.float32) * np.float32(alike)


def _group_by_answer(precedents: Sequence[Precedent]) -> Groups:
    """Return the precedents of each answer; answers and precedents are sorted by name."""
    groups: dict[str, list[Precedent]] = {}
    for precedent in sorted(precedents, key=lambda p: (p.answer, p.id)):
        group = groups.setdefault(precedent.answer, [])
        group.append(precedent)
    return groups


def _apart(vector: Vector, groups: Groups) -> dict[str, float]:
    """Return the vector's product with each group's mean, less that with their mean."""
    means: dict[str, Vector] = {}
    for answer, group in groups.items():
        vectors = [precedent.vector for precedent in group]
        means[answer] = _unit(_mean(vectors))
    centre = _mean(list(means.values()))
    products: dict[str, float] = {}
    for answer, mean in means.items():
        product = np.dot(vector, mean - centre)
        products[answer] = float(product)
    return products


def _mean(vectors: Sequence[Vector]) -> Vector:
    stacked = np.stack(vectors)
    return np.asarray(np.mean(stacked, axis=0))


def _unit(vector: Vector) -> Vector:
    length = sqrt(float(np.dot(vector, vector)))
    scaled = vector / length if length else vector
    return np.asarray(scaled, dtype=np.float32)
