"""Finding in stores that are held whole and in stores too large for it; reranking."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from tests.support.builders import (
    ACME,
    MORNING,
    WordEmbedder,
    a_record,
    embedded,
)
from tests.support.usecase_drivers import run_search
from varve.adapters.in_memory import InMemoryRecords
from varve.domain.calendar import Grain
from varve.domain.errors import Misconfigured, Retryable
from varve.domain.record import MemoryType, Record
from varve.domain.search.answer import SearchResponse
from varve.domain.search.query import parse_search_request

NOW = MORNING + timedelta(days=30)
UTC_ZONE = ZoneInfo("UTC")


def chat(count: int = 40) -> list[Record]:
    texts = {
        3: "Which dentist did you see?",
        4: "Doctor Silva, and it hurt.",
        20: "My cat is Biscuit.",
    }
    return [
        a_record(texts.get(i, f"small talk {i}"), id=f"turn-{i:02}", memory_type=MemoryType.TURN, position=i,
                 source_ids=(f"m{i}",), at=MORNING + timedelta(minutes=i))
        for i in range(count)
    ]  # fmt: skip


def ask(
    text: str,
    *,
    max_rows: int = 1_000,
    records: Sequence[Record] = (),
    **given: Any,
) -> SearchResponse:
    reader = InMemoryRecords(max_rows)
    reader.upsert(
        ACME, Grain.WORKING, embedded(*(records or chat())), WordEmbedder.model
    )
    arguments = {
        key: given.pop(key)
        for key in list(given)
        if key in ("maxResults", "explain", "since")
    }
    parts: dict[str, Any] = {"embedder": WordEmbedder(), **given}
    request = parse_search_request({"queryText": text, **arguments})
    return run_search(ACME, request, NOW, UTC_ZONE, reader=reader, **parts)


@pytest.mark.parametrize("text", ["which dentist did you see?", "cat Biscuit"])
def test_a_store_too_large_to_hold_has_the_same_best_answer(text: str) -> None:
    whole, large = ask(text), ask(text, max_rows=3)
    assert whole.results[0].id == large.results[0].id
    assert whole.searched.records == large.searched.records == 40


def test_of_a_store_too_large_to_hold_the_turns_around_a_hit_are_ranked_with_it() -> (
    None
):
    found = [
        result.id
        for result in ask(
            "which dentist did you see?", max_rows=3, maxResults=3
        ).results
    ]
    assert {"turn-03", "turn-04"} <= set(found)


def test_filters_hold_for_what_stands_around_a_hit_too() -> None:
    since = (MORNING + timedelta(minutes=4)).isoformat()
    answer = ask(
        "which dentist did you see?", max_rows=3, since=since, maxResults=100
    )
    assert "turn-03" not in {result.id for result in answer.results}
    assert answer.searched.records == 36


class Backwards:
    """A reranker that likes best what it is given last."""

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        return [float(i) for i in range(len(texts))]


class Failed:
    def __init__(self, error: Exception) -> None:
        self.error = error

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        raise self.error


def test_a_reranker_has_the_last_word_and_the_answer_says_so() -> None:
    plain, turned = (
        ask("cat", maxResults=30),
        ask("cat", maxResults=30, reranker=Backwards()),
    )
    assert plain.searched.reranked is None
    assert turned.searched.reranked is True
    assert [r.id for r in turned.results] == [r.id for r in plain.results][
        ::-1
    ]
    scores = [r.score for r in turned.results]
    assert scores == sorted(scores, reverse=True)


def test_a_reranker_that_cannot_answer_now_leaves_the_order_and_the_answer_says_so() -> (
    None
):
    plain, failed = ask("cat"), ask("cat", reranker=Failed(Retryable("busy")))
    assert failed.searched.reranked is False
    assert [r.id for r in failed.results] == [r.id for r in plain.results]


def test_a_reranker_that_is_set_up_wrongly_costs_no_answer() -> None:
    found = ask("cat", reranker=Failed(Misconfigured("RERANKER: no key")))
    assert [one.id for one in found.results] == [
        one.id for one in ask("cat").results
    ]
    assert found.searched.reranked is False


def test_explain_adds_every_part_and_only_then() -> None:
    (plain, *_), (explained, *_) = (
        ask("cat").results,
        ask("cat", explain=True).results,
    )
    four = {"vector", "keyword", "recency", "importance"}
    assert set(plain.to_dict()["why"]) == four
    assert set(explained.to_dict()["why"]) == {*four, "parts"}
    assert explained.why.parts is not None
    assert {"turn", "kin", "cosine", "session", "speaker", "recency"} <= set(
        explained.why.parts
    )


def test_words_that_mean_alike_are_met_where_the_embedder_knows_words() -> (
    None
):
    class Knowing(WordEmbedder):
        def embed_words(
            self, words: Sequence[str]
        ) -> np.ndarray[Any, np.dtype[np.float32]]:
            alike = {"violin": "instrument"}
            return np.array(
                self.embed([alike.get(word, word) for word in words])
            )

    texts = ("Dana got a violin", "Dana got a bicycle", "Rain again")
    records = [
        a_record(text, id=text[-4:], conversation_id=text[-4:])
        for text in texts
    ]
    found = ask(
        "the instrument?", records=records, embedder=Knowing(), explain=True
    ).results
    kin = {
        result.content: result.why.parts["kin"]
        for result in found
        if result.why.parts
    }
    assert (
        kin["Dana got a violin"]
        == max(kin.values())
        > 2 * kin["Dana got a bicycle"]
    )
