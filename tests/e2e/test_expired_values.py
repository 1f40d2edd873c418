"""A summary's sentence holds as the triple of its value does, once its words have expired."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.support.clock import SetClock
from varve import Memory

FIRST = datetime(2026, 3, 2, 9, tzinfo=UTC)
USER = "u-1"
FILM = "What is my favourite film?"


@pytest.fixture
def clock() -> SetClock:
    return SetClock(FIRST)


@pytest.fixture
def memory(tmp_path: Path, clock: SetClock) -> Memory:
    memory = Memory.open(tmp_path / "memory", now=clock)
    memory.configure("plan", "free")
    for text in ("My favourite film is Amélie.", "I play the oboe."):
        memory.remember(text, user_id=USER)
        clock.now += timedelta(days=1)
    return memory


def expire(memory: Memory, clock: SetClock) -> None:
    """Let the words go and keep the summaries."""
    clock.now += timedelta(days=5)
    memory.summarize()
    memory.cleanup()
    assert memory.list().records == ()


def assert_last_film_holds(memory: Memory) -> None:
    first, second, *_ = memory.search(FILM, user_id=USER).results
    assert "Ratatouille" in first.content
    assert first.current
    assert "Amélie" in second.content
    assert not second.current


def test_3_a_later_message_holds_after_the_words_have_expired(
    memory: Memory, clock: SetClock
) -> None:
    memory.remember("My favourite film is Ratatouille.", user_id=USER)
    expire(memory, clock)
    assert_last_film_holds(memory)


def test_3_a_value_set_by_hand_holds_after_the_words_have_expired(
    memory: Memory, clock: SetClock
) -> None:
    expire(memory, clock)
    memory.set_profile("favourite_film", "Ratatouille", user_id=USER)
    expire(memory, clock)
    assert_last_film_holds(memory)


def test_3_what_was_said_before_makes_nothing_current(
    memory: Memory, clock: SetClock
) -> None:
    expire(memory, clock)
    memory.remember("My favourite film is Ratatouille.", user_id=USER)
    before = FIRST - timedelta(days=50)
    memory.remember("My favourite film is Jaws.", user_id=USER, at=before)
    assert (
        "Ratatouille" in memory.search(FILM, user_id=USER).results[0].content
    )
    for one in memory.search(FILM, user_id=USER).results:
        assert not (one.current and "Amélie" in one.content)


def test_4_remember_speaks_by_the_name_that_summaries_alone_have(
    memory: Memory, clock: SetClock
) -> None:
    said = {"role": "user", "name": "Noor", "content": "We keep bees."}
    answer = {"role": "assistant", "content": "Bees are the best, Noor."}
    said["timestamp"] = answer["timestamp"] = clock.now.isoformat()
    talk = {"conversationId": "c-1", "userId": "u-2"}
    memory.ingest({**talk, "messages": [said, answer]})
    expire(memory, clock)
    memory.remember("We keep goats now.", user_id="u-2")
    [turn] = memory.list().records
    assert turn.content == "Noor: We keep goats now."
