"""Maximal marginal relevance: choose items that are relevant and differ from each other."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from varve.domain.language.stopwords import STOP_WORDS_BUT_DENIALS
from varve.domain.language.tokens import plain_words
from varve.domain.record import Vector
from varve.domain.search.lexical import Floats

DEFAULT_BALANCE = 0.7
"""The default weight of relevance against novelty."""
NEAR_DUPLICATE_SHARE = 0.85
"""The share of common words (Jaccard) from which on two texts are near duplicates."""

Words = frozenset[str]
Doubles = npt.NDArray[np.float64]


def mmr(
    relevance: Sequence[float] | Doubles,
    vectors: Sequence[Vector] | Floats,
    limit: int,
    balance: float = DEFAULT_BALANCE,
) -> list[int]:
    """Return the indices of at most `limit` items in reading order.

    Each next item has the greatest `balance * relevance - (1 - balance) * (largest
    cosine to the items already chosen)`. The first item wins a tie. Relevance lies in
    [0, 1]; vectors have unit length and equal dimensions; negative cosines count as 0.
    After Carbonell and Goldstein (SIGIR 1998).
    Raises ValueError: the numbers of relevances and vectors differ.
    """
    count = len(relevance)
    if count != len(vectors):
        raise ValueError(f"{count} relevances, {len(vectors)} vectors")
    if not count:
        return []
    worth = balance * np.asarray(relevance, np.float64)
    matrix = np.asarray(vectors, np.float32)
    cosines = np.maximum(matrix @ matrix.T, 0)
    penalties = (1.0 - balance) * cosines.astype(np.float64)
    worth_beside = worth - penalties
    np.fill_diagonal(worth_beside, -np.inf)  # never choose an item twice
    chosen: list[int] = []
    for _ in range(min(limit, count)):
        best = int(worth.argmax())
        chosen.append(best)
        # The largest cosine leaves the least worth.
        np.minimum(worth, worth_beside[best], out=worth)
    return chosen


def distinct(texts: Sequence[str]) -> list[int]:
    """Return the indices of the texts that are no near duplicate of an earlier one.

    Near duplicates share at least 85 percent of their words (Jaccard), and all words
    that are not stop words or are negations.
    """
    kept: list[int] = []
    words_by_telling = defaultdict[Words, list[Words]](list)
    for index, text in enumerate(texts):
        words = frozenset(plain_words(text))
        others = words_by_telling[words - STOP_WORDS_BUT_DENIALS]
        if not _has_near_duplicate(words, others):
            kept.append(index)
            others.append(words)
    return kept


def _has_near_duplicate(words: Words, others: Sequence[Words]) -> bool:
    for other in others:
        shared = len(words & other)
        if shared >= NEAR_DUPLICATE_SHARE * len(words | other):
            return True
    return False
