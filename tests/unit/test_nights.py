"""Nights: a pass does its own time's work, failures wait from when they failed, agents come one by one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.support.drivers import (
    MAX_AGENTS_PER_PASS,
    MAX_NOTES,
    PassOutcome,
    WorkOutcome,
)
from tests.support.traffic import CALM, CountingObjects, Simulation
from varve.adapters.in_memory import InMemoryRecords
from varve.domain.calendar import SUMMARY_GRAINS, Grain, Period, iso
from varve.domain.identity import Scope
from varve.domain.ledger import LedgerChanges, expiry_key, noted_grain
from varve.domain.record import Store, StoreName
from varve.domain.workspace import WorkspaceConfig
from varve.messages.wire import MAX_BODY_BYTES
from varve.messages.work import CleanAgent, SummarizePeriod, read_work
from varve.ports.queues import Delivery

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
TUESDAYS_PASS = datetime(2026, 3, 3, 1, 10, tzinfo=UTC)
SCOPE = Scope("acme", "support")
OVER = datetime(2026, 3, 5, tzinfo=UTC)


def told(days: int, *agents: str, **given: Any) -> Simulation:
    """Agents that were talked to on so many days from Monday on."""
    sim = Simulation({"acme": WorkspaceConfig()}, MONDAY, **given)
    for agent in agents or (SCOPE.agent,):
        for number in range(days):
            at = MONDAY + number * DAY
            message = {
                "id": f"m{number}",
                "role": "user",
                "content": "I like tea.",
                "timestamp": iso(at),
            }
            owner = {"workspaceId": "acme", "agentId": agent, "userId": "u-42"}
            sim.ingest(
                [
                    {
                        **owner,
                        "conversationId": f"c-{number}",
                        "messages": [message],
                    }
                ]
            )
    sim.drain()
    return sim


def waiting(sim: Simulation) -> Iterator[SummarizePeriod | CleanAgent]:
    """What is on the work queue."""
    for group in sim.parts.summary_queue.waiting.values():
        yield from map(read_work, group)


def test_tuesdays_pass_run_again_on_friday_does_tuesdays_work_and_no_more() -> (
    None
):
    sim = told(3)
    friday = sim.clock.now = TUESDAYS_PASS + 3 * DAY
    assert sim.app.plan(Grain.DAILY, TUESDAYS_PASS) == PassOutcome(
        planned=1, left=0
    )
    assert [item.planned_at for item in waiting(sim)] == [TUESDAYS_PASS]
    sim.drain()
    (day,) = sim.parts.records.in_period(SCOPE, Grain.DAILY, "2026-03-02")
    assert (
        day.created_at == friday
    )  # learnt when it was made, whatever the pass was for
    assert sim.parts.records.periods(SCOPE, Grain.DAILY) == {"2026-03-02": 1}


def test_what_fails_when_tuesdays_pass_is_run_on_friday_waits_from_friday_on() -> (
    None
):
    sim = told(1)
    friday = sim.clock.now = TUESDAYS_PASS + 3 * DAY
    sim.parts.flaky.one_in = 1
    sim.app.plan(Grain.DAILY, TUESDAYS_PASS)
    sim.drain()
    failure = sim.app.ledger.failure(SCOPE, Period.parse("2026-03-02"))
    assert failure is not None
    assert failure.next_try == friday + HOUR
    again = [
        sim.plan(Grain.DAILY, at)
        for at in (TUESDAYS_PASS, friday, friday + HOUR - timedelta(minutes=1))
    ]
    assert again == [0, 0, 0]
    sim.parts.flaky.one_in = 0
    assert sim.plan(Grain.DAILY, friday + HOUR) == 1
    assert sim.parts.records.periods(SCOPE, Grain.DAILY) == {"2026-03-02": 1}


def test_a_workspace_whose_configuration_is_not_valid_holds_up_no_other_and_is_told() -> (
    None
):
    sim, broken = told(1), Scope("broken", SCOPE.agent)
    message = {
        "id": "m",
        "role": "user",
        "content": "I like tea.",
        "timestamp": iso(MONDAY),
    }
    owner = {
        "workspaceId": broken.workspace,
        "agentId": broken.agent,
        "conversationId": "c",
    }
    sim.ingest([{**owner, "messages": [message]}])
    sim.drain()
    sim.parts.objects.put(
        "workspaces/broken/config.json", b'{"timezone": "Mars/Olympus"}'
    )
    assert sim.plan(Grain.DAILY, TUESDAYS_PASS) == 2
    assert sim.parts.records.periods(SCOPE, Grain.DAILY) == {"2026-03-02": 1}
    failure = sim.app.ledger.failure(broken, Period.parse("2026-03-02"))
    assert failure is not None
    assert "Mars/Olympus" in failure.reason
    assert not sim.parts.letters.letters
    sim.parts.objects.delete(["workspaces/broken/config.json"])
    assert sim.plan(Grain.DAILY, TUESDAYS_PASS + HOUR) == 1
    assert sim.parts.records.periods(broken, Grain.DAILY) == {"2026-03-02": 1}


def test_the_notes_of_an_agent_that_was_never_cleaned_up_fit_a_message_whatever_it_is_called() -> (
    None
):
    """Else the queue refuses them at every pass, and nobody is cleaned up any more."""
    sim, scope = Simulation({}, MONDAY), Scope("w" * 128, "a" * 128)
    hours = [MONDAY + number * HOUR for number in range(MAX_NOTES)]
    sim.app.ledger.change(
        LedgerChanges(
            expiries=tuple(
                expiry_key(at, scope, Grain.QUARTERLY) for at in hours
            )
        )
    )
    assert sim.app.clean(hours[-1]) == PassOutcome(planned=1, left=0)
    ((message,),) = sim.parts.summary_queue.waiting.values()
    assert len(message.body.encode()) <= MAX_BODY_BYTES


def test_a_pass_whose_time_is_ahead_of_the_clock_makes_failures_wait_from_its_own_time() -> (
    None
):
    """Else a clock that lags would let the next pass take at once what has just failed."""
    sim = told(1)
    sim.clock.now = TUESDAYS_PASS - 5 * HOUR
    sim.parts.flaky.one_in = 1
    sim.app.plan(Grain.DAILY, TUESDAYS_PASS)
    sim.drain()
    failure = sim.app.ledger.failure(SCOPE, Period.parse("2026-03-02"))
    assert failure is not None
    assert failure.next_try == TUESDAYS_PASS + HOUR


def test_a_cleanup_pass_puts_each_agent_on_the_queue_in_the_agents_own_group() -> (
    None
):
    sim = told(1, "support", "sales", "shop")
    sim.plan(Grain.DAILY, MONDAY + DAY)
    assert sim.app.clean(OVER) == PassOutcome(planned=3, left=0)
    assert {item.scope.agent for item in waiting(sim)} == {
        "support",
        "sales",
        "shop",
    }
    assert set(sim.parts.summary_queue.waiting) == {
        f"acme:{agent}" for agent in ("support", "sales", "shop")
    }
    touched = sim.parts.objects.touched
    assert not [key for key in touched[-1:] if "vectordb" in key]


def test_what_a_pass_does_not_take_is_told_and_taken_by_the_next() -> None:
    sim = Simulation({}, MONDAY)
    agents = [
        Scope("acme", f"agent-{number:05}")
        for number in range(MAX_AGENTS_PER_PASS + 1)
    ]
    notes = tuple(expiry_key(MONDAY, scope, Grain.WORKING) for scope in agents)
    sim.app.ledger.change(LedgerChanges(expiries=notes))
    assert sim.app.clean(OVER) == PassOutcome(
        planned=MAX_AGENTS_PER_PASS, left=1
    )
    sim.drain()
    assert sim.app.clean(OVER + HOUR) == PassOutcome(planned=1, left=0)
    sim.drain()
    assert sim.app.clean(OVER + 2 * HOUR) == PassOutcome(planned=0, left=0)


class AskedRecords(InMemoryRecords):
    """Records that note which stores are asked for their periods."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[StoreName] = []

    def periods(self, scope: Scope, grain: StoreName) -> Any:
        self.asked.append(grain)
        return super().periods(scope, grain)


def test_only_the_grains_that_have_notes_are_looked_at() -> None:
    records = AskedRecords()
    sim = told(1, records=records)
    sim.plan(Grain.DAILY, MONDAY + DAY)
    asked = records.asked
    asked.clear()
    sim.app.clean(OVER)
    sim.parts.summary_queue.drain(
        lambda batch: sim.app.work(batch).returned, CALM
    )
    assert (
        set(asked)
        == {
            Grain.WORKING,
            Grain.DAILY,
            Store.EXPERIENCE,
        }
    )  # the one that is noted, the one that seals it, and experience's own limits
    asked.clear()
    sim.app.cleanup(SCOPE, OVER)
    assert set(asked) == {*Grain, Store.EXPERIENCE}


def test_an_agent_that_another_delivery_has_cleaned_up_is_asked_for_its_notes_alone() -> (
    None
):
    sim = told(1)
    sim.plan(Grain.DAILY, MONDAY + DAY)
    sim.app.clean(OVER)
    (group,) = sim.parts.summary_queue.waiting.values()
    (delivery,) = group
    assert sim.app.work([delivery]) == WorkOutcome(cleaned=1, expired=1)
    sim.drain()
    objects = sim.parts.objects
    assert isinstance(objects, CountingObjects)
    objects.forget_calls()
    assert sim.app.work([delivery]) == WorkOutcome()
    assert dict(objects.calls) == {"get": 1}


def test_cleanup_by_hand_settles_the_notes_that_called_for_it() -> None:
    sim = told(1)
    sim.plan(Grain.DAILY, MONDAY + DAY)
    sim.app.cleanup(SCOPE, OVER, dry_run=True)
    assert SCOPE in sim.app.ledger.expiring(OVER)
    sim.app.cleanup(SCOPE, OVER)
    sim.drain()
    assert sim.app.ledger.expiring(OVER) == {}
    assert sim.parts.records.periods(SCOPE, Grain.WORKING) == {}


@pytest.mark.parametrize(
    "note",
    [
        expiry_key(OVER, Scope("acme", "sales"), Grain.DAILY),
        "ledger/due/daily/2026-03-02/acme/support/daily",
        "ledger/expiry/2026-03-05T00/acme/support/hourly",
        "vectordb/acme/support/daily",
    ],
)
def test_invariant_7_a_work_item_cannot_settle_what_is_not_its_agents_note(
    note: str,
) -> None:
    sim = told(1)
    body = {
        "type": "clean",
        "workspaceId": "acme",
        "agentId": "support",
        "notes": [note],
        "plannedAt": iso(OVER),
    }
    assert (
        sim.app.work([Delivery("1", json.dumps(body), "acme:support")])
        == WorkOutcome()
    )
    ((_, error),) = sim.parts.letters.letters
    assert type(error).__name__ == "Rejected"


def test_every_note_of_a_pyramid_names_a_grain_that_cleanup_knows() -> None:
    sim = told(3)
    for grain in SUMMARY_GRAINS:
        sim.plan(grain, MONDAY + 400 * DAY)
    notes = sim.app.ledger.expiring(MONDAY + 9_000 * DAY)[SCOPE]
    assert {noted_grain(note) for note in notes} == set(Grain)
