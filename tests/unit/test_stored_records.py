"""Single records: read one by its id, or list them page by page."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from varve import Memory, Rejected

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
ONE_TIME = "2026-03-02T09:15:00Z"


def a_message(number: int, at: str = ONE_TIME, **more: Any) -> dict[str, Any]:
    content = f"Ticket {number} is about the printer in room {number}."
    return {
        "id": f"m{number}",
        "role": "user",
        "content": content,
        "timestamp": at,
        **more,
    }


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    store = tmp_path_factory.mktemp("records")
    memory = Memory.open(store, now=NOW, environment={})
    first = [a_message(number) for number in range(12)]
    later = [
        a_message(number, "2026-03-03T08:00:00Z") for number in range(20, 23)
    ]
    memory.ingest(
        [
            {"conversationId": "c-1", "userId": "u-1", "messages": first},
            {"conversationId": "c-2", "userId": "u-2", "messages": later},
        ]
    )
    memory.summarize(grain="daily")
    return memory


def pages(memory: Memory, limit: int, **filters: Any) -> Iterator[list[str]]:
    after = None
    while True:
        page = memory.list(limit=limit, after=after, **filters)
        yield [one.id for one in page.records]
        after = page.next
        if after is None:
            return


@pytest.mark.parametrize("limit", [1, 4, 5, 15, 1_000])
def test_pages_give_each_record_once_though_many_have_one_time(
    memory: Memory, limit: int
) -> None:
    whole = memory.list(memory_types=["turn"], limit=1_000)
    listed = [*pages(memory, limit, memory_types=["turn"])]
    assert [id_ for page in listed for id_ in page] == [
        one.id for one in whole.records
    ]
    assert len(whole.records) == 15
    assert whole.next is None
    assert all(len(page) == limit for page in listed[:-1])


def test_a_record_that_is_written_between_two_pages_shifts_nothing(
    tmp_path: Path,
) -> None:
    memory = Memory.open(tmp_path, now=NOW, environment={})
    said = [a_message(number) for number in range(4)]
    memory.ingest({"conversationId": "c-1", "messages": said})
    whole = [one.id for one in memory.list(memory_types=["turn"]).records]
    first = memory.list(memory_types=["turn"], limit=2)
    newer = a_message(9, "2026-03-03T10:00:00Z")
    memory.ingest({"conversationId": "c-2", "messages": [newer]})
    second = memory.list(memory_types=["turn"], limit=2, after=first.next)
    assert [one.id for one in (*first.records, *second.records)] == whole


def test_each_filter_narrows_the_list(memory: Memory) -> None:
    turns = memory.list(user_id="u-2", memory_types=["turn"])
    assert {one.user_id for one in turns.records} == {"u-2"}
    assert len(turns.records) == 3
    talk = memory.list(
        conversation_id="c-1", since="2026-03-02", until="2026-03-02"
    )
    assert {one.conversation_id for one in talk.records} == {"c-1"}
    assert memory.list(until="2026-03-01").records == ()


def test_a_period_lists_its_summaries_or_the_records_of_a_named_grain(
    memory: Memory,
) -> None:
    summaries = memory.list(period="2026-03-02").records
    assert {one.memory_type for one in summaries} == {"summary"}
    assert {one.period for one in summaries} == {"2026-03-02"}
    words = memory.list(period="2026-03-02", grain="working").records
    assert {one.grain for one in words} == {"working"}
    assert {one.period for one in words} == {"2026-03-02"}
    assert memory.list(period="2026-W10").records == ()


def test_get_returns_what_list_showed_and_none_for_no_record(
    memory: Memory,
) -> None:
    listed = memory.list(limit=1).records[0]
    assert memory.get(listed.id) == listed
    assert memory.get("turn-of-nothing") is None
    shown = listed.to_dict()
    assert shown["eventTime"] == "2026-03-03T08:00:00Z"
    assert shown["conversationId"] == "c-2"


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": 1_001}, "limit"),
        ({"after": "page 2"}, "after"),
        ({"period": "2026-13"}, "period"),
        ({"since": "yesterday"}, "since"),
        ({"since": "2026-03-02", "until": "2026-03-01"}, "until"),
    ],
)
def test_a_wrong_argument_of_a_list_is_named(
    memory: Memory, given: dict[str, Any], field: str
) -> None:
    with pytest.raises(Rejected) as refused:
        memory.list(**given)
    assert refused.value.field == field
