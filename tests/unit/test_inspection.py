"""What a reader looks at: changes in a span, entities and users, a bounded part at a time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.look import NOW, conversation, open_empty
from varve import Memory
from varve.api.inspection import Inspection
from varve.domain.calendar import Period
from varve.domain.errors import Rejected

MARCH = Period.parse("2026-03")
FIRST = datetime(
    2026, 3, 2, tzinfo=UTC
)  # the ISO month begins on its first Monday
EPISODES = ["episode-" + str(n) * 24 for n in (1, 2)]


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return open_empty(tmp_path / "store")


def put(memory: Memory, *facts: tuple[str, str, str, datetime]) -> Inspection:
    names = ("source_id", "label", "target_id", "valid_at")
    given: list[dict[str, Any]] = [
        dict(zip(names, one, strict=True)) for one in facts
    ]
    with memory.graph as graph:
        graph.insert_facts(given)
    return Inspection(memory)


def changed(found: list[dict[str, Any]]) -> list[str]:
    return [fact["target"] for fact in found]


def test_changes_are_those_that_began_or_ended_in_the_period(
    memory: Memory,
) -> None:
    day = timedelta(days=1)
    inspection = put(
        memory,
        ("Dana", "lives_in", "Leeds", FIRST - 90 * day),
        ("Dana", "lives_in", "Lisbon", FIRST + 3 * day),
        ("Dana", "likes", "tea", FIRST),
        ("Dana", "likes", "fado", FIRST - timedelta(microseconds=1)),
        ("Dana", "likes", "sushi", FIRST + 28 * day),
        (EPISODES[0], "led_to", EPISODES[1], FIRST + day),
    )
    found = inspection.changes(MARCH)
    assert set(changed(found)) == {"Leeds", "Lisbon", "tea"}
    assert changed(found)[-1] == "tea"
    assert changed(inspection.changes(MARCH, most=2)) != []
    assert len(inspection.changes(MARCH, most=2)) == 2


def test_a_triple_that_never_held_is_no_change(memory: Memory) -> None:
    with memory.graph as graph:
        graph.delete_facts(
            [
                {
                    "source_id": "Dana",
                    "label": "likes",
                    "target_id": "rain",
                    "valid_at": FIRST,
                }
            ]
        )
    assert Inspection(memory).changes(MARCH) == []


def test_entities_are_listed_by_how_much_is_said_of_them(
    memory: Memory,
) -> None:
    inspection = put(
        memory,
        ("Dana", "lives_in", "Porto", FIRST),
        ("Dana", "likes", "Tea", FIRST),
        ("Marco", "lives_in", "Porto", FIRST),
        (EPISODES[0], "led_to", EPISODES[1], FIRST),
    )
    found = inspection.entities()
    assert [(one.name, one.triples) for one in found[:2]] == [
        ("Dana", 2),
        ("Porto", 2),
    ]
    assert len(found) == 4
    assert [one.name for one in inspection.entities("POR")] == ["Porto"]
    pages = [inspection.entities(start=n, most=1)[0].name for n in range(4)]
    assert pages == [one.name for one in found]


def test_users_have_the_counts_of_their_own_records(memory: Memory) -> None:
    memory.ingest(
        [
            conversation(
                1,
                "2026-03-02T09:00:00Z",
                "u-1",
                "Dana",
                "The kiln is hot today.",
            ),
            conversation(
                2,
                "2026-03-04T09:00:00Z",
                "u-1",
                "Dana",
                "The oven is out of order.",
            ),
            conversation(
                3, "2026-03-03T09:00:00Z", None, "Guest", "Hello to you."
            ),
        ]
    )
    first, second = Inspection(memory).users()
    assert (first.user_id, first.records, first.conversations) == ("u-1", 2, 2)
    assert (first.oldest, first.newest) == (
        datetime(2026, 3, 2, 9, tzinfo=UTC),
        datetime(2026, 3, 4, 9, tzinfo=UTC),
    )
    assert (second.user_id, second.records) == (None, 1)


def test_the_expiry_of_a_period_is_that_of_its_grain(memory: Memory) -> None:
    memory.configure("retention.monthly", "6 months")
    # March counts: the six months end with August, on the Sunday before 31 August.
    assert Inspection(memory).expiry(MARCH) == datetime(
        2026, 8, 31, tzinfo=UTC
    )


def test_an_invalid_conversation_id_builds_no_path(memory: Memory) -> None:
    day = Period.parse("2026-03-02")
    with pytest.raises(Rejected, match="conversationId"):
        Inspection(memory).conversation(day, "../../../workspaces")


def test_the_present_is_that_of_the_memory(memory: Memory) -> None:
    assert Inspection(memory).now == NOW
