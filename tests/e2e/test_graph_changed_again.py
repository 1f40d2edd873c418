"""What the graph changes, once and again, is told of the person it is about."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.support.clock import SetClock
from varve import Memory

FIRST = datetime(2026, 3, 2, 9, tzinfo=UTC)
USER = "u-1"
HOME = "Where does Noelia live?"


@pytest.fixture
def clock() -> SetClock:
    return SetClock(FIRST)


@pytest.fixture
def memory(tmp_path: Path, clock: SetClock) -> Memory:
    memory = Memory.open(tmp_path / "memory", now=clock)
    for text in (
        "My sister Noelia lives in Leeds.",
        "My boss is Ute.",
        "I'm allergic to bees.",
    ):
        memory.remember(text, user_id=USER)
        clock.now += timedelta(days=1)
    return memory


def update(memory: Memory, clock: SetClock, *facts: Mapping[str, str]) -> None:
    """Change the graph by a fact each day."""
    for fact in facts:
        with memory.graph as graph:
            graph.update_facts([fact])
        clock.now += timedelta(days=1)


def lives_in(city: str) -> Mapping[str, str]:
    return {"source_id": "Noelia", "label": "lives_in", "target_id": city}


def expire(memory: Memory, clock: SetClock) -> None:
    """Let the words go and keep the summaries."""
    memory.configure("plan", "free")
    clock.now += timedelta(days=5)
    memory.summarize()
    assert memory.cleanup()["grains"]["working"]["expiredRecords"]


def list_current(memory: Memory, question: str) -> list[str]:
    results = memory.search(question, user_id=USER).results
    return [one.content for one in results if one.current]


def list_profile(memory: Memory) -> list[tuple[str, str]]:
    held = memory.profile(user_id=USER)["attributes"]
    return [(one["key"], one["value"]) for one in held]


def test_3_a_second_change_of_anothers_home_reaches_search(
    memory: Memory, clock: SetClock
) -> None:
    update(memory, clock, *map(lives_in, ("York", "Hull", "Leeds")))
    first, *others = list_current(memory, HOME)
    assert "Noelia lives in Leeds" in first
    assert not any(city in one for one in others for city in ("York", "Hull"))
    context = memory.context(HOME, user_id=USER).text
    assert "York" not in context
    assert "Hull" not in context


def test_3_a_change_after_the_words_have_expired_is_no_attribute_of_the_user(
    memory: Memory, clock: SetClock
) -> None:
    expire(memory, clock)
    update(memory, clock, lives_in("York"))
    assert list_profile(memory) == [("allergies", "bees")]
    assert list_current(memory, HOME)[0].endswith("Noelia lives in York.")
    assert "Leeds" not in memory.context(HOME, user_id=USER).text


def test_3_a_value_that_the_graph_set_ends_once_the_words_have_expired(
    memory: Memory, clock: SetClock
) -> None:
    update(memory, clock, lives_in("York"))
    expire(memory, clock)
    update(memory, clock, lives_in("Hull"))
    assert list_current(memory, HOME)[0].endswith("Noelia lives in Hull.")
    context = memory.context(HOME, user_id=USER).text
    assert "Leeds" not in context
    assert "York" not in context


def test_3_a_change_leaves_what_names_its_subject_as_a_value(
    memory: Memory, clock: SetClock
) -> None:
    boss = {"source_id": "Ute", "label": "reports_to", "target_id": "Kai"}
    update(memory, clock, boss)
    first = list_current(memory, "Who is my boss?")[0]
    assert "boss is Ute" in first


def test_3_a_value_of_a_list_that_the_graph_replaces_leaves_the_profile(
    memory: Memory, clock: SetClock
) -> None:
    expire(memory, clock)
    allergy = {"source_id": USER, "label": "allergic_to"}
    update(
        memory, clock, {**allergy, "target_id": "wasps", "replaces": "bees"}
    )
    assert list_profile(memory) == [("allergies", "wasps")]
    with memory.graph as graph:
        graph.delete_facts([{**allergy, "target_id": "wasps"}])
    assert list_profile(memory) == []
