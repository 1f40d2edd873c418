"""A summary is dated and was confirmed by the days of its sources, wherever it is told (8)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.test_told_last import NOW, talk
from varve import Memory
from varve.api.inspection import Inspection
from varve.domain.calendar import iso


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


SAID = ("2026-03-03T09:00:00Z", "2026-03-05T09:00:00Z")


def remember_two_days(folder: Path) -> Memory:
    """Return a memory with the summaries of two days, up to the quarter."""
    memory = Memory.open(folder / "memory", now=NOW)
    memory.ingest([talk(1, "The kitchen is finished."), talk(3, "I sold it.")])
    memory.summarize()
    return memory


def test_8_status_dates_summaries_by_their_sources(tmp_path: Path) -> None:
    """The quarter's middle is no day of its sources."""
    memory = remember_two_days(tmp_path)
    grains = memory.status()["grains"]
    working = grains["working"]
    assert (working["oldest"], working["newest"]) == SAID
    noon = ("2026-03-03T12:00:00Z", "2026-03-05T12:00:00Z")
    for grain in ("daily", "weekly", "monthly"):
        held = grains[grain]
        assert held["records"]
        assert (held["oldest"], held["newest"]) == noon
    yearly = grains["yearly"]
    assert (yearly["records"], yearly["oldest"], yearly["newest"]) == (
        0,
        None,
        None,
    )


def test_8_agents_and_users_have_the_newest_words(tmp_path: Path) -> None:
    """Summaries date only what facts and turns no longer have."""
    memory = remember_two_days(tmp_path)
    for newest, is_expired in ((SAID[1], False), ("2026-03-05", True)):
        if is_expired:
            memory.configure("plan", "free")
            memory.cleanup()
        (agent,) = memory.agents()
        (user,) = Inspection(memory).users()
        assert agent["newest"] == iso(user.newest)
        assert iso(user.newest).startswith(newest)
        assert iso(user.oldest).startswith("2026-03-03")
    assert user.records == 0
    assert user.summaries
