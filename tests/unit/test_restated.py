"""What somebody says has changed holds from then on, whatever they said of it in between."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.support.builders import MORNING, an_operation
from varve import Memory
from varve.domain.extraction import RECENT, Utterance, restate_changes
from varve.domain.triple import Op, fold

TICK = timedelta(microseconds=1)
QUIT = [
    ("2026-03-09", "I work at Brightline."),
    ("2026-03-10", "I quit my job at Brightline yesterday."),
]
MOVED = [
    ("2026-03-10", "I live in Porto."),
    ("2026-03-11", "I moved to Lisbon last week."),
]


def told(folder: Path, *said: tuple[str, str]) -> Memory:
    memory = Memory.open(
        folder, now=datetime(2026, 4, 1, tzinfo=UTC), environment={}
    )
    for day, text in said:
        message = {
            "id": "m",
            "role": "user",
            "name": "Dana",
            "content": text,
            "timestamp": f"{day}T09:00:00Z",
        }
        memory.ingest(
            {
                "conversationId": f"c-{day}",
                "userId": "u-42",
                "messages": [message],
            }
        )
    return memory


def known(memory: Memory) -> tuple[list[str], list[str]]:
    """What holds by the graph, and by the profile."""
    facts, profile = (
        memory.graph.entity("Dana")["facts"],
        memory.profile(user_id="u-42")["attributes"],
    )
    return [fact["target"] for fact in facts], [
        attribute["value"] for attribute in profile
    ]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_who_quit_yesterday_does_not_work_there_though_yesterday_they_said_so(
    tmp_path: Path, order: tuple[int, ...]
) -> None:
    assert known(told(tmp_path, *(QUIT[n] for n in order))) == ([], [])


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_who_moved_last_week_lives_there_whatever_they_said_since(
    tmp_path: Path, order: tuple[int, ...]
) -> None:
    memory = told(tmp_path, *(MOVED[n] for n in order))
    assert known(memory) == (["Lisbon"], ["Lisbon"])
    assert (
        "Lisbon" in memory.search("where does Dana live?").results[0].content
    )


def test_in_the_ordinary_case_there_is_one_span_that_begins_and_ends_when_it_did(
    tmp_path: Path,
) -> None:
    memory = told(
        tmp_path,
        ("2026-01-05", "I work at Brightline. I live in Porto."),
        QUIT[1],
        MOVED[1],
    )
    facts = memory.graph.entity("Dana", history=True)["facts"]
    assert {
        (fact["target"], fact["validAt"][:10], (fact["invalidAt"] or "")[:10])
        for fact in facts
    } == {
        ("Brightline", "2026-01-05", "2026-03-09"),
        ("Porto", "2026-01-05", "2026-03-08"),
        ("Lisbon", "2026-03-08", ""),
    }
    assert len(facts) == 3


def spoken(at: datetime = MORNING) -> list[Utterance]:
    return [Utterance("m0", "user", "Dana", "…", at, "u-42")]


def test_only_the_last_of_several_changes_still_holds_when_it_is_told() -> (
    None
):
    day = timedelta(days=1)
    left = an_operation(
        "Acme", "works_at", op=Op.DELETE, event_time=MORNING - 9 * day
    )
    back = an_operation(
        "Acme", "works_at", op=Op.UPDATE, event_time=MORNING - 2 * day
    )
    other = an_operation("Lisbon", op=Op.UPDATE, event_time=MORNING - 5 * day)
    again = restate_changes([left, back, other], spoken())[3:]
    assert [(o.predicate, o.op, o.event_time) for o in again] == [
        ("works_at", Op.UPDATE, MORNING), ("lives_in", Op.UPDATE, MORNING),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "operation",
    [
        an_operation(op=Op.ADD, event_time=MORNING - TICK),
        an_operation(op=Op.UPDATE, event_time=MORNING),
        an_operation(op=Op.UPDATE, event_time=MORNING + TICK),
        an_operation(op=Op.DELETE, event_time=MORNING - RECENT - TICK),
        an_operation(
            op=Op.UPDATE, event_time=MORNING - TICK, message_ids=("another",)
        ),
    ],
)
def test_what_is_no_recent_change_is_said_once(operation: object) -> None:
    assert restate_changes([operation], spoken()) == [operation]  # type: ignore[list-item]


def test_an_ending_told_twice_by_the_same_words_is_evidence_for_one_ending() -> (
    None
):
    said = an_operation("Acme", "works_at", op=Op.ADD, day=-60)
    first, *_ = ends = restate_changes(
        [
            an_operation(
                "Acme",
                "works_at",
                op=Op.DELETE,
                event_time=MORNING - timedelta(days=1),
            )
        ],
        spoken(),
    )
    (triple,) = fold([said, *ends])
    assert (triple.invalid_at, triple.evidence[-1]) == (
        first.event_time,
        first,
    )
    assert set(triple.evidence) == {said, *ends}
    assert fold(triple.evidence) == [triple]
