"""Outcomes on the ingest queue, rows to delete on the write queue."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from tests.support.builders import (
    ACME,
    MORNING,
    RecordingQueue,
    a_record,
    attempt,
    embedded,
    stores_over,
)
from tests.support.usecase_drivers import run_write_now
from varve.adapters.in_memory import (
    InMemoryGraph,
    InMemoryObjects,
    InMemoryRecords,
)
from varve.domain.calendar import Grain
from varve.domain.errors import Rejected
from varve.domain.experience.outcomes import Outcome
from varve.domain.experience.rows import Report
from varve.domain.record import Store
from varve.domain.search.query import Filter
from varve.messages.outcome import (
    is_outcome_delivery,
    is_outcome_event,
    parse_outcome_event,
    read_outcome,
    send_outcome,
)
from varve.messages.write import (
    DeleteRecords,
    ExpirePeriods,
    WriteRecords,
    send_deletion,
    send_expiry,
    send_records,
)
from varve.ports.queues import Delivery

REPORT = Report(
    "episode-1",
    Outcome.FAILURE,
    MORNING,
    MORNING,
    "the release",
    "raise",
    "roll back",
    ("a", "b"),
    "u-1",
    "c-1",
)


def sent(report: Report = REPORT) -> tuple[RecordingQueue, InMemoryObjects]:
    queue, objects = RecordingQueue(), InMemoryObjects()
    send_outcome(ACME, report, queue=queue, objects=objects)
    return queue, objects


def test_an_outcome_arrives_as_sent_in_its_episodes_group() -> None:
    queue, objects = sent()
    assert queue.groups == ["acme:support:episode-1"]
    assert is_outcome_delivery(queue.sent[0])
    assert read_outcome(queue.sent[0], objects=objects) == (ACME, REPORT)


def test_the_same_outcome_reported_later_is_the_same_message() -> None:
    later = Report(
        **{f: getattr(REPORT, f) for f in Report.__slots__}
        | {"created_at": MORNING + timedelta(1)}
    )
    assert sent()[0].deduplication_ids == sent(later)[0].deduplication_ids
    assert later.id == REPORT.id


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"outcome": "WON"}, "outcome"), ({"target": "../x"}, "episode"), ({"at": "soon"}, "message"),
        ({"used": ["a b"]}, "used"), ({"workspaceId": ".."}, "workspaceId"),
        ({"correction": "x" * 10_001}, "correction"), ({"used": [f"r{n}" for n in range(201)]}, "used"),
        ({"conversationId": "../c"}, "conversationId"), ({"userId": "a b"}, "userId"),
    ],
)  # fmt: skip
def test_a_malformed_outcome_message_is_refused_by_field(
    change: dict[str, Any], field: str
) -> None:
    queue, objects = sent()
    body = json.loads(queue.sent[0].body) | change
    error = attempt(
        lambda: read_outcome(
            Delivery("1", json.dumps(body), "g"), objects=objects
        )
    )
    assert isinstance(error, Rejected)
    assert error.field == field


TOLD: dict[str, Any] = {
    "type": "outcome", "workspaceId": "acme", "agentId": "support", "conversationId": "c-1",
    "outcome": "failure", "at": "2026-03-02T09:15:00Z", "correction": "the release", "used": ["b", "a", "a"],
}  # fmt: skip


def test_an_outcome_event_names_a_conversation_or_an_episode() -> None:
    assert is_outcome_event(TOLD)
    assert not is_outcome_event({"conversationId": "c-1", "messages": []})
    scope, report = parse_outcome_event(TOLD, MORNING + timedelta(1))
    assert (scope, report.target, report.used) == (ACME, "c-1", ("a", "b"))
    assert report.id == parse_outcome_event(TOLD, MORNING + timedelta(2))[1].id
    _, named = parse_outcome_event(TOLD | {"episodeId": "episode-1"}, MORNING)
    assert (named.target, named.conversation_id) == ("episode-1", "c-1")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"outcome": "WON"}, "outcome"), ({"episodeId": "../x"}, "episode"), ({"at": "soon"}, "at"),
        ({"at": None}, "at"),
        ({"used": ["a b"]}, "used"), ({"workspaceId": ".."}, "workspaceId"),
        ({"conversationId": "../c"}, "episode"), ({"correction": "x" * 10_001}, "correction"),
        ({"messages": []}, "messages"), ({"conversationId": None}, "conversationId"),
    ],
)  # fmt: skip
def test_a_malformed_outcome_event_is_refused_by_field(
    change: dict[str, Any], field: str
) -> None:
    error = attempt(lambda: parse_outcome_event(TOLD | change, MORNING))
    assert isinstance(error, Rejected)
    assert error.field == field


def test_experience_rows_make_no_period_due_and_are_deleted_by_id_or_year() -> (
    None
):
    records, objects, queue = (
        InMemoryRecords(),
        InMemoryObjects(),
        RecordingQueue(),
    )
    stores = stores_over(records, InMemoryGraph(), objects)
    rows = embedded(
        *(a_record(f"row {n}", period="2026", id=f"r{n}") for n in range(3))
    )
    send_records(
        WriteRecords(ACME, Store.EXPERIENCE, "words:64", tuple(rows)),
        queue=queue,
        objects=objects,
    )
    send_deletion(
        DeleteRecords(ACME, Store.EXPERIENCE, ("r0", "none")),
        queue=queue,
        objects=objects,
    )
    assert set(queue.groups) == {"acme:support:experience"}
    for delivery in [*queue.sent, *queue.sent[1:]]:
        run_write_now([delivery], stores)
    assert records.count(ACME, Store.EXPERIENCE, where=Filter()) == 2
    assert not list(objects.list("ledger/due"))
    assert records.count(ACME, Grain.WORKING, where=Filter()) == 0
    send_expiry(
        ExpirePeriods(ACME, Store.EXPERIENCE, ("2026",)),
        queue=queue,
        objects=objects,
    )
    run_write_now([queue.sent[-1]], stores)
    assert records.count(ACME, Store.EXPERIENCE, where=Filter()) == 0
