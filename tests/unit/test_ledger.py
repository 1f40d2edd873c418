"""The ledger: marks that stay until what they stand for is summed up, failures that wait, notes by hour."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import ACME, MORNING
from tests.support.traffic import CountingObjects
from varve.adapters.in_memory import InMemoryObjects
from varve.domain.calendar import Grain, Period
from varve.domain.errors import Rejected
from varve.domain.identity import Scope
from varve.domain.ledger import (
    GIVEN_UP_AFTER,
    LedgerChanges,
    due_key,
    expiry_key,
    failed_key,
    require_own,
)
from varve.domain.workspace import WorkspaceConfig
from varve.usecases.ledger import Ledger, build_marks
from varve.usecases.summaries.summary_records import expiries

DAY, NEXT = Period.parse("2026-03-02"), Period.parse("2026-03-03")
OTHER = Scope("acme", "sales")
HOUR = timedelta(hours=1)


@pytest.fixture
def ledger() -> Ledger:
    return Ledger(InMemoryObjects())


def due(
    ledger: Ledger, grain: Grain = Grain.DAILY, scope: Scope | None = None
) -> list[tuple[Scope, str]]:
    """As planning finds it; of one agent, as that agent finds it."""
    if scope:
        return [
            (one.scope, one.period.label) for one in ledger.due(grain, scope)
        ]
    planned = (
        one for period in ledger.marked(grain) for one in ledger.due_in(period)
    )
    return [(one.scope, one.period.label) for one in planned]


def test_what_was_written_marks_its_period_due(ledger: Ledger) -> None:
    ledger.mark(ACME, [DAY, NEXT, DAY], "what")
    ledger.mark(OTHER, [DAY], "what")
    assert due(ledger) == [
        (OTHER, DAY.label),
        (ACME, DAY.label),
        (ACME, NEXT.label),
    ]
    assert due(ledger, scope=OTHER) == [(OTHER, DAY.label)]
    assert due(ledger, Grain.WEEKLY) == []


def test_the_same_write_again_leaves_the_same_mark_and_another_one_its_own(
    ledger: Ledger,
) -> None:
    for written in ("a", "a", "b"):
        ledger.mark(ACME, [DAY], written)
    (one,) = ledger.due_in(DAY)
    assert len(one.marks) == 2
    assert one.marks == ledger.marks(ACME, DAY)


def test_marks_of_one_agent_or_period_are_not_those_of_a_longer_name(
    ledger: Ledger,
) -> None:
    ledger.mark(Scope("acme", "support-2"), [DAY], "a")
    ledger.mark(ACME, [Period.parse("2026")], "a")
    assert due(ledger, scope=ACME) == []
    assert ledger.marks(ACME, DAY) == ()


def test_only_marks_that_were_listed_before_are_removed(
    ledger: Ledger,
) -> None:
    """A write between the listing and the removal keeps the period due."""
    ledger.mark(ACME, [DAY], "before")
    listed = ledger.marks(ACME, DAY)
    ledger.mark(ACME, [DAY], "meanwhile")
    ledger.change(LedgerChanges(settles=listed))
    (left,) = ledger.marks(ACME, DAY)
    assert left not in listed
    assert due(ledger) == [(ACME, DAY.label)]


class Interrupted(InMemoryObjects):
    """Objects that let a number of puts and deletions through, and then run something in between or die."""

    def __init__(self, after: int, then: Callable[[], None]) -> None:
        super().__init__()
        self._after, self._then = after, then

    def put(self, key: str, data: bytes) -> None:
        self._step()
        super().put(key, data)

    def delete(self, keys: Iterable[str]) -> None:
        self._step()
        super().delete(keys)

    def _step(self) -> None:
        self._after -= 1
        if self._after == -1:
            self._then()


class Died(Exception):
    """The process did."""


def die() -> None:
    raise Died


def test_the_agents_half_of_a_mark_is_there_before_planning_can_find_the_other() -> (
    None
):
    objects = Interrupted(1, die)
    ledger = Ledger(objects)
    with pytest.raises(Died):
        ledger.mark(ACME, [DAY], "a")
    assert (ledger.pending(ACME), due(ledger)) == ({DAY}, [])
    ledger.mark(ACME, [DAY], "a")  # the message comes again
    assert (ledger.pending(ACME), due(ledger)) == ({DAY}, [(ACME, DAY.label)])


def test_a_settlement_that_died_half_way_is_finished_when_its_message_comes_again() -> (
    None
):
    objects = Interrupted(3, die)
    ledger = Ledger(objects)
    ledger.mark(ACME, [DAY], "a")
    marks = ledger.marks(ACME, DAY)
    with pytest.raises(Died):
        ledger.change(LedgerChanges(settles=marks))
    assert (ledger.pending(ACME), due(ledger)) == ({DAY}, [])
    assert (
        ledger.marks(ACME, DAY) == marks
    )  # as whoever summarizes again lists them
    ledger.change(LedgerChanges(settles=marks))
    assert list(objects.list("ledger")) == []


@pytest.mark.parametrize("step", range(4))
def test_a_write_that_is_repeated_while_its_mark_is_settled_leaves_no_half_that_nobody_plans(
    step: int,
) -> None:
    """The repeated write's two puts at every place among the settlement's two deletions."""
    objects = Interrupted(
        2 + step, lambda: Ledger(objects).mark(ACME, [DAY], "a")
    )
    ledger = Ledger(objects)
    ledger.mark(ACME, [DAY], "a")
    ledger.change(LedgerChanges(settles=ledger.marks(ACME, DAY)))
    if not due(ledger):
        assert ledger.pending(ACME) == frozenset()
    ledger.change(LedgerChanges(settles=ledger.marks(ACME, DAY)))
    assert list(objects.list("ledger")) == []


class Torn(InMemoryObjects):
    """Objects of whose exchange number `at` only some is done, and then the process dies."""

    def __init__(self, at: int, done: frozenset[int]) -> None:
        super().__init__()
        self.at, self._done = at, done

    def exchange(self, fresh: Iterable[str], doomed: Iterable[str]) -> None:
        self.at -= 1
        if self.at != -1:
            super().exchange(fresh, doomed)
            return
        new, old = list(fresh), list(doomed)
        kept = [key for number, key in enumerate(new) if number in self._done]
        super().exchange(
            kept,
            [
                key
                for number, key in enumerate(old, len(new))
                if number in self._done
            ],
        )
        raise Died


@given(at=st.integers(0, 1), done=st.frozensets(st.integers(0, 7)))
def test_a_summary_that_dies_while_its_ledger_is_changed_is_made_good_when_it_comes_again(
    at: int, done: frozenset[int]
) -> None:
    """It marks the week, settles its day's two marks and a failure, and leaves a note: any may be undone."""
    objects = Torn(-1, done)
    ledger, week = Ledger(objects), Period.parse("2026-W10")
    for written in ("a", "b"):
        ledger.mark(ACME, [DAY], written)
    ledger.fail(ACME, DAY, "down", MORNING)
    note = expiry_key(MORNING, ACME, Grain.DAILY)
    settled = LedgerChanges(
        (*ledger.marks(ACME, DAY), failed_key(ACME, DAY)), (note,)
    )
    objects.at = at
    with pytest.raises(Died):
        ledger.change(build_marks(ACME, [week], "summary") + settled)
    assert ledger.pending(
        ACME
    )  # so retention waits, and a search does not take the week's for the last word
    for grain in (Grain.DAILY, Grain.WEEKLY):
        found = (
            one
            for period in ledger.marked(grain)
            for one in ledger.due_in(period)
        )
        planned = {key for one in found for key in one.marks}
        assert planned <= {
            key for one in ledger.due(grain, ACME) for key in one.marks
        }
    ledger.change(build_marks(ACME, [week], "summary") + settled)
    assert ledger.pending(ACME) == {week}
    assert (due(ledger), due(ledger, Grain.WEEKLY)) == (
        [],
        [(ACME, week.label)],
    )
    assert (ledger.failure(ACME, DAY), ledger.standing((note,))) == (
        None,
        (note,),
    )


@pytest.mark.parametrize("others", [0, 50])
def test_what_is_due_for_one_agent_is_one_request_whatever_others_have_left_undone(
    others: int,
) -> None:
    objects = CountingObjects()
    ledger = Ledger(objects)
    for number in range(others):
        ledger.mark(OTHER, [DAY.shifted(-number)], "a")
    ledger.mark(ACME, [DAY, Period.parse("2026-W10")], "a")
    objects.forget_calls()
    assert [one.period for one in ledger.due(Grain.DAILY, ACME)] == [DAY]
    assert objects.calls.total() == 1
    assert ledger.pending(ACME) == {DAY, Period.parse("2026-W10")}
    assert objects.calls.total() == 2


def test_settling_twice_is_settling_once(ledger: Ledger) -> None:
    ledger.mark(ACME, [DAY], "a")
    changes = LedgerChanges(settles=ledger.marks(ACME, DAY))
    for _ in range(2):
        ledger.change(changes)
    assert due(ledger) == []


def test_a_failed_period_waits_twice_as_long_each_time_and_a_day_at_most(
    ledger: Ledger,
) -> None:
    waits = [
        ledger.fail(ACME, DAY, "down", MORNING).next_try - MORNING
        for _ in range(8)
    ]
    assert [wait / HOUR for wait in waits] == [1, 2, 4, 8, 16, 24, 24, 24]


def test_a_period_that_fails_every_day_for_months_still_waits_a_day() -> None:
    ledger = Ledger(InMemoryObjects())
    waits = [
        ledger.fail(ACME, DAY, "refused", MORNING).next_try - MORNING
        for _ in range(60)
    ]
    assert waits[-1] == 24 * HOUR


def test_a_failed_period_is_given_up_after_the_fifth_time(
    ledger: Ledger,
) -> None:
    given_up = [
        ledger.fail(ACME, DAY, "down", MORNING).given_up for _ in range(6)
    ]
    assert GIVEN_UP_AFTER == 5
    assert given_up == [False] * 4 + [True] * 2


def test_failures_are_kept_with_their_last_reason_until_the_period_recovers(
    ledger: Ledger,
) -> None:
    ledger.fail(ACME, DAY, "model: overloaded", MORNING)
    ledger.fail(ACME, DAY, "model: refused", MORNING)
    ledger.fail(OTHER, NEXT, "model: down", MORNING)
    failures = ledger.failures(DAY) | ledger.failures(NEXT)
    assert {*failures} == {ACME, OTHER}
    assert (failures[ACME].attempts, failures[ACME].reason) == (
        2,
        "model: refused",
    )
    assert failures[ACME].next_try == MORNING + 2 * HOUR
    assert ledger.failure(ACME, DAY) == failures[ACME]
    ledger.recover(ACME, DAY)
    assert ledger.failures(DAY) == {}
    assert ledger.failure(ACME, DAY) is None
    assert {*ledger.failures(NEXT)} == {OTHER}


def test_expiry_is_noted_for_the_first_full_hour_at_which_it_has_come() -> (
    None
):
    at = datetime(2026, 3, 4, 18, tzinfo=UTC)
    hours = [
        expiry_key(at + late, ACME, Grain.WORKING).split("/")[2]
        for late in (
            timedelta(0),
            timedelta(microseconds=1),
            timedelta(minutes=15),
            HOUR,
        )
    ]
    assert hours == [
        "2026-03-04T18",
        "2026-03-04T19",
        "2026-03-04T19",
        "2026-03-04T19",
    ]


def test_what_never_expires_is_noted_for_the_calendars_last_hour(
    ledger: Ledger,
) -> None:
    config = WorkspaceConfig.model_validate(
        {"retention": {"yearly": "9999 years", "daily": "999999 days"}}
    )
    notes = [
        note
        for period in (DAY, Period.parse("2026"))
        for note in expiries(ACME, period, config)
    ]
    ledger.change(LedgerChanges(expiries=tuple(notes)))
    last = {note for note in notes if "/9999-12-31T23/" in note}
    assert {note.rpartition("/")[2] for note in last} == {"yearly"}
    assert not last & {
        *ledger.expired_of(ACME, MORNING + timedelta(days=36_500))
    }


def test_a_time_of_the_first_centuries_has_expired(ledger: Ledger) -> None:
    """A year of two digits, as clients send them, is the year 26."""
    note = expiry_key(datetime(26, 3, 2, 9, tzinfo=UTC), ACME, Grain.WORKING)
    ledger.change(LedgerChanges(expiries=(note,)))
    ledger.note_lessons(ACME, datetime(26, 3, 2, tzinfo=UTC))
    assert ledger.expiring(MORNING) == {ACME: (note,)}
    assert {*ledger.lessons_due(MORNING)} == {ACME}


def test_cleanup_is_called_for_from_the_noted_hour_on_and_not_before(
    ledger: Ledger,
) -> None:
    at = datetime(2026, 3, 4, 18, 15, tzinfo=UTC)
    note = expiry_key(at, ACME, Grain.WORKING)
    later = expiry_key(at + timedelta(days=3), ACME, Grain.DAILY)
    ledger.change(LedgerChanges(expiries=(note, later)))
    assert ledger.expiring(at + timedelta(minutes=44)) == {}
    assert ledger.expiring(at + timedelta(minutes=45)) == {ACME: (note,)}
    assert ledger.expiring(at + timedelta(days=9)) == {ACME: (note, later)}
    ledger.change(LedgerChanges(settles=(note,)))
    assert ledger.expiring(at + timedelta(days=2)) == {}


def test_lessons_are_looked_at_from_the_noted_month_on_and_not_before(
    ledger: Ledger,
) -> None:
    ledger.note_lessons(ACME, datetime(2026, 3, 31, 23, tzinfo=UTC))
    ledger.note_lessons(ACME, datetime(2026, 5, 1, tzinfo=UTC))
    ledger.note_lessons(OTHER, datetime(2026, 5, 1, tzinfo=UTC))
    assert ledger.lessons_due(datetime(2026, 2, 28, 23, tzinfo=UTC)) == {}
    assert ledger.lessons_due(datetime(2026, 3, 1, tzinfo=UTC)) == {
        ACME: ("2026-03",)
    }
    assert ledger.lessons_due(datetime(2026, 4, 30, tzinfo=UTC)) == {
        ACME: ("2026-03",)
    }
    assert ledger.lessons_due(MORNING + timedelta(days=90)) == {
        ACME: ("2026-03", "2026-05"),
        OTHER: ("2026-05",),
    }


def test_a_note_that_is_settled_and_left_anew_in_one_change_is_gone(
    ledger: Ledger,
) -> None:
    """Which is why cleanup leaves no note that it settles."""
    note = expiry_key(MORNING, ACME, Grain.WORKING)
    ledger.change(LedgerChanges(settles=(note,), expiries=(note,)))
    assert ledger.expiring(MORNING + HOUR) == {}


@pytest.mark.parametrize(
    "key",
    [
        due_key(OTHER, DAY, "a"),
        expiry_key(MORNING, Scope("rival", "support"), Grain.DAILY),
        "timeline/x/y/acme/support/z",
        "ledger/due/daily/acme/support",
        "ledger/due/daily/acme/support/2026-03-02/a",
        "ledger/due/daily/2026-03-02/acme/support/../x",
        "ledger/due/daily/2026-03-02/acme/support/..",
        "ledger/due/daily/2026-03-02/acme/support",
        "ledger/marks/daily/2026-03-02/acme/support/a",
        "ledger/conversations/acme/acme/support/c-1",
    ],
)
def test_invariant_7_a_message_can_only_change_its_own_agents_ledger(
    key: str,
) -> None:
    require_own(
        [due_key(ACME, DAY, "a"), expiry_key(MORNING, ACME, Grain.DAILY)], ACME
    )
    with pytest.raises(Rejected):
        require_own([due_key(ACME, DAY, "a"), key], ACME)


def test_of_the_notes_those_stand_that_nobody_has_settled(
    ledger: Ledger,
) -> None:
    notes = tuple(
        expiry_key(MORNING, ACME, grain)
        for grain in (Grain.WORKING, Grain.DAILY)
    )
    ledger.change(LedgerChanges(expiries=notes))
    assert ledger.standing(notes) == notes
    ledger.change(LedgerChanges(settles=notes[:1]))
    assert ledger.standing(notes) == notes[1:]
