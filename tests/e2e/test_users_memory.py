"""A user's days, weeks and years are found for that user long after the words have expired."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from varve import Memory
from varve.cli.main import main

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)
LATER = MONDAY + timedelta(days=6)
FIRST_OF_MAY = datetime(2026, 5, 1, 12, tzinfo=UTC)
OFFLINE = {"VARVE_LLM": "offline", "VARVE_EMBEDDER": "embedded"}


def told(user: str, *texts: str, at: datetime = MONDAY) -> dict[str, Any]:
    """A conversation of one user's messages, a minute each."""
    messages = [
        {
            "role": "user",
            "content": text,
            "timestamp": (at + timedelta(minutes=number)).isoformat(),
        }
        for number, text in enumerate(texts)
    ]
    return {
        "conversationId": f"c-{user}-{at:%m-%d}",
        "userId": user,
        "messages": messages,
    }


def open_at(root: Path, now: datetime) -> Memory:
    return Memory.open(
        str(root),
        workspace="acme",
        agent="support",
        environment=OFFLINE,
        now=now,
    )


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A store of a free plan in which two users spoke on one day, which has expired."""
    memory = open_at(tmp_path, MONDAY + timedelta(hours=1))
    memory.configure("plan", "free")
    memory.ingest(
        told("u-a", "I am allergic to peanuts.", "I ordered a teapot.")
    )
    memory.ingest(told("u-b", "I ordered a bicycle with a basket."))
    memory = open_at(tmp_path, LATER)
    memory.summarize()
    memory.cleanup()
    return tmp_path


def found(
    root: Path, text: str, user: str | None, now: datetime = LATER
) -> list[Any]:
    return list(open_at(root, now).search(text, user_id=user).results)


def test_item_1_a_pinned_search_finds_the_users_day_after_the_words_have_expired(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert open_at(root, LATER).status()["grains"]["working"]["records"] == 0
    where = ["--store", str(root), "--workspace", "acme", "--agent", "support"]
    asked = ["search", "what did I order", "--user", "u-b", "--json"]
    assert main([*asked, *where, "--now", LATER.isoformat()]) == 0
    results = json.loads(capsys.readouterr().out)["results"]
    assert [(one["grain"], one["userId"]) for one in results] == [
        ("daily", "u-b")
    ]
    assert "bicycle" in results[0]["content"]
    assert "peanuts" not in results[0]["content"]
    (own,) = found(root, "allergic", "u-a")
    assert "peanuts" in own.content


def test_item_1_the_whole_agent_is_still_searched_together(root: Path) -> None:
    results = found(root, "what was ordered", None)
    assert {one.user_id for one in results} == {"u-a", "u-b"}


def test_item_1_weeks_and_months_are_each_users_own(root: Path) -> None:
    memory = open_at(root, FIRST_OF_MAY)
    memory.summarize()
    memory.cleanup()
    grains = memory.status()["grains"]
    assert [
        grains[name]["records"] for name in ("working", "weekly", "monthly")
    ] == [
        0,
        0,
        2,
    ]
    (own,) = found(root, "what did I order", "u-b", FIRST_OF_MAY)
    assert (own.grain, own.user_id) == ("monthly", "u-b")
    assert "bicycle" in own.content


def test_item_1_erasing_a_user_deletes_that_users_summaries_and_changes_no_other(
    root: Path,
) -> None:
    memory = open_at(root, FIRST_OF_MAY)
    memory.summarize()
    before = [one.to_dict() for one in memory.search(user_id="u-b").results]
    receipt = memory.forget(user="u-a", verify=True)
    assert receipt["complete"]
    assert not memory.search(user_id="u-a").results
    assert memory.summarize()["built"] == 0
    after = [one.to_dict() for one in memory.search(user_id="u-b").results]
    assert after == before


def test_item_1_a_day_of_an_older_version_is_found_for_its_users_once_rebuilt(
    tmp_path: Path,
) -> None:
    """An older version's summary of a day is that of `summaries.scope` `agent`."""
    memory = open_at(tmp_path, MONDAY + timedelta(hours=1))
    memory.configure("plan", "free")
    memory.configure("summaries.scope", "agent")
    memory.ingest(told("u-a", "I am allergic to peanuts."))
    memory.ingest(told("u-b", "I ordered a bicycle with a basket."))
    memory = open_at(tmp_path, LATER)
    memory.summarize()
    memory.cleanup()
    memory.configure("summaries.scope", "user")
    assert not found(tmp_path, "what did I order", "u-b")
    memory.ingest(
        told("u-b", "The bicycle is red.", at=MONDAY + timedelta(hours=3))
    )
    memory.summarize()
    memory.cleanup()
    (own,) = found(tmp_path, "what did I order", "u-b")
    assert "basket" in own.content
    assert "red" in own.content
    assert "peanuts" not in own.content
    (other,) = found(tmp_path, "allergic", "u-a")
    assert "peanuts" in other.content
    assert {
        one.user_id for one in found(tmp_path, "allergic bicycle", None)
    } == {
        "u-a",
        "u-b",
    }


def test_item_8_a_result_is_dated_by_its_sources_and_not_by_its_period(
    root: Path,
) -> None:
    """March 2026 begins, as the union of its weeks, on 23 February."""
    memory = open_at(root, FIRST_OF_MAY)
    memory.summarize()
    (month,) = memory.search(grain="monthly", user_id="u-b").results
    assert (month.period, month.date, month.until) == (
        "2026-03",
        "2026-03-02",
        "2026-03-02",
    )
    (asked,) = found(root, "what did I order", "u-b", FIRST_OF_MAY)
    assert {asked.date, asked.until} == {"2026-03-02"}
