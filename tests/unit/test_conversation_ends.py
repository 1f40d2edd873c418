"""A conversation's start and end: load the last words, save the new ones."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from varve import Memory

START = datetime(2026, 3, 2, 9, tzinfo=UTC)


def said(day: int, *words: str) -> list[dict[str, str]]:
    at = (START + timedelta(days=day)).isoformat()
    return [
        {"role": "user", "content": text, "timestamp": at} for text in words
    ]


def test_the_next_conversation_starts_with_what_the_last_was_about(
    tmp_path: Path,
) -> None:
    memory = Memory.open(
        tmp_path, now=START + timedelta(days=9), environment={}
    )
    assert memory.load_context(user_id="u-1").empty
    memory.save_context(
        "c-1", said(0, "My boiler in Faro leaks."), user_id="u-1"
    )
    memory.save_context("c-2", said(1, "My cat is called Mia."), user_id="u-2")
    block = memory.load_context(user_id="u-1")
    assert "boiler" in block.text
    assert "Mia" not in block.text
    resumed = memory.load_context(conversation_id="c-2")
    assert "Mia" in resumed.text


def test_a_conversation_that_is_saved_again_adds_only_what_is_new(
    tmp_path: Path,
) -> None:
    memory = Memory.open(
        tmp_path, now=START + timedelta(days=9), environment={}
    )
    first = said(0, "My boiler in Faro leaks.")
    memory.save_context("c-1", first, user_id="u-1")
    grown = memory.save_context(
        "c-1",
        [*first, *said(1, "The plumber comes on Friday.")],
        user_id="u-1",
    )
    assert grown.stored
    assert grown.stored.turns == 1


def test_after_the_words_have_expired_the_newest_summary_tells_the_start(
    tmp_path: Path,
) -> None:
    memory = Memory.open(
        tmp_path, now=START + timedelta(days=9), environment={}
    )
    memory.configure("plan", "free")
    memory.save_context(
        "c-1", said(0, "My boiler in Faro leaks."), user_id="u-1"
    )
    memory.summarize(grain="daily")
    memory.cleanup()
    assert memory.list().records == ()
    assert "boiler" in memory.load_context(user_id="u-1").text
