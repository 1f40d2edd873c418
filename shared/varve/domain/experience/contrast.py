"""Which past answer a situation speaks for, and whether it speaks for any of them.

Situations that ended in the same answer are a group. Two things are measured, and each can be read off:

- `told`: how much of the situation its corrections talk about. A correction says what made the difference,
  so a group is known by its words; each word of the situation is compared with those of each correction
  (late interaction; Khattab and Zaharia, SIGIR 2020), and the fewer past texts have it, the more it counts.
  So what look-alikes share decides nothing.
- `apart`: how much nearer the situation lies to the mean of the group's texts than to the mean of all
  groups: what all share counts for nothing (nearest centroids; Tibshirani et al., PNAS 2002).

In both a precedent counts by its `surprise`: how likely a memory without it had been wrong about it. What
others foretell teaches little, and a look-alike that ended otherwise teaches most (error-driven learning;
Rescorla and Wagner, 1972).

`WEIGHTS` turns them into odds: of each answer, and against an answer that was never seen. How often an
answer came is no signal: it added nothing on scenarios that the weights were not fitted on. Nothing is
random; `benchmarks/experience_fit.py` shows where the weights are from and what they are worth.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp

import numpy as np

from varve.domain.experience.alike import EmbedWords, closeness, rarity
from varve.domain.experience.words import spoken_words
from varve.domain.lexical import Floats
from varve.domain.record import Vector

STEEPNESS = 8.0
"""What a cosine adds to the log of the odds that the nearest other precedent foretells an answer."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What each signal adds to the log of an answer's odds against an answer never seen."""

    told: float
    apart: float
    seen: float


WEIGHTS = Weights(told=19.8, apart=19.5, seen=-1.59)


@dataclass(frozen=True, slots=True)
class Precedent:
    """A past situation, the answer it ended in, and what was said to be different.

    `vector` is that of the situation and the correction together.
    """

    id: str
    answer: str
    situation: str
    vector: Vector
    correction: str = ""

    @property
    def text(self) -> str:
        """All that is known of it but the answer."""
        return precedent_text(self.situation, self.correction)


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


def precedent_text(situation: str, correction: str, answer: str = "") -> str:
    """A situation, what was said of it afterwards, and what it ended in, as one text."""
    return "\n".join(part for part in (situation, correction, answer) if part)


def belief(
    situation: str, vector: Vector, precedents: Sequence[Precedent], words: EmbedWords | None = None
) -> Belief:
    """What the precedents make of a new situation; the shares sum to 1, or are empty without any.

    Without `words` only equal stems are alike.
    """
    if not precedents:
        return Belief(0.0, {})
    found = signals(situation, vector, precedents, words)
    odds = {
        answer: exp(WEIGHTS.seen + WEIGHTS.told * told + WEIGHTS.apart * found.apart[answer])
        for answer, told in found.told.items()
    }
    total = sum(odds.values())
    return Belief(total / (1.0 + total), {answer: one / total for answer, one in odds.items()})


def signals(
    situation: str, vector: Vector, precedents: Sequence[Precedent], words: EmbedWords | None = None
) -> Signals:
    """What is measured, of at least one precedent."""
    ordered = sorted(precedents, key=lambda p: (p.answer, p.id))
    answers = np.array([p.answer for p in ordered])
    vectors = np.stack([p.vector for p in ordered])
    much = surprises(answers, vectors)
    spoken = spoken_words(situation)
    rare = rarity(spoken, [p.text for p in ordered])
    near = closeness(spoken, [p.correction or p.situation for p in ordered], words) @ rare
    groups = {answer: answers == answer for answer in dict.fromkeys(answers.tolist())}
    told = {answer: float(np.average(near[own], weights=much[own])) for answer, own in groups.items()}
    return Signals(told, _apart(vector, vectors, groups, much))


def surprises(answers: Floats, vectors: Floats) -> Floats:
    """For each precedent how likely the nearest of the others had foretold another answer, in (0, 1).

    The only one of its answer surprises by 1. `answers` are one for each row of `vectors`.
    """
    alike = vectors @ vectors.T
    same = answers[:, None] == answers[None, :]
    own = np.where(same & ~np.eye(len(answers), dtype=bool), alike, -np.inf).max(axis=1)
    other = np.where(same, 0.0, alike).max(axis=1)
    return np.asarray(1.0 / (1.0 + np.exp(STEEPNESS * (own - other))), dtype=np.float32)


def _apart(vector: Vector, vectors: Floats, groups: Mapping[str, Floats], much: Floats) -> dict[str, float]:
    """The situation's product with each group's mean text, less that with the mean of those, by surprise."""
    means = {answer: _unit(much[own] @ vectors[own]) for answer, own in groups.items()}
    scales = {answer: float(much[own].mean()) for answer, own in groups.items()}
    middle = np.average(np.stack(list(means.values())), axis=0, weights=list(scales.values()))
    return {answer: scales[answer] * float(np.dot(vector, one - middle)) for answer, one in means.items()}


def _unit(vector: Vector) -> Vector:
    return np.asarray(vector / max(float(np.linalg.norm(vector)), 1e-9), dtype=np.float32)
