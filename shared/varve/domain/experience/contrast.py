"""Which past answer a situation speaks for, and whether it speaks for any of them.

Situations that ended in the same answer are a group. Three things are measured, and each can be read off:

- `told`: how much of the situation its corrections talk about. A correction says what made the difference,
  so a group is known by its words; each word of the situation is compared with them all, and the rarer it
  is in past situations, the more it counts (late interaction; Khattab and Zaharia, SIGIR 2020).
- `apart`: how much nearer the situation lies to the mean of the group's situations than to the mean of all
  groups: what all share counts for nothing (nearest centroids; Tibshirani et al., PNAS 2002).
- `novelty`: how much of the situation, by the same weights, no past situation or correction has.

`WEIGHTS` turns them into odds: of each answer, and against all of them, which is what a situation looks
like whose answer was never seen. Nothing is random; `benchmarks/experience_fit.py` shows where the weights
are from and what they are worth on domains that they were not fitted on.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log, sqrt

import numpy as np

from varve.domain.experience.words import content_words, spoken_words
from varve.domain.lexical import Floats
from varve.domain.record import Vector

EmbedWords = Callable[[Sequence[str]], Floats]
"""A row for each word, of unit length."""

ALIKE_FROM = 0.45
"""The cosine of two words up to which they have nothing to do with each other."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What each signal adds to the log of an answer's odds against an answer never seen."""

    told: float
    apart: float
    novelty: float
    seen: float


WEIGHTS = Weights(told=16.0, apart=5.0, novelty=-8.1, seen=4.35)


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
    """`told` and `apart` for each answer, `novelty` in [0, 1] for the situation."""

    told: Mapping[str, float]
    apart: Mapping[str, float]
    novelty: float


@dataclass(frozen=True, slots=True)
class Belief:
    """How likely the answer is one of the past's, in [0, 1], and how that divides among them."""

    familiarity: float
    shares: Mapping[str, float]


def belief(
    situation: str, vector: Vector, precedents: Sequence[Precedent], words: EmbedWords | None = None
) -> Belief:
    """What the precedents make of a new situation; the shares sum to 1, or are empty without any.

    Without `words` only equal stems are alike.
    """
    if not precedents:
        return Belief(0.0, {})
    found = signals(situation, vector, precedents, words)
    base = WEIGHTS.seen + WEIGHTS.novelty * found.novelty
    odds = {
        answer: exp(base + WEIGHTS.told * told + WEIGHTS.apart * found.apart[answer])
        for answer, told in found.told.items()
    }
    total = sum(odds.values())
    return Belief(total / (1.0 + total), {answer: one / total for answer, one in odds.items()})


def signals(
    situation: str, vector: Vector, precedents: Sequence[Precedent], words: EmbedWords | None = None
) -> Signals:
    """What is measured, of at least one precedent."""
    groups: dict[str, list[Precedent]] = {}
    for precedent in sorted(precedents, key=lambda p: (p.answer, p.id)):
        groups.setdefault(precedent.answer, []).append(precedent)
    spoken = spoken_words(situation)
    rarity = _rarity(list(spoken), precedents)
    likeness = _likeness(spoken, words)
    told = {}
    for answer, group in groups.items():
        alike = likeness(*(p.correction or p.situation for p in group))
        told[answer] = float(rarity @ np.clip((alike - ALIKE_FROM) / (1.0 - ALIKE_FROM), 0.0, 1.0))
    known = likeness(*(text for p in precedents for text in (p.situation, p.correction)))
    return Signals(told, _apart(vector, groups), float(rarity @ (1.0 - known)))


def _rarity(stems: Sequence[str], precedents: Sequence[Precedent]) -> Floats:
    """The words' shares in the situation's weight: the fewer past situations have one, the larger its own."""
    having = Counter(stem for p in precedents for stem in content_words(p.situation))
    raw = [0.1 + log((len(precedents) + 2) / (having[stem] + 1)) for stem in stems]
    return np.array(raw, dtype=np.float32) / max(sum(raw), 1e-9)


def _likeness(spoken: Mapping[str, str], words: EmbedWords | None) -> Callable[..., Floats]:
    """How like each of the situation's words is to the likest one of some texts, in [0, 1]."""
    asked = words(list(spoken.values())) if words and spoken else None

    def best(*texts: str) -> Floats:
        others = {stem: word for text in texts for stem, word in spoken_words(text).items()}
        same = np.array([stem in others for stem in spoken], dtype=np.float32)
        if asked is None or words is None or not others:
            return same
        near = np.max(asked @ words(list(others.values())).T, axis=1)
        return np.asarray(np.clip(np.maximum(near, same), 0.0, 1.0), dtype=np.float32)

    return best


def _apart(vector: Vector, groups: Mapping[str, Sequence[Precedent]]) -> dict[str, float]:
    """The situation's product with each group's mean situation, less that with the mean of those."""
    means = {a: _unit(np.mean(np.stack([p.vector for p in group]), axis=0)) for a, group in groups.items()}
    middle = np.mean(np.stack(list(means.values())), axis=0)
    return {answer: float(np.dot(vector, one - middle)) for answer, one in means.items()}


def _unit(vector: Vector) -> Vector:
    length = sqrt(float(np.dot(vector, vector)))
    return np.asarray(vector / length if length else vector, dtype=np.float32)
