"""From candidates to an order."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import MORNING, a_record
from varve.domain.ranking import HALF_LIFE_DAYS, Candidate, Ranked, rank, recency, without_repeats
from varve.domain.record import MemoryType

CANDIDATES = st.lists(
    st.builds(
        lambda n, day, vector, keyword, importance: Candidate(
            a_record(f"fact {n}", at=MORNING - timedelta(days=day), id=f"fact-{n}", importance=importance),
            vector,
            keyword,
        ),
        st.integers(0, 10_000),
        st.integers(-50, 900),
        st.floats(-1, 1),
        st.floats(0, 80),
        st.floats(0, 1),
    ),
    max_size=12,
    unique_by=lambda candidate: candidate.record.id,
)


def names(ranked: list[Ranked]) -> list[str]:
    return [item.record.id for item in ranked]


@given(CANDIDATES, st.randoms())
def test_the_order_is_of_the_candidates_alone_and_not_of_their_order(
    candidates: list[Candidate], random: object
) -> None:
    shuffled = sorted(candidates, key=lambda c: c.record.id)
    assert names(rank(shuffled, MORNING)) == names(rank(candidates, MORNING))
    assert sorted(names(rank(candidates, MORNING))) == sorted(c.record.id for c in candidates)


@given(CANDIDATES)
def test_every_score_lies_between_nothing_and_one_and_falls(candidates: list[Candidate]) -> None:
    scores = [item.score for item in rank(candidates, MORNING)]
    assert all(-1e-9 <= score <= 1 + 1e-9 for score in scores)
    assert scores == sorted(scores, reverse=True)


def test_of_two_alike_the_one_with_the_word_in_it_comes_first() -> None:
    with_word = Candidate(a_record("Error E-4711", id="a"), 0.5, 3.0)
    without = Candidate(a_record("Error E-0815", id="b"), 0.5, 0.0)
    assert names(rank([without, with_word], MORNING)) == ["a", "b"]


def test_of_two_alike_the_newer_and_then_the_lesser_id_comes_first() -> None:
    def alike(id_: str, days: int) -> Candidate:
        return Candidate(a_record(at=MORNING + timedelta(days=days), id=id_), 0.5, 1.0)

    assert names(rank([alike("c", 5), alike("b", 1), alike("a", 5)], MORNING)) == ["a", "c", "b"]


def test_no_candidates_have_no_order() -> None:
    assert rank([], MORNING) == []


def test_recency_halves_in_a_half_life_and_the_future_is_fresh() -> None:
    assert recency(MORNING, MORNING) == recency(MORNING + timedelta(days=9), MORNING) == 1
    assert recency(MORNING - timedelta(days=HALF_LIFE_DAYS), MORNING) == pytest.approx(0.5)


def ranked(id_: str, kind: MemoryType, *sources: str, conversation: str = "c-1") -> Ranked:
    record = a_record(id=id_, memory_type=kind, source_ids=sources, conversation_id=conversation)
    return Ranked(record, 0.5, 0.5, 0.0, 1.0)


FACT, TURN, SUMMARY = MemoryType.FACT, MemoryType.TURN, MemoryType.SUMMARY


def test_a_fact_and_its_turn_collapse_into_the_better_of_them() -> None:
    fact, turn = ranked("f", FACT, "m1"), ranked("t", TURN, "m1")
    assert names(without_repeats([fact, turn])) == ["f"]
    assert names(without_repeats([turn, fact])) == ["t"]


def test_several_facts_and_several_passages_of_one_message_all_stay() -> None:
    assert names(without_repeats([ranked("f1", FACT, "m1"), ranked("f2", FACT, "m1")])) == ["f1", "f2"]
    assert names(without_repeats([ranked("t1", TURN, "m1"), ranked("t2", TURN, "m1")])) == ["t1", "t2"]


def test_a_fact_of_more_than_one_message_stays_until_all_are_shown() -> None:
    turn, fact, second = ranked("t1", TURN, "m1"), ranked("f", FACT, "m1", "m2"), ranked("t2", TURN, "m2")
    assert names(without_repeats([turn, fact])) == ["t1", "f"]
    assert names(without_repeats([turn, second, fact])) == ["t1", "t2"]


def test_messages_of_one_id_in_two_conversations_are_two() -> None:
    found = [ranked("f", FACT, "m1"), ranked("t", TURN, "m1", conversation="c-2")]
    assert names(without_repeats(found)) == ["f", "t"]


def test_summaries_are_not_repeats_of_anything() -> None:
    assert names(without_repeats([ranked("s", SUMMARY, "m1"), ranked("f", FACT, "m1")])) == ["s", "f"]
