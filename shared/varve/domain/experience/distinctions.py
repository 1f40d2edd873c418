"""Situations that look alike but had different answers, and what told them apart."""

import re
from collections.abc import Mapping, Sequence

import numpy as np

from varve.domain.experience.history import PastEpisode
from varve.domain.experience.words import content_words
from varve.domain.record import Vector

LOOK_ALIKE = 0.6
"""The cosine from which two situations look alike."""
MAX_QUOTE = 90
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")


def put_side_by_side(
    episodes: Sequence[PastEpisode], vectors: Mapping[str, Vector]
) -> list[PastEpisode]:
    """Return the episodes with each one's look-alikes behind it, else in their order."""
    left = list(episodes)
    ordered: list[PastEpisode] = []
    while left:
        first = left.pop(0)
        alike = [one for one in left if _look_alike(first, one, vectors)]
        left = [one for one in left if one not in alike]
        ordered += [first, *alike]
    return ordered


def tell_apart(
    episodes: Sequence[PastEpisode], vectors: Mapping[str, Vector]
) -> dict[str, str]:
    """Return by id what told an episode apart from the one it stands behind and looks like.

    Every episode has an answer of its own.
    """
    sentences: dict[str, str] = {}
    for index, one in enumerate(episodes):
        for before in episodes[:index]:
            if _look_alike(before, one, vectors):
                sentences[one.id] = _sentence(before, one)
                break
    return sentences


def _look_alike(
    one: PastEpisode, other: PastEpisode, vectors: Mapping[str, Vector]
) -> bool:
    product = np.dot(vectors[one.situation], vectors[other.situation])
    return float(product) >= LOOK_ALIKE


def _sentence(before: PastEpisode, one: PastEpisode) -> str:
    clue = _find_clue(one, before)
    return (
        f"looks like “{before.situation[:MAX_QUOTE]}”; "
        f"it was {one.resolution} when “{clue[:MAX_QUOTE]}”"
    )


def _find_clue(one: PastEpisode, other: PastEpisode) -> str:
    """Return the sentence of an episode with the largest share of words the other lacks.

    The episode's correction says what made the difference, if there is one.
    """
    if one.correction:
        return one.correction
    known = content_words(other.situation)
    sentences = [text for text in _SENTENCE.split(one.situation) if text]

    def news(sentence: str) -> float:
        words = content_words(sentence)
        return len(words - known) / max(1, len(words))

    return max(sentences, key=news, default=one.situation)
