"""Strata: the state of each period, and how amounts add up."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from varve.domain.calendar import Grain, Period
from varve.domain.ledger import Failure
from varve.domain.retention import PLANS, Limit, Plan
from varve.domain.strata import Calendar, Condition, Kept, Strata, build_strata

NOW = datetime(2026, 3, 20, 10, tzinfo=UTC)
DAY = Period.parse("2026-03-02")
WEEK = Period.parse("2026-W10")


def limit(grain: Grain) -> Limit:
    return PLANS[Plan.PRO][grain]


def strata(
    kept: Mapping[Period, Kept],
    *pending: Period,
    failures: Mapping[Period, Failure] | None = None,
    now: datetime = NOW,
) -> Strata:
    calendar = Calendar(now, ZoneInfo("UTC"), timedelta(hours=1), limit)
    return build_strata(kept, pending, failures or {}, calendar)


def condition(found: Strata, period: Period) -> Condition:
    stratum = found.get(period)
    assert stratum is not None
    return stratum.condition


def test_amounts_add_up_to_the_year() -> None:
    other = Period.parse("2026-03-12")
    found = strata({DAY: Kept(turns=3, facts=1), other: Kept(turns=2)})
    (year,) = found.years
    assert (year.period.label, year.turns, year.facts, year.amount) == (
        "2026",
        5,
        1,
        6,
    )
    month = Period.parse("2026-03")
    assert [one.period.label for one in found.children(month)] == [
        "2026-W10",
        "2026-W11",
    ]
    assert [one.amount for one in found.children(month)] == [4, 2]
    assert [one.period.label for one in found.days] == [
        "2026-03-02",
        "2026-03-12",
    ]


def test_the_sources_of_a_summary_tell_the_amount_of_expired_records() -> None:
    found = strata({DAY: Kept(summaries=1, sources=7)})
    assert [year.amount for year in found.years] == [7]


@pytest.mark.parametrize(
    ("kept", "pending", "expected"),
    [
        (Kept(turns=1, summaries=1), False, Condition.READY),
        (Kept(turns=1, summaries=1), True, Condition.STALE),
        (Kept(turns=1), True, Condition.DUE),
        (Kept(), False, Condition.EMPTY),
    ],
)
def test_a_closed_day_is_in_the_state_of_its_summary(
    kept: Kept, pending: bool, expected: Condition
) -> None:
    found = strata({DAY: kept}, *([DAY] if pending else []))
    assert condition(found, DAY) is expected


def test_a_day_that_is_not_over_is_running_whatever_else_is_true() -> None:
    during = datetime(2026, 3, 2, 12, tzinfo=UTC)
    assert condition(strata({DAY: Kept(turns=1)}, DAY, now=during), DAY) is (
        Condition.RUNNING
    )


def test_a_failure_is_told_with_its_reason() -> None:
    failed = Failure(3, "the model did not answer", NOW)
    found = strata({DAY: Kept(turns=1)}, DAY, failures={DAY: failed})
    stratum = found.get(DAY)
    assert stratum is not None
    assert (stratum.condition, stratum.reason, stratum.attempts) == (
        Condition.FAILED,
        "the model did not answer",
        3,
    )


def test_a_week_waits_for_its_days() -> None:
    found = strata({DAY: Kept(turns=1)}, DAY)
    assert condition(found, WEEK) is Condition.WAITING


def test_a_period_beyond_its_limit_has_expired() -> None:
    later = datetime(2026, 12, 1, tzinfo=UTC)
    found = strata(
        {DAY: Kept(), WEEK: Kept(summaries=1, sources=1)}, now=later
    )
    assert condition(found, DAY) is Condition.EXPIRED
    assert condition(found, WEEK) is Condition.READY


def test_a_period_of_which_nothing_was_held_is_not_there() -> None:
    assert strata({DAY: Kept(turns=1)}).get(Period.parse("2031")) is None
