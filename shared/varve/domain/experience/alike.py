"""How much texts are about the words of a situation."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import log

import numpy as np

from varve.domain.experience.words import content_words, spoken_words
from varve.domain.search.lexical import Floats

EmbedWords = Callable[[Sequence[str]], Floats]
"""A row for each word, of unit length."""

SHARPNESS = 16.0
"""How much more a word of like meaning counts than one of another: by its e-th power for a cosine of 1/16."""


def closeness(
    spoken: Mapping[str, str], texts: Sequence[str], words: EmbedWords | None = None
) -> Floats:
    """A row for each text, a column for each word: how near the text comes to it, from 0 to 1.

    The logarithm of the mean of exp(SHARPNESS x cosine) over the text's words: a maximum that does not grow
    with the number of words it is taken of. `spoken` has words by stem; without `words` only equal stems are
    alike.
    """
    said = [spoken_words(text) for text in texts]
    others = {stem: word for text in said for stem, word in text.items()}
    if not spoken or not others:
        return np.zeros((len(texts), len(spoken)), dtype=np.float32)
    alike = np.array(
        [[stem == other for stem in spoken] for other in others], dtype=np.float32
    )
    if words is not None:
        alike = np.maximum(
            alike, words(list(others.values())) @ words(list(spoken.values())).T
        )
    loud, places = (
        np.exp(SHARPNESS * alike),
        {stem: place for place, stem in enumerate(others)},
    )
    rows = [
        loud[[places[stem] for stem in text]].mean(axis=0) if text else 0.0 * loud[0]
        for text in said
    ]
    return np.asarray(np.log1p(np.stack(rows)) / SHARPNESS, dtype=np.float32)


def rarity(spoken: Mapping[str, str], texts: Sequence[str]) -> Floats:
    """The words' weights, of sum 1: the fewer texts have a word, the more it counts."""
    having = Counter(stem for text in texts for stem in content_words(text))
    raw = [(0.1 + log((len(texts) + 2) / (having[stem] + 1))) ** 2 for stem in spoken]
    return np.array(raw, dtype=np.float32) / max(sum(raw), 1e-9)
