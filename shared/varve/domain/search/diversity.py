"""Maximal marginal relevance: a choice that answers the question without saying one thing five times."""

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from varve.domain.language.stopwords import STOP_WORDS_BUT_DENIALS
from varve.domain.record import Vector
from varve.domain.search.lexical import Floats

BALANCE = 0.7
"""How much relevance counts against novelty where the caller does not say."""


NEARLY_ALL = 0.85
_WORD = re.compile(r"\w+")


def mmr(
    relevance: Sequence[float] | npt.NDArray[np.float64],
    vectors: Sequence[Vector] | Floats,
    limit: int,
    balance: float = BALANCE,
) -> list[int]:
    """The indices of at most `limit` items, in the order in which they are worth reading.

    Each next item has the greatest `balance * relevance - (1 - balance) * (largest cosine to those
    chosen before)`; of equals the first. Relevance lies in [0, 1], vectors have unit length and equal
    dimensions; cosines below 0 count as 0. After Carbonell and Goldstein (SIGIR 1998).
    Raises ValueError: not one vector for each relevance.
    """
    if len(relevance) != len(vectors):
        raise ValueError(f"{len(relevance)} relevances, {len(vectors)} vectors")
    if not len(relevance):
        return []
    matrix = np.asarray(vectors, dtype=np.float32)
    worth = balance * np.asarray(relevance, dtype=np.float64)
    beside = worth - (1.0 - balance) * np.maximum(matrix @ matrix.T, 0).astype(
        np.float64
    )
    np.fill_diagonal(beside, -np.inf)  # what was chosen is not chosen again
    chosen: list[int] = []
    for _ in range(min(limit, len(worth))):
        best = worth.argmax()
        chosen.append(int(best))
        np.minimum(
            worth, beside[best], out=worth
        )  # the largest cosine leaves the least
    return chosen


def distinct(texts: Sequence[str]) -> list[int]:
    """The indices of the texts that do not say what an earlier one says in nearly the same words.

    That is: at least 85 percent of both texts' words are shared (Jaccard), and all that tell or deny.
    """
    kept: list[tuple[int, frozenset[str], frozenset[str]]] = []
    for index, text in enumerate(texts):
        words = frozenset(_WORD.findall(text.casefold()))
        telling = words - STOP_WORDS_BUT_DENIALS
        if not any(
            telling == other_telling and _alike(words, other)
            for _, other, other_telling in kept
        ):
            kept.append((index, words, telling))
    return [index for index, _, _ in kept]


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= NEARLY_ALL * len(one | other)
