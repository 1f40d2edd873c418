"""Maximal marginal relevance: choose items that are relevant and differ from each other."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from varve.domain.record import Vector
from varve.domain.search.lexical import Floats

DEFAULT_BALANCE = 0.7
"""The default weight of relevance against novelty."""
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
