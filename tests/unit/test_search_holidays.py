"""A holiday opens a window of its days, and what names it soon after tells of it too."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from varve import Memory

NOW = datetime(2026, 11, 28, 10, tzinfo=UTC)
TOLD = {
    "2024-12-25": "We skated on the lake.",
    "2025-12-25": "We played cards all evening.",
    "2025-12-28": "For Christmas we went to grandma's house in Vigo.",
    "2026-01-20": "The boiler broke again.",
    "2026-05-03": "My Christmas cactus needs water every two weeks.",
}


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    root: Path = tmp_path_factory.mktemp("holidays")
    opened = Memory.open(root, now=NOW)
    for day, content in TOLD.items():
        message = {
            "role": "user",
            "content": content,
            "timestamp": f"{day}T20:00:00Z",
        }
        opened.ingest({"conversationId": day, "messages": [message]})
    return opened


@pytest.mark.parametrize(
    "question",
    [
        "What did I do last Christmas?",
        "What did we do at Christmas?",
        "¿Qué hice en Navidad?",
    ],
)
def test_all_of_a_holiday_is_its_days_and_what_names_it_soon_after(
    memory: Memory, question: str
) -> None:
    found = memory.search(question)
    assert [one.date for one in found.results] == ["2025-12-28", "2025-12-25"]


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Where did we go last Christmas?", "2025-12-28"),
        ("How often does my Christmas cactus need water?", "2026-05-03"),
    ],
)
def test_a_holiday_hides_nothing_from_a_question_about_one_thing(
    memory: Memory, question: str, first: str
) -> None:
    found = memory.search(question)
    assert found.results[0].date == first
    assert len(found.results) == len(TOLD)
