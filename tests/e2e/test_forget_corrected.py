"""Of a message that is corrected in part, a request to forget hides another part."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from varve import Memory

USER = "u-1"


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    path = tmp_path / "memory"
    memory = Memory.open(path, now=datetime(2026, 3, 2, 9, tzinfo=UTC))
    told = "I live in Doha. My vet is Dr Lund."
    memory.remember(told, user_id=USER)
    [turn] = memory.list(memory_types=["turn"]).records
    memory = Memory.open(path, now=datetime(2026, 3, 3, 9, tzinfo=UTC))
    memory.correct(turn.id, "I live in Muscat.")
    memory = Memory.open(path, now=datetime(2026, 3, 4, 9, tzinfo=UTC))
    memory.remember("Please forget my vet.", user_id=USER)
    return memory


def test_12_neither_the_corrected_nor_the_forgotten_part_is_found(
    memory: Memory,
) -> None:
    for question in ("Who is my vet?", "Where do I live?"):
        results = memory.search(question, user_id=USER).results
        told = " ".join(one.content for one in results if one.current)
        assert "Muscat" in told
        assert "Doha" not in told
        assert "Lund" not in told
        context = memory.context(question, user_id=USER).text
        assert "Doha" not in context
        assert "Lund" not in context


def test_12_a_browse_has_neither_part(memory: Memory) -> None:
    assert not memory.search(user_id=USER, people=["Lund"]).results
    told = [one.content for one in memory.search(user_id=USER).results]
    assert not any("Lund" in one for one in told)
