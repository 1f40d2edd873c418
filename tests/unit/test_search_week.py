"""A week named by its number opens a window in a search."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from varve import Memory

NOW = datetime(2026, 11, 21, 15, tzinfo=UTC)


@pytest.mark.parametrize(
    "question",
    [
        "What happened in week 12 of 2026?",
        "week 12",
        "What happened in ISO week 12?",
        "¿Qué pasó en la semana 12 de 2026?",
    ],
)
def test_a_search_for_a_week_finds_that_week_alone(
    tmp_path: Path, question: str
) -> None:
    memory = Memory.open(tmp_path, now=NOW)
    for month, what in (("03-18", "boat"), ("05-06", "barn")):
        message = {
            "role": "user",
            "content": f"I painted the {what}.",
            "timestamp": f"2026-{month}T10:00:00Z",
        }
        memory.ingest({"conversationId": what, "messages": [message]})
    found = memory.search(question)
    assert [one.content for one in found.results] == [
        "User: I painted the boat."
    ]
    assert found.searched.understood is not None
