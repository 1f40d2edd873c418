"""Planning: what is closed, whose children are ready, and that does not wait after a failure."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.support.builders import ACME, MORNING
from tests.support.traffic import CountingObjects
from tests.support.usecase_drivers import run_plan
from varve.domain.calendar import LATEST, Grain, Period
from varve.domain.identity import Scope
from varve.domain.ledger import LedgerChanges
from varve.domain.workspace import WorkspaceConfig
from varve.usecases.ledger import Ledger
from varve.usecases.plan import GRACE

MONDAY, TUESDAY = Period.parse("2026-03-02"), Period.parse("2026-03-03")
WEEK = Period.parse("2026-W10")
CLOSED = datetime(2026, 3, 3, tzinfo=UTC) + GRACE
AFTER_WEEK = datetime(2026, 3, 9, tzinfo=UTC) + GRACE
ZONES = {"kumo": "Asia/Tokyo", "hudson": "America/New_York"}


class Book:
    """A ledger to plan from."""

    def __init__(self) -> None:
        self.objects = CountingObjects()
        self.ledger = Ledger(self.objects)

    def mark(
        self, *periods: Period, scope: Scope = ACME, written: str = "a"
    ) -> None:
        self.ledger.mark(scope, periods, written)

    def fail(
        self, period: Period, times: int = 1, at: datetime = CLOSED
    ) -> None:
        for _ in range(times):
            self.ledger.fail(ACME, period, "model: down", at)

    def plan(
        self, grain: Grain = Grain.DAILY, now: datetime = CLOSED, **given: Any
    ) -> list[str]:
        return [
            due.period.label for due in self.planned(grain, now, **given).due
        ]

    def planned(
        self, grain: Grain = Grain.DAILY, now: datetime = CLOSED, **given: Any
    ) -> Any:
        return run_plan(
            grain, now, ledger=self.ledger, config=_config, **given
        )


def _config(workspace: str) -> WorkspaceConfig:
    return WorkspaceConfig(timezone=ZONES.get(workspace, "UTC"))


def test_a_period_is_planned_once_it_is_over_and_the_grace_time_after_it() -> (
    None
):
    book = Book()
    book.mark(MONDAY, TUESDAY)
    assert book.plan(now=CLOSED - timedelta(microseconds=1)) == []
    assert book.plan(now=CLOSED) == [MONDAY.label]
    assert book.plan(now=CLOSED + timedelta(days=1)) == [
        MONDAY.label,
        TUESDAY.label,
    ]


def test_each_workspaces_day_ends_in_its_own_zone() -> None:
    book = Book()
    east, west = Scope("kumo", "a"), Scope("hudson", "a")
    book.mark(MONDAY, scope=east)
    book.mark(MONDAY, scope=west)
    planned = {
        hour: {
            due.scope
            for due in book.planned(
                now=datetime(2026, 3, 2, hour, tzinfo=UTC)
            ).due
        }
        for hour in (15, 16)
    }
    assert planned == {15: set(), 16: {east}}
    assert {
        due.scope
        for due in book.planned(now=datetime(2026, 3, 3, 6, tzinfo=UTC)).due
    } == {east, west}


def test_a_planned_period_comes_with_its_marks() -> None:
    book = Book()
    for written in ("a", "b"):
        book.mark(MONDAY, written=written)
    (due,) = book.planned().due
    assert due.marks == book.ledger.marks(ACME, MONDAY)
    assert len(due.marks) == 2


def test_a_period_waits_for_its_children() -> None:
    book = Book()
    book.mark(MONDAY, WEEK)
    assert book.plan(Grain.WEEKLY, AFTER_WEEK) == []
    book.ledger.change(_settled(book, MONDAY))
    assert book.plan(Grain.WEEKLY, AFTER_WEEK) == [WEEK.label]


def _settled(book: Book, period: Period) -> LedgerChanges:
    return LedgerChanges(settles=book.ledger.marks(ACME, period))


def test_children_of_other_periods_and_agents_do_not_hold_it_up() -> None:
    book = Book()
    book.mark(WEEK, Period.parse("2026-03-09"), Period.parse("2026-03-01"))
    book.mark(MONDAY, scope=Scope("acme", "sales"))
    assert book.plan(Grain.WEEKLY, AFTER_WEEK) == [WEEK.label]


def test_a_child_that_has_failed_holds_it_up_until_it_is_given_up() -> None:
    book = Book()
    book.mark(MONDAY, WEEK)
    book.fail(MONDAY, times=4)
    assert book.plan(Grain.WEEKLY, AFTER_WEEK) == []
    book.fail(MONDAY)
    assert book.plan(Grain.WEEKLY, AFTER_WEEK) == [WEEK.label]


def test_a_failed_period_is_planned_again_when_its_time_has_come_even_if_given_up() -> (
    None
):
    book = Book()
    book.mark(MONDAY)
    book.fail(MONDAY)
    assert book.plan(now=CLOSED + timedelta(minutes=59)) == []
    assert book.plan(now=CLOSED + timedelta(hours=1)) == [MONDAY.label]
    book.fail(MONDAY, times=9)
    assert book.plan(now=CLOSED + timedelta(hours=23)) == []
    assert book.plan(now=CLOSED + timedelta(hours=24)) == [MONDAY.label]


def test_who_asks_by_hand_need_not_wait() -> None:
    book = Book()
    book.mark(MONDAY)
    book.fail(MONDAY, times=3)
    assert book.plan(retry_now=True) == [MONDAY.label]


def test_a_failed_period_holds_up_no_other_and_no_other_agent() -> None:
    book = Book()
    book.mark(MONDAY, TUESDAY)
    book.mark(MONDAY, scope=Scope("acme", "sales"))
    book.fail(MONDAY, at=CLOSED + timedelta(days=1))
    due = book.planned(now=CLOSED + timedelta(days=1)).due
    assert [(one.scope.agent, one.period) for one in due] == [
        ("sales", MONDAY),
        ("support", TUESDAY),
    ]


def test_a_pass_is_bounded_takes_the_oldest_first_and_says_what_is_left() -> (
    None
):
    book = Book()
    days = [MONDAY.shifted(number) for number in range(7)]
    book.mark(*days)
    planned = book.planned(now=AFTER_WEEK, most=3)
    assert [due.period for due in planned.due] == days[:3]
    assert planned.left == 4


def test_one_agents_plan_is_of_that_agent_alone() -> None:
    book = Book()
    book.mark(MONDAY)
    book.mark(TUESDAY, scope=Scope("acme", "sales"))
    assert book.plan(now=AFTER_WEEK, scope=ACME) == [MONDAY.label]


def test_the_last_moment_of_the_calendar_plans_as_any_other() -> None:
    book = Book()
    book.mark(MONDAY)
    assert book.plan(now=LATEST) == [MONDAY.label]


def test_nothing_due_nothing_planned() -> None:
    assert [
        Book().plan(grain, MORNING + timedelta(days=4_000)) for grain in Grain
    ] == [[]] * len(Grain)


def asked(
    book: Book, grain: Grain, now: datetime, **given: Any
) -> dict[str, int]:
    """How often planning asked for what, and of which folders."""
    book.objects.forget_calls()
    book.planned(grain, now, **given)
    return dict(book.objects.calls)


def agents(count: int) -> list[Scope]:
    return [Scope(f"w{number % 10}", f"a{number}") for number in range(count)]


@pytest.mark.parametrize("count", [1, 30, 1_000])
def test_what_is_open_costs_one_request_however_many_agents_it_has(
    count: int,
) -> None:
    book = Book()
    for scope in agents(count):
        book.mark(Period.parse("2026"), scope=scope)
    assert asked(book, Grain.YEARLY, AFTER_WEEK) == {"folders": 1}


def test_the_grain_below_is_listed_once_for_a_pass_however_many_agents_are_due() -> (
    None
):
    book = Book()
    for scope in agents(40):
        book.mark(WEEK, scope=scope)
    book.mark(MONDAY, TUESDAY, scope=agents(1)[0])
    # The weeks, that week's failures and agents; the days, and of both that are due agents and failures.
    assert asked(book, Grain.WEEKLY, AFTER_WEEK) == {"folders": 2, "list": 6}
    planned = book.planned(Grain.WEEKLY, AFTER_WEEK)
    assert (len(planned.due), planned.left, planned.waiting) == (39, 0, 1)


def test_one_agents_plan_touches_no_others_marks() -> None:
    book = Book()
    for scope in agents(20):
        book.mark(MONDAY, WEEK, scope=scope)
    book.mark(WEEK)
    book.objects.forget_calls()
    assert book.plan(Grain.WEEKLY, AFTER_WEEK, scope=ACME) == [WEEK.label]
    assert [key for key in book.objects.touched if f"{ACME}" not in key] == []


def test_what_waits_for_its_children_is_not_counted_as_left() -> None:
    book = Book()
    book.mark(MONDAY, WEEK)
    book.mark(WEEK, scope=Scope("acme", "sales"))
    book.mark(WEEK, scope=Scope("acme", "shop"))
    planned = book.planned(Grain.WEEKLY, AFTER_WEEK, most=1)
    assert (
        [due.scope.agent for due in planned.due],
        planned.left,
        planned.waiting,
    ) == (["sales"], 1, 1)
