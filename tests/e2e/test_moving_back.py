"""Who moved away and back lives there again, in the graph and the profile."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from varve import Memory

NOW = datetime(2026, 11, 1, 9, tzinfo=UTC)
USER = "u-1"


def tell(path: Path, *texts: str) -> Memory:
    """Tell each text in a conversation of its own, a month after the one before."""
    memory = Memory.open(path / "memory", now=NOW)
    for month, text in enumerate(texts, 1):
        message = {
            "id": "m0",
            "role": "user",
            "name": "Dana",
            "content": text,
            "timestamp": f"2026-{month:02}-01T09:00:00Z",
        }
        memory.ingest(
            {
                "conversationId": f"c-{month}",
                "userId": USER,
                "messages": [message],
            }
        )
    return memory


def read_homes(memory: Memory) -> tuple[list[str], list[str]]:
    """Return the homes that hold, of the graph and of the profile."""
    facts = memory.graph.entity("Dana")["facts"]
    attributes = memory.profile(user_id=USER)["attributes"]
    return (
        [one["target"] for one in facts if one["label"] == "lives_in"],
        [one["value"] for one in attributes if one["key"] == "location"],
    )


@pytest.mark.parametrize(
    ("texts", "home"),
    [
        (
            (
                "I live in Berlin.",
                "I moved to Rome.",
                "Rome didn't work out, I'm back in Berlin.",
            ),
            "Berlin",
        ),
        (("Vivo en Madrid.", "Me mudé a Roma.", "He vuelto a Madrid."), "Madrid"),
        (
            (
                "Vivo en Madrid.",
                "Me mudé a Roma pero volví a las dos semanas.",
            ),
            "Madrid",
        ),
    ],
)  # fmt: skip
def test_who_moves_back_has_the_home_of_before(
    texts: tuple[str, ...], home: str, tmp_path: Path
) -> None:
    memory = tell(tmp_path, *texts)
    assert read_homes(memory) == ([home], [home])


def test_the_return_answers_where_somebody_lives(tmp_path: Path) -> None:
    memory = tell(
        tmp_path,
        "I live in Berlin.",
        "I moved to Rome.",
        "Rome didn't work out, I'm back in Berlin.",
    )
    first, *others = memory.search(
        "Where do I live?", user_id=USER, max_results=5
    ).results
    assert "I'm back in Berlin" in first.content
    assert (first.current, [one.current for one in others]) == (
        True,
        [False, False],
    )
