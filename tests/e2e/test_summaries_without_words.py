"""A summary whose words a user asked to forget is of that user, and no answer has it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.support.statements import tell
from varve import Memory

NOW = datetime(2026, 11, 24, 10, tzinfo=UTC)
LATER = datetime(2027, 4, 20, 10, tzinfo=UTC)
TEXTS = ("I weigh 82 kilos these days.", "Forget that I weigh 82 kilos.")
GRAINS = ("daily", "weekly", "monthly", "quarterly", "yearly")


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    """Return a memory of a statement and the request to forget it, summarized."""
    memory = tell(tmp_path_factory.mktemp("memory"), TEXTS, NOW)
    memory.summarize(now=LATER)
    memory.summarize(now=LATER)
    return memory


@pytest.mark.parametrize("grain", GRAINS)
@pytest.mark.parametrize("question", [None, "How much do I weigh?"])
def test_no_answer_has_a_summary_without_words(
    memory: Memory, grain: str, question: str | None
) -> None:
    answer = memory.search(question, grain=grain, now=LATER)

    assert not [one for one in answer.results if one.memory_type == "summary"]


def list_summaries(memory: Memory) -> list[tuple[str | None, str]]:
    """Return the users and the words of all summaries."""
    rows = memory.sql("SELECT user_id, content FROM summaries")
    return [(row["user_id"], row["content"]) for row in rows]


def test_a_summary_without_words_is_of_its_user(memory: Memory) -> None:
    summaries = list_summaries(memory)

    assert summaries
    assert {user for user, _ in summaries} == {"u-1"}


def test_no_summary_tells_that_another_has_no_words(memory: Memory) -> None:
    told = {words for _, words in list_summaries(memory)}

    assert told == {"(no words)"}
