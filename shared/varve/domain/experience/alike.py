"""How close texts come to the words of a situation."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import log

import numpy as np

from varve.domain.experience.words import content_words, spoken_words
from varve.domain.search.lexical import Floats

EmbedWords = Callable[[Sequence[str]], Floats]
"""Returns a row for each word, of unit length."""

SHARPNESS = 16.0
"""Weight of similar words: a cosine higher by 1/16 multiplies a word's share by e."""


def closeness(
    spoken: Mapping[str, str], texts: Sequence[str], words: EmbedWords | None = None
) -> Floats:
    """Return how close each text (row) comes to each word (column), from 0 to 1.

    That is log1p of the mean of exp(SHARPNESS x cosine) over the text's words, divided by
    SHARPNESS: a soft maximum that does not grow with the number of words. `spoken` maps
    stems to words. Without `words` only equal stems are similar.
    """
    said = [spoken_words(text) for text in texts]
    others: dict[str, str] = {}
    for stems in said:
        others.update(stems)
    if not spoken or not others:
        return np.zeros((len(texts), len(spoken)), dtype=np.float32)
    similar = _same_stem(list(others), list(spoken))
    if words is not None:
        cosines = words(list(others.values())) @ words(list(spoken.values())).T
        similar = np.maximum(similar, cosines)
    weights = np.exp(SHARPNESS * similar)
    row_of = {stem: row for row, stem in enumerate(others)}
    means = np.zeros((len(texts), len(spoken)), dtype=weights.dtype)
    for index, stems in enumerate(said):
        if stems:
            means[index] = weights[[row_of[stem] for stem in stems]].mean(axis=0)
    return np.asarray(np.log1p(means) / SHARPNESS, dtype=np.float32)


def _same_stem(rows: Sequence[str], columns: Sequence[str]) -> Floats:
    """Return 1.0 where row and column are the same stem, else 0.0."""
    equal = np.array(rows)[:, None] == np.array(columns)[None, :]
    return np.asarray(equal, dtype=np.float32)


def rarity(spoken: Mapping[str, str], texts: Sequence[str]) -> Floats:
    """Return a weight for each word, of sum 1; the fewer texts have a word, the higher."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(content_words(text))
    raw = [(0.1 + log((len(texts) + 2) / (counts[stem] + 1))) ** 2 for stem in spoken]
    return np.array(raw, dtype=np.float32) / max(sum(raw), 1e-9)
