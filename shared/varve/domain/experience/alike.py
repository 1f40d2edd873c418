"""How close texts come to each other, and to the words of a situation."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import log

import numpy as np

from varve.domain.experience.words import (
    content_words,
    is_denied,
    spoken_words,
)
from varve.domain.record import Vector
from varve.domain.search.lexical import Floats

Embed = Callable[[Sequence[str]], Sequence[Vector]]
"""Returns a vector of unit length for each text."""
EmbedWords = Callable[[Sequence[str]], Floats]
"""Returns a row for each word, of unit length."""
WordByStem = Mapping[str, str]

SHARPNESS = 16.0
"""Weight of similar words: a cosine higher by 1/16 multiplies a word's share by e."""


def cosines(text: str, others: Sequence[str], embed: Embed) -> list[float]:
    """Return the cosine of a text with each other text, from one call of `embed`."""
    vector, *vectors = embed([text, *others])
    return [float(np.dot(vector, other)) for other in vectors]


def closeness(
    spoken: WordByStem, texts: Sequence[str], words: EmbedWords | None = None
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
    shape = (len(texts), len(spoken))
    if not spoken or not others:
        return np.zeros(shape, dtype=np.float32)
    similar = _similarity(others, spoken, words)
    weights = np.exp(SHARPNESS * similar)
    row_of = {stem: row for row, stem in enumerate(others)}
    means = np.zeros(shape, dtype=weights.dtype)
    for index, stems in enumerate(said):
        rows = [row_of[stem] for stem in stems]
        if rows:
            means[index] = weights[rows].mean(axis=0)
    soft_maxima = np.log1p(means) / SHARPNESS
    return np.asarray(soft_maxima, dtype=np.float32)


def _similarity(
    rows: WordByStem,
    columns: WordByStem,
    words: EmbedWords | None,
) -> Floats:
    """Return how similar words are by stem: 1.0 if equal, else their cosine or 0.0.

    A denied word is not similar to one that is not denied.
    """
    row_stems = np.array(list(rows))
    column_stems = np.array(list(columns))
    equal = row_stems[:, None] == column_stems
    similar: Floats = np.asarray(equal, dtype=np.float32)
    if words is not None:
        row_vectors = words(list(rows.values()))
        column_vectors = words(list(columns.values()))
        cosines_ = row_vectors @ column_vectors.T
        denied_rows = np.array([is_denied(stem) for stem in rows])
        denied_columns = np.array([is_denied(stem) for stem in columns])
        same_side = denied_rows[:, None] == denied_columns
        similar = np.maximum(similar, np.where(same_side, cosines_, 0.0))
    return similar


def rarity(spoken: WordByStem, texts: Sequence[str]) -> Floats:
    """Return a weight for each word, of sum 1; the fewer texts have a word, the higher."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(content_words(text))
    most = len(texts) + 2
    raw: list[float] = []
    for stem in spoken:
        having = counts[stem] + 1
        weight = 0.1 + log(most / having)
        raw.append(weight**2)
    total = max(sum(raw), 1e-9)
    return np.array(raw, dtype=np.float32) / total
