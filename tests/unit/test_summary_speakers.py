"""A line of a summary in a block names who said it, whatever part of it is left (7, 8)."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from varve import Memory

NOW = datetime(2026, 10, 20, 10, tzinfo=UTC)


def say(memory: Memory, name: str, day: str, *texts: str) -> None:
    """Ingest what one user says on a day."""
    memory.ingest(
        {
            "conversationId": f"c-{name}",
            "userId": name.lower(),
            "messages": [
                {
                    "role": "user",
                    "name": name,
                    "content": text,
                    "timestamp": f"{day}T09:0{minute}:00Z",
                }
                for minute, text in enumerate(texts)
            ],
        }
    )


def test_8_what_is_left_of_a_summary_keeps_its_speaker(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path / "memory", now=NOW)
    say(memory, "Ana", "2026-05-11", "I moved to Rotterdam.")
    say(
        memory,
        "Bo",
        "2026-01-12",
        "I live in Oslo.",
        "I ordered a blue bicycle for 900 euros.",
        "I am allergic to shellfish.",
    )
    memory.summarize()
    block = memory.context("Where do I live?").text
    (line,) = (one for one in block.splitlines() if "shellfish" in one)
    assert "Bo: " in line
