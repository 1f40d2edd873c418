"""A summary that is browsed was confirmed on the last day of its sources (8)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.test_told_last import NOW, talk
from varve import Memory


@pytest.mark.parametrize("grain", ["daily", "weekly", "monthly"])
def test_8_a_browsed_summary_is_confirmed_on_its_last_day(
    tmp_path: Path, grain: str
) -> None:
    memory = Memory.open(tmp_path / "memory", now=NOW)
    memory.ingest([talk(1, "The kitchen is finished."), talk(3, "I sold it.")])
    memory.summarize()
    browsed = memory.search(grain=grain, user_id="u-1").results
    summaries = [one for one in browsed if one.memory_type == "summary"]
    assert summaries
    for one in summaries:
        assert one.confirmed_at == f"{one.until}T12:00:00Z"
