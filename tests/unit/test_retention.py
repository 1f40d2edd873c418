"""Limits: what each plan keeps, and the exact instant at which a period has outlived it."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from varve.domain.calendar import EARLIEST, LATEST, Grain, Period
from varve.domain.errors import Rejected
from varve.domain.retention import (
    MAX_AMOUNT,
    PLANS,
    Limit,
    Plan,
    Unit,
    cutoff,
    expired,
    expires_at,
    oldest_kept,
    timeline_limit,
)

UTC_ZONE, LISBON, APIA = (
    ZoneInfo("UTC"),
    ZoneInfo("Europe/Lisbon"),
    ZoneInfo("Pacific/Apia"),
)
ZONE_NAMES = (
    "UTC",
    "Africa/Casablanca",
    "America/Havana",
    "America/Sao_Paulo",
    "America/St_Johns",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "Europe/Lisbon",
    "Pacific/Apia",
    "Pacific/Kiritimati",
)
ZONES = [ZoneInfo(name) for name in ZONE_NAMES]
TICK = timedelta(microseconds=1)
UNITS = [unit for unit in Unit if unit is not Unit.FOREVER]
GRAIN_OF = dict(zip(UNITS[1:], list(Grain)[1:], strict=True))


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[arg-type, misc]


zones = st.sampled_from(ZONES)
units = st.sampled_from(UNITS[1:])
limits = st.builds(Limit, st.integers(1, 130), st.sampled_from(UNITS))
periods = st.builds(
    Period.of_day,
    st.dates(date(1990, 1, 1), date(2050, 12, 31)),
    st.sampled_from(Grain),
)
instants = st.integers(0, 61 * 365 * 86_400).map(
    lambda seconds: utc(1990, 1, 1) + timedelta(seconds=seconds)
)


def kept(
    grain: Grain, limit: Limit, now: datetime, zone: ZoneInfo
) -> list[Period]:
    """The periods from the running one back to the last that is not expired."""
    found = [Period.of(now, grain, zone)]
    while not expired(found[-1].previous(), limit, now, zone):
        found.append(found[-1].previous())
    return found


# The table and its words.


def test_the_plans_are_those_of_the_design() -> None:
    table = {
        plan: [str(limit) for limit in limits.values()]
        for plan, limits in PLANS.items()
    }
    assert table == {
        Plan.NONE: ["forever"] * 6,
        Plan.FREE: [
            "48 hours",
            "30 days",
            "6 weeks",
            "6 months",
            "4 quarters",
            "2 years",
        ],
        Plan.STARTER: [
            "120 hours",
            "60 days",
            "12 weeks",
            "12 months",
            "8 quarters",
            "4 years",
        ],
        Plan.PRO: [
            "240 hours",
            "120 days",
            "24 weeks",
            "24 months",
            "16 quarters",
            "8 years",
        ],
    }
    assert set(table) == set(Plan)
    assert all(list(limits) == list(Grain) for limits in PLANS.values())


def test_the_table_cannot_be_changed_by_a_caller() -> None:
    with pytest.raises(TypeError):
        PLANS[Plan.FREE][Grain.DAILY] = Limit(1, Unit.DAYS)  # type: ignore[index]


@given(st.builds(Limit, st.integers(1, MAX_AMOUNT), st.sampled_from(UNITS)))
def test_a_limit_is_read_as_it_is_written(limit: Limit) -> None:
    assert Limit.parse(str(limit)) == limit


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("1 day", "1 day"),
        ("1 days", "1 day"),
        ("2 year", "2 years"),
        ("48 hours",) * 2,
    ],
)
def test_one_and_many_are_both_understood(text: str, written: str) -> None:
    assert str(Limit.parse(text)) == written


NO_AMOUNTS = (
    "30",
    "0 days",
    "-1 days",
    "+1 days",
    "030 days",
    "1.5 years",
    "1000000 days",
    "३० days",
)
NO_UNITS = (
    "",
    "days",
    "Forever",
    "1 forever",
    "30 Days",
    "30 d",
    "30 dayss",
    "30 minutes",
)
NO_SPACING = ("30days", "30  days", " 30 days", "30 days\n")


@pytest.mark.parametrize("text", [*NO_AMOUNTS, *NO_UNITS, *NO_SPACING])
def test_any_other_text_is_refused_with_the_units(text: str) -> None:
    with pytest.raises(
        Rejected, match="hours, days, weeks, months, quarters, years"
    ) as refusal:
        Limit.parse(text)
    assert refusal.value.field == "retention"


@pytest.mark.parametrize("amount", [0, -1, MAX_AMOUNT + 1])
def test_an_amount_must_be_positive_and_within_reason(amount: int) -> None:
    with pytest.raises(Rejected):
        Limit(amount, Unit.DAYS)


# What survives.


@given(st.integers(1, 130), units, instants, zones)
def test_so_many_periods_are_left_of_the_limits_own_grain(
    amount: int, unit: Unit, now: datetime, zone: ZoneInfo
) -> None:
    """The one that holds now is among them."""
    left = kept(GRAIN_OF[unit], Limit(amount, unit), now, zone)
    assume(all(period.start(zone) < period.end(zone) for period in left))
    assert len(left) == amount


@given(st.integers(1, 1000), instants, zones)
def test_hours_are_elapsed_time(
    hours: int, now: datetime, zone: ZoneInfo
) -> None:
    limit = Limit(hours, Unit.HOURS)
    assert now - cutoff(limit, now, zone) == timedelta(hours=hours)
    left = kept(Grain.WORKING, limit, now, zone)
    assert (
        now - left[-1].end(zone)
        < timedelta(hours=hours)
        <= now - left[-1].previous().end(zone)
    )


@given(periods, limits, zones)
def test_a_period_expires_at_one_instant_and_stays_expired(
    period: Period, limit: Limit, zone: ZoneInfo
) -> None:
    assume(period.start(zone) < period.end(zone))
    moment = expires_at(period, limit, zone)
    assert moment >= period.end(zone)
    assert not expired(period, limit, moment - TICK, zone)
    assert expired(period, limit, moment, zone)
    assert expired(period, limit, moment + timedelta(days=400), zone)


@given(limits, instants, zones, st.sampled_from(Grain), st.integers(-40, 40))
def test_the_labels_before_the_oldest_kept_are_those_expired(
    limit: Limit, now: datetime, zone: ZoneInfo, grain: Grain, steps: int
) -> None:
    oldest = oldest_kept(grain, limit, now, zone)
    other = oldest.shifted(steps)
    assert expired(other, limit, now, zone) == (other.label < oldest.label)


@given(
    limits, instants, st.timedeltas(timedelta(0), timedelta(days=800)), zones
)
def test_the_cutoff_never_moves_back(
    limit: Limit, now: datetime, later: timedelta, zone: ZoneInfo
) -> None:
    assert (
        cutoff(limit, now, zone)
        <= cutoff(limit, now + later, zone)
        <= now + later
    )


@pytest.mark.parametrize(
    ("text", "zone", "now", "expected"),
    [
        # The docstring's example: clocks went forward on 29 March, and the hour does not matter.
        ("30 days", LISBON, utc(2026, 3, 31, 12), utc(2026, 3, 2)),
        ("30 days", LISBON, utc(2026, 3, 30, 23), utc(2026, 3, 2)),
        ("30 days", LISBON, utc(2026, 3, 30, 22, 59), utc(2026, 3, 1)),
        # Back over the end of summer time: the cutoff is a midnight in summer time.
        ("2 days", LISBON, utc(2026, 10, 26, 12), utc(2026, 10, 24, 23)),
        ("48 hours", LISBON, utc(2026, 10, 26, 12), utc(2026, 10, 24, 12)),
        # A leap day is a day.
        ("2 days", UTC_ZONE, utc(2028, 3, 1), utc(2028, 2, 29)),
        ("2 days", UTC_ZONE, utc(2027, 3, 1), utc(2027, 2, 28)),
        ("366 days", UTC_ZONE, utc(2028, 12, 31, 5), utc(2028, 1, 1)),
        # Over the year's end; the running period counts as one.
        ("1 day", UTC_ZONE, utc(2027, 1, 1), utc(2027, 1, 1)),
        ("30 days", UTC_ZONE, utc(2027, 1, 10), utc(2026, 12, 12)),
        ("6 weeks", UTC_ZONE, utc(2027, 1, 3, 23), utc(2026, 11, 23)),
        ("6 weeks", UTC_ZONE, utc(2027, 1, 4), utc(2026, 11, 30)),
        # Months, quarters and years are the pyramid's: whole weeks, from the Monday of the first.
        ("6 months", UTC_ZONE, utc(2026, 11, 29, 23), utc(2026, 6, 1)),
        ("6 months", UTC_ZONE, utc(2026, 11, 30), utc(2026, 6, 29)),
        ("4 quarters", UTC_ZONE, utc(2026, 12, 31), utc(2025, 12, 29)),
        ("1 year", UTC_ZONE, utc(2026, 11, 30), utc(2025, 12, 29)),
        ("2 years", UTC_ZONE, utc(2027, 1, 3, 23, 59), utc(2024, 12, 30)),
        ("2 years", UTC_ZONE, utc(2027, 1, 4), utc(2025, 12, 29)),
        # A day begins elsewhere when it does.
        (
            "1 day",
            ZoneInfo("Pacific/Kiritimati"),
            utc(2026, 1, 1, 12),
            utc(2026, 1, 1, 10),
        ),
        (
            "1 day",
            ZoneInfo("Asia/Kathmandu"),
            utc(2026, 1, 1, 12),
            utc(2025, 12, 31, 18, 15),
        ),
        (
            "1 day",
            ZoneInfo("America/Sao_Paulo"),
            utc(2018, 11, 4, 12),
            utc(2018, 11, 4, 3),
        ),
        # Apia skipped 30 December 2011, which counts as a day all the same.
        ("2 days", APIA, utc(2011, 12, 30, 12), utc(2011, 12, 30, 10)),
        ("3 days", APIA, utc(2011, 12, 30, 12), utc(2011, 12, 29, 10)),
    ],
)
def test_cutoffs(
    text: str, zone: ZoneInfo, now: datetime, expected: datetime
) -> None:
    found = cutoff(Limit.parse(text), now, zone)
    assert (found, found.tzinfo) == (expected, UTC)


def test_the_first_of_march_goes_when_thirty_days_are_left() -> None:
    now, limit = utc(2026, 3, 31, 12), Limit.parse("30 days")
    assert expired(Period.parse("2026-03-01"), limit, now, LISBON)
    assert not expired(Period.parse("2026-03-02"), limit, now, LISBON)
    assert oldest_kept(Grain.DAILY, limit, now, LISBON) == Period.parse(
        "2026-03-02"
    )


def test_a_working_day_is_kept_until_its_last_hour_has_outlived_the_limit() -> (
    None
):
    day, limit = (
        Period.parse("2026-03-02", Grain.WORKING),
        PLANS[Plan.FREE][Grain.WORKING],
    )
    assert not expired(day, limit, utc(2026, 3, 4, 23, 59), UTC_ZONE)
    assert expired(day, limit, utc(2026, 3, 5), UTC_ZONE)


def test_a_limit_may_count_another_unit_than_its_grain() -> None:
    """Two months of days, and days of months: a month is kept while any of it is within the limit."""
    now = utc(2026, 11, 20)
    assert (
        oldest_kept(Grain.DAILY, Limit.parse("2 months"), now, UTC_ZONE).label
        == "2026-09-28"
    )
    assert (
        oldest_kept(Grain.MONTHLY, Limit.parse("60 days"), now, UTC_ZONE).label
        == "2026-09"
    )


def test_a_limit_beyond_the_calendar_expires_nothing() -> None:
    now = utc(2026, 1, 1)
    for unit in UNITS:
        limit = Limit(MAX_AMOUNT, unit)
        if unit is not Unit.HOURS:
            assert cutoff(limit, now, LISBON) == EARLIEST
            assert expires_at(Period.parse("9000"), limit, LISBON) == LATEST
        assert not expired(
            Period.parse("0001-01-01"), limit, utc(1, 1, 2), LISBON
        )
    assert (
        expires_at(Period.parse("9999-12-31"), Limit(1, Unit.HOURS), LISBON)
        == LATEST
    )


def test_forever_expires_nothing_at_any_time() -> None:
    limit = Limit.parse("forever")
    assert str(limit) == "forever"
    assert cutoff(limit, LATEST, LISBON) == EARLIEST
    assert expires_at(Period.parse("0001"), limit, LISBON) == LATEST
    assert not expired(Period.parse("0001"), limit, LATEST, LISBON)


# The timeline.


def test_the_timeline_follows_the_plans_years() -> None:
    now = utc(2026, 6, 1)
    assert [
        str(timeline_limit(plan, None, now, UTC_ZONE)) for plan in Plan
    ] == [
        "forever",
        "2 years",
        "4 years",
        "8 years",
    ]


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ("90 days", "90 days"),
        ("1 year", "1 year"),
        ("2 years", "2 years"),
        ("3 years", "2 years"),
        ("10000 days", "2 years"),
    ],
)
def test_a_workspace_may_keep_less_of_the_timeline_but_not_more(
    own: str, expected: str
) -> None:
    assert (
        str(
            timeline_limit(
                Plan.FREE, Limit.parse(own), utc(2026, 6, 1), UTC_ZONE
            )
        )
        == expected
    )
