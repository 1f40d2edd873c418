"""A question's answer is the last statement that answers it."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from varve import Memory
from varve.domain.statements.questions.asked import Asking, Found, score_row
from varve.domain.statements.questions.asked_words import AskedWords
from varve.domain.statements.texts.cues import read_cues
from varve.domain.statements.texts.wording import (
    measure_wording,
    read_wording,
    split_phrases,
)

FIRST = datetime(2026, 3, 2, 9, tzinfo=UTC)
NOW = datetime(2026, 6, 1, 9, tzinfo=UTC)
NO_WORDS = AskedWords(read_cues("Where do I live?"))


def tell(memory: Memory, *texts: str) -> None:
    for number, text in enumerate(texts):
        at = FIRST + timedelta(days=3 * number)
        message = {"role": "user", "content": text, "timestamp": at}
        message["timestamp"] = at.isoformat()
        memory.ingest(
            {
                "conversationId": f"c{number}",
                "userId": "u-1",
                "messages": [{"id": f"m{number}", **message}],
            }
        )


def first(memory: Memory, question: str) -> str:
    return memory.search(question, user_id="u-1").results[0].content


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory.open(tmp_path / "memory", now=NOW)


def test_what_the_speaker_states_counts_more_than_requests_and_echoes() -> (
    None
):
    asking = Asking(read_cues("Where do I live?"), count=12, words=NO_WORDS)
    stated = Found("I have a flat in Leeds", 0.8, 0, 0.3)
    request = Found("explain where I can live", 0.8, 0, 0.3)
    echo = Found("Got it, a flat in Leeds", 0.8, 0, 0.3, is_assistant=True)
    best = score_row(asking, stated)
    assert score_row(asking, request) < best
    assert score_row(asking, echo) < best


@pytest.mark.parametrize(
    ("own", "others"),
    [
        ("I moved to Leeds in March", "My sister moved to Leeds in March"),
        (
            "I took the job at the bakery",
            "I almost took the job at the bakery",
        ),
        ("Me mudé a Sevilla", "Mi hermana se mudó a Sevilla"),
        ("we got the red car", "I dreamt we got the red car"),
    ],
)
def test_the_wording_tells_an_own_present_from_look_alikes(
    own: str, others: str
) -> None:
    assert read_wording(own).telling > read_wording(others).telling


def test_a_text_of_any_script_or_length_has_a_wording() -> None:
    for text in ("", "…", "日本に住んでいます", "word " * 50_000, "\ud800"):
        assert math.isfinite(read_wording(text).telling)


def test_numbers_are_one_word_to_the_wording() -> None:
    assert list(split_phrases("bus 42")) == list(split_phrases("bus 7"))
    assert measure_wording("bus 42") == measure_wording("bus 7")


def test_the_last_statement_that_answers_stands_first(memory: Memory) -> None:
    tell(
        memory,
        "I rent a flat in Leeds, near the station",
        "can you recommend a podcast?",
        "keys handed over, boxes everywhere, but Bradford is home now",
        "my sister moved to York last week",
    )
    assert "Bradford" in first(memory, "Where do I live?")


def test_a_question_about_the_past_finds_what_was_superseded(
    memory: Memory,
) -> None:
    tell(
        memory,
        "I rent a flat in Leeds, near the station",
        "the basil needs water again",
        "I moved to Bradford, so this is home now",
    )
    assert "Leeds" in first(memory, "Where did I live before?")


def test_what_others_almost_did_supersedes_nothing(memory: Memory) -> None:
    tell(
        memory,
        "I work at the post office",
        "my brother works at the brewery now",
        "I almost took a job at the cinema",
    )
    (result,) = [
        one
        for one in memory.search("Where do I work?", user_id="u-1").results
        if "post office" in one.content and one.current
    ][:1]
    assert "post office" in first(memory, "Where do I work?")
    assert result.current


def test_an_answer_that_shares_no_word_is_found_and_put_in_the_context(
    memory: Memory,
) -> None:
    tell(
        memory,
        "the neighbours are drilling again",
        "I had to give up coffee, so rooibos it is, three pots a day",
        "the kids built a fort in the living room",
    )
    question = "What do I drink?"
    assert "rooibos" in first(memory, question)
    assert "rooibos" in memory.context(question, user_id="u-1").text


@pytest.mark.parametrize(
    "texts",
    [
        ["the neighbours are drilling again"],
        ["I live in Lisbon."],
        ["I live in Lisbon.", "the neighbours are drilling again"],
    ],
)
def test_what_nothing_answers_stays_empty(
    memory: Memory, texts: list[str]
) -> None:
    tell(memory, *texts)
    answer = memory.search("What is my zzzqqq?", user_id="u-1")
    assert answer.results == []
    assert answer.hint


def test_what_is_to_come_or_only_reminds_answers_less() -> None:
    asking = Asking(read_cues("Where do I live?"), count=12, words=NO_WORDS)
    holds = Found("I live in Lisbon", 0.8, 1, 0.3)
    coming = Found("I'm moving to Leeds in June", 1.0, 0, 0.3)
    reminder = Found("never forget where I live!", 1.0, 0, 0.3)
    assert score_row(asking, coming) < score_row(asking, holds)
    assert score_row(asking, reminder) < score_row(asking, holds)


@pytest.mark.parametrize(
    ("found", "is_one"),
    [
        ({}, True),
        ({"valued": 9}, False),
        ({"stated": 0.9}, False),
        ({"mixed": 2}, False),
        ({"is_past": True}, False),
        ({"is_of_event": True}, False),
        ({"count": 5}, False),
    ],
)
def test_what_was_found_among_talk_passes_for_one_matter(
    found: dict[str, Any], is_one: bool
) -> None:
    question = read_cues("Where do I live?")
    asking = Asking(question, **{"count": 12, "words": NO_WORDS} | found)
    assert asking.is_of_one_matter is is_one


def test_words_that_ask_nothing_find_no_one_matter() -> None:
    asking = Asking(read_cues("word 4"), count=12, words=NO_WORDS)
    assert not asking.is_of_one_matter
