"""Maximal marginal relevance: relevant items first, without repetition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from varve.domain.record import Vector
from varve.domain.search.diversity import mmr


def unit(*values: float) -> Vector:
    vector = np.array(values, np.float32)
    return vector / np.float32(np.linalg.norm(vector))


SETS = st.lists(
    st.tuples(st.floats(0, 1), st.tuples(*[st.floats(-1, 1)] * 3).filter(any)),
    min_size=0,
    max_size=12,
)


def test_a_new_item_comes_before_a_more_relevant_repetition() -> None:
    vectors = [unit(1, 0), unit(1, 0.01), unit(0, 1)]
    assert mmr([1.0, 0.95, 0.7], vectors, 3, balance=0.6) == [0, 2, 1]


def test_with_full_balance_the_order_is_by_relevance() -> None:
    vectors = [unit(1, 0)] * 3
    assert mmr([0.2, 0.9, 0.5], vectors, 2, balance=1.0) == [1, 2]


@given(SETS, st.integers(0, 15), st.floats(0, 1))
def test_a_choice_is_distinct_limited_and_starts_with_the_most_relevant(
    items: list[tuple[float, tuple[float, ...]]], limit: int, balance: float
) -> None:
    relevance = [score for score, _ in items]
    vectors = [np.array(values, np.float32) for _, values in items]
    chosen = mmr(relevance, vectors, limit, balance)
    assert len(chosen) == len(set(chosen)) == min(limit, len(items))
    assert set(chosen) <= set(range(len(items)))
    if chosen and balance > 0:
        assert balance * relevance[chosen[0]] == balance * max(relevance)


def test_the_numbers_of_vectors_and_relevances_must_agree() -> None:
    with pytest.raises(ValueError, match="1 relevances, 2 vectors"):
        mmr([1.0], [unit(1), unit(1)], 1)
