"""A context for a prompt about bygone times has what held then, with its end."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from varve import Memory

NOW = datetime(2026, 7, 1, 9, tzinfo=UTC)
USER = "u-1"
FIRST = "2026-03-01T10:00:00Z"
SECOND = "2026-06-01T10:00:00Z"


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory.open(tmp_path / "memory", now=NOW)


def say(memory: Memory, text: str, at: str) -> None:
    message = {"role": "user", "name": "Dana", "content": text}
    memory.ingest(
        {
            "conversationId": f"c-{at[:10]}",
            "userId": USER,
            "messages": [{**message, "timestamp": at}],
        }
    )


@pytest.mark.parametrize(
    ("before", "after", "question", "former", "present"),
    [
        (
            "I live in Madrid.",
            "I moved to Porto.",
            "Where did I live before?",
            "Madrid",
            "Porto",
        ),
        (
            "I work at Globex.",
            "I started a new job at Initech.",
            "Where did I work before?",
            "Globex",
            "Initech",
        ),
        (
            "Vivo en Madrid.",
            "Me mudé a Porto.",
            "¿Dónde vivía antes?",
            "Madrid",
            "Porto",
        ),
    ],
)
def test_the_former_value_is_told_with_its_end(
    memory: Memory,
    before: str,
    after: str,
    question: str,
    former: str,
    present: str,
) -> None:
    say(memory, before, FIRST)
    say(memory, after, SECOND)
    lines = memory.context(question, user_id=USER).text.splitlines()
    (told,) = [line for line in lines if former in line]
    assert "held until 2026-06-01" in told
    assert any(present in line for line in lines)


def test_a_prompt_about_the_present_has_no_former_value(
    memory: Memory,
) -> None:
    say(memory, "I live in Madrid.", FIRST)
    say(memory, "I moved to Porto.", SECOND)
    block = memory.context("Where do I live?", user_id=USER).text
    assert "Porto" in block
    for line in block.splitlines():
        assert "Madrid" not in line or "no longer" in line


def test_a_corrected_value_is_told_with_its_end(memory: Memory) -> None:
    say(memory, "I live in Madrid. I play the cello on Fridays.", FIRST)
    facts = memory.search(memory_types=["fact"], user_id=USER).results
    memory.correct(facts[0].id, "I live in Porto.")
    block = memory.context("Where did I live before?", user_id=USER).text
    (told,) = [line for line in block.splitlines() if "Madrid" in line]
    assert "held until 2026-07-01" in told
