"""After an erasure no period is due that holds nothing."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from varve import Memory

NOW = datetime(2026, 11, 28, 10, tzinfo=UTC)


def list_due(memory: Memory) -> dict[str, list[str]]:
    """Return the labels of the periods that are due or stale, by grain."""
    grains = memory.status()["grains"]
    return {
        grain: [*values["periods"]["due"], *values["periods"]["stale"]]
        for grain, values in grains.items()
        if values.get("periods")
        and (values["periods"]["due"] or values["periods"]["stale"])
    }


def test_forgetting_leaves_only_periods_due_that_hold_something(
    tmp_path: Path,
) -> None:
    memory = Memory.open(tmp_path, now=NOW)
    memory.remember(
        "I live in Kiel.",
        user_id="u-1",
        at=datetime.fromisoformat("2026-11-19T10:00:00Z"),
    )
    memory.remember(
        "I own a dog.",
        user_id="u-1",
        at=datetime.fromisoformat("2026-11-20T10:00:00Z"),
    )
    memory.remember(
        "I live in Bonn.",
        user_id="u-2",
        at=datetime.fromisoformat("2026-11-20T10:00:00Z"),
    )
    assert list_due(memory) == {"daily": ["2026-11-19", "2026-11-20"]}
    memory.forget(user="u-1")
    assert list_due(memory) == {"daily": ["2026-11-20"]}
    memory.summarize(grain="daily")
    assert list_due(memory) == {"weekly": ["2026-W47"]}
    memory.forget(user="u-2")
    assert not list_due(memory)
    assert memory.status()["backlog"]["periods"] == 0
