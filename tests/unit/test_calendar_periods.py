"""Periods: every instant has one of each grain, children tile their parent, labels are strict."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from varve.domain.calendar import (
    EARLIEST,
    LATEST,
    SUMMARY_GRAINS,
    Grain,
    Period,
    day_of,
    is_closed,
    start_of_day,
)
from varve.domain.errors import Rejected


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[arg-type, misc]


ZONE_NAMES = (
    "UTC",
    "Africa/Cairo",
    "Africa/Casablanca",
    "America/Havana",
    "America/Sao_Paulo",
    "America/St_Johns",
    "Antarctica/Casey",
    "Asia/Beirut",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "Europe/Lisbon",
    "Pacific/Apia",
    "Pacific/Kiritimati",
)
ZONES = [ZoneInfo(name) for name in ZONE_NAMES]
LISBON, APIA = ZoneInfo("Europe/Lisbon"), ZoneInfo("Pacific/Apia")
ST_JOHNS, SAO_PAULO = (
    ZoneInfo("America/St_Johns"),
    ZoneInfo("America/Sao_Paulo"),
)
UTC_ZONE = ZoneInfo("UTC")
FIRST, LAST = date(1990, 1, 1), date(2050, 12, 31)
TICK = timedelta(microseconds=1)
DAY = timedelta(days=1)
EVERY_DAY = [FIRST + n * DAY for n in range((LAST - FIRST).days + 1)]

zones = st.sampled_from(ZONES)
grains = st.sampled_from(Grain)
days = st.dates(FIRST, LAST)
periods = st.builds(Period.of_day, days, grains)
anywhere = st.builds(Period.of_day, st.dates(), grains)
near_midnight = st.builds(
    lambda day, zone, offset: start_of_day(day, zone) + offset,
    days,
    zones,
    st.timedeltas(-timedelta(hours=3), timedelta(hours=3)),
)
instants = near_midnight | st.integers(
    0, len(EVERY_DAY) * 86_400_000_000 - 1
).map(
    lambda microseconds: utc(1990, 1, 1) + timedelta(microseconds=microseconds)
)


def holds(period: Period, instant: datetime, zone: ZoneInfo) -> bool:
    return period.start(zone) <= instant < period.end(zone)


# Every instant has exactly one period of each grain.


@given(instants, grains, zones)
def test_every_instant_lies_in_its_period_and_in_neither_neighbour(
    instant: datetime, grain: Grain, zone: ZoneInfo
) -> None:
    period = Period.of(instant, grain, zone)
    assert holds(period, instant, zone)
    assert not holds(period.previous(), instant, zone)
    assert not holds(period.next(), instant, zone)


@pytest.mark.parametrize("zone", ZONES, ids=ZONE_NAMES)
def test_a_day_starts_when_the_local_clock_first_shows_it_and_ends_when_the_next_starts(
    zone: ZoneInfo,
) -> None:
    """All days of 60 years; one that the zone skipped starts where a later date does."""
    expected = Period.of_day(FIRST, Grain.DAILY).start(zone)
    for day in EVERY_DAY:
        period = Period.of_day(day, Grain.DAILY)
        start = period.start(zone)
        assert start == expected
        assert (
            (start - TICK).astimezone(zone).date()
            < day
            <= start.astimezone(zone).date()
        )
        expected = period.end(zone)


@pytest.mark.parametrize("zone", ZONES, ids=ZONE_NAMES)
def test_the_day_is_the_local_clocks_but_for_clocks_set_back_over_midnight(
    zone: ZoneInfo,
) -> None:
    """Half past midnight on every day of 60 years; overruled is only a clock that shows a date once more."""
    differing = set()
    for day in EVERY_DAY:
        instant = start_of_day(day, zone) + timedelta(minutes=30)
        if Period.of(instant, Grain.DAILY, zone).label != day_of(
            instant, zone
        ):
            differing.add(instant.year)
    assert differing == (set(range(1990, 2011)) if zone == ST_JOHNS else set())


@given(instants, zones)
def test_grains_agree_on_an_instant(instant: datetime, zone: ZoneInfo) -> None:
    """The parent of an instant's period is the instant's period of the parent grain."""
    for grain in list(Grain)[:-1]:
        assert grain.parent is not None
        assert Period.of(instant, grain, zone).parent() == Period.of(
            instant, grain.parent, zone
        )


# Nesting.


@given(periods, zones)
def test_children_tile_their_parent_exactly(
    period: Period, zone: ZoneInfo
) -> None:
    children = period.children()
    if period.grain is Grain.WORKING:
        assert children == []
        return
    assert children[0].start(zone) == period.start(zone)
    assert children[-1].end(zone) == period.end(zone)
    assert all(
        a.end(zone) == b.start(zone) and a.next() == b
        for a, b in pairwise(children)
    )
    assert children == sorted(children)


@given(periods)
def test_a_child_has_its_parent_and_a_parent_its_child(period: Period) -> None:
    assert all(child.parent() == period for child in period.children())
    parent = period.parent()
    assert (parent is None) == (period.grain is Grain.YEARLY)
    assert parent is None or parent.children().count(period) == 1


@given(periods)
def test_how_many_children_each_grain_has(period: Period) -> None:
    counts = {
        Grain.WORKING: {0},
        Grain.DAILY: {1},
        Grain.WEEKLY: {7},
        Grain.MONTHLY: {4, 5},
        Grain.QUARTERLY: {3},
        Grain.YEARLY: {4},
    }
    assert len(period.children()) in counts[period.grain]


def test_grains_are_a_chain_from_working_to_yearly() -> None:
    assert [grain.parent for grain in Grain] == [*list(Grain)[1:], None]
    assert [grain.child for grain in Grain] == [None, *list(Grain)[:-1]]
    assert tuple(Grain)[1:] == SUMMARY_GRAINS


def test_a_daily_period_is_made_of_the_working_period_of_the_same_day() -> (
    None
):
    assert Period(Grain.DAILY, "2026-11-21").children() == [
        Period(Grain.WORKING, "2026-11-21")
    ]
    assert Period(Grain.WORKING, "2026-11-21").parent() == Period(
        Grain.DAILY, "2026-11-21"
    )


def test_a_week_belongs_to_the_month_of_its_thursday() -> None:
    """Monday 30 November 2026: its week's Thursday is 3 December."""
    period = Period.of_day(date(2026, 11, 30), Grain.DAILY)
    chain = [period]
    while parent := chain[-1].parent():
        chain.append(parent)
    assert [p.label for p in chain] == [
        "2026-11-30",
        "2026-W49",
        "2026-12",
        "2026-Q4",
        "2026",
    ]
    assert Period(Grain.MONTHLY, "2026-12").days == (
        date(2026, 11, 30),
        date(2027, 1, 3),
    )
    assert Period(Grain.YEARLY, "2026").days == (
        date(2025, 12, 29),
        date(2027, 1, 3),
    )


def test_fault_weeks_that_do_not_nest() -> None:
    """Each week of 60 years is in one month, and months, quarters and years hold all weeks once, in order."""
    years = [Period(Grain.YEARLY, str(year)) for year in range(1990, 2051)]
    quarters = [quarter for year in years for quarter in year.children()]
    months = [month for quarter in quarters for month in quarter.children()]
    weeks = [week for month in months for week in month.children()]
    assert weeks == sorted(set(weeks))
    assert all(a.days[1] + DAY == b.days[0] for a, b in pairwise(weeks))
    assert (weeks[0].days[0], weeks[-1].days[1]) == (
        years[0].days[0],
        years[-1].days[1],
    )
    for month in months:
        thursdays = [week.days[0] + 3 * DAY for week in month.children()]
        assert {thursday.isoformat()[:7] for thursday in thursdays} == {
            month.label
        }


def test_fault_calendar_year_with_iso_week() -> None:
    """The reference writes 2024-W01 for 30 December 2024, and 2027-W53 for 1 January 2027."""
    ends = {
        date(2024, 12, 30): ("2025-W01", "2025-01", "2025-Q1", "2025"),
        date(2027, 1, 1): ("2026-W53", "2026-12", "2026-Q4", "2026"),
        date(2021, 1, 3): ("2020-W53", "2020-12", "2020-Q4", "2020"),
        date(2023, 1, 1): ("2022-W52", "2022-12", "2022-Q4", "2022"),
    }
    for day, labels in ends.items():
        assert (
            tuple(
                Period.of_day(day, grain).label for grain in SUMMARY_GRAINS[1:]
            )
            == labels
        )


def test_the_weekly_label_is_that_of_strftime_on_every_day_of_60_years() -> (
    None
):
    for day in EVERY_DAY:
        assert Period.of_day(day, Grain.WEEKLY).label == day.strftime("%G-W%V")
        assert Period.of_day(day, Grain.YEARLY).label == day.strftime("%G")


# Labels.


@given(anywhere)
def test_a_label_is_read_as_the_period_it_was_written_for(
    period: Period,
) -> None:
    assert Period.parse(period.label, period.grain) == period
    if period.grain is not Grain.WORKING:
        assert Period.parse(period.label) == period
    assert Period.of_day(period.days[0], period.grain) == period
    assert Period.of_day(period.days[1], period.grain) == period


@given(anywhere, anywhere)
def test_labels_of_a_grain_sort_by_time(one: Period, other: Period) -> None:
    if one.grain is other.grain:
        assert (
            (one < other)
            == (one.label < other.label)
            == (one.days < other.days)
        )


@pytest.mark.parametrize(
    ("label", "grain"),
    [
        ("2026-11-21", Grain.DAILY),
        ("2026-W47", Grain.WEEKLY),
        ("2026-11", Grain.MONTHLY),
        ("2026-Q4", Grain.QUARTERLY),
        ("2026", Grain.YEARLY),
    ],
)
def test_a_labels_form_tells_its_grain(label: str, grain: Grain) -> None:
    assert Period.parse(label) == Period(grain, label)
    for other in Grain:
        if other is not grain and not (
            grain is Grain.DAILY and other is Grain.WORKING
        ):
            with pytest.raises(Rejected, match=f"of a {other} period"):
                Period.parse(label, other)


def test_a_day_may_be_told_to_be_working() -> None:
    assert Period.parse("2026-11-21", Grain.WORKING) == Period(
        Grain.WORKING, "2026-11-21"
    )


NO_YEARS = (
    "",
    "26",
    "02026",
    "0000",
    "-2026",
    "+2026",
    "2026-",
    " 2026",
    "2026 ",
    "2026\n",
    "10000",
    "２０２６",
)
NO_MONTHS = (
    "2026-1",
    "2026-001",
    "2026-00",
    "2026-13",
    "2026/11",
    "2026-٠١",
    "0000-01",
)
NO_QUARTERS = (
    "2026-Q0",
    "2026-Q5",
    "2026-q4",
    "2026-Q04",
    "2026Q4",
    "0000-Q1",
)
NO_WEEKS = (
    "2026-W1",
    "2026-W00",
    "2026-W54",
    "2025-W53",
    "2027-W53",
    "2026-w47",
    "2026W47",
    "9999-W53",
)
NO_DAYS = (
    "2026-2-01",
    "2026-02-1",
    "2026-02-29",
    "2026-02-00",
    "2026-04-31",
    "2100-02-29",
    "20261121",
)
NOT_EVEN_CLOSE = (
    "2026-W47-1",
    "2026-11-21\n",
    "2026-11-21T00:00:00Z",
    "../2026",
    "2026/..",
    "working",
    "\x002026",
)


@pytest.mark.parametrize(
    "label",
    [
        *NO_YEARS,
        *NO_MONTHS,
        *NO_QUARTERS,
        *NO_WEEKS,
        *NO_DAYS,
        *NOT_EVEN_CLOSE,
    ],
)
@pytest.mark.parametrize("grain", [None, *Grain])
def test_anything_else_is_refused(label: str, grain: Grain | None) -> None:
    with pytest.raises(Rejected) as refusal:
        Period.parse(label, grain)
    assert refusal.value.field == "period"


@given(st.text(alphabet="0123456789-WQ", max_size=11))
def test_what_is_read_is_written_the_same(text: str) -> None:
    try:
        period = Period.parse(text)
    except Rejected:
        return
    assert Period.of_day(period.days[0], period.grain).label == text


def test_a_long_text_is_not_repeated_in_full() -> None:
    with pytest.raises(Rejected) as refusal:
        Period.parse("9" * 100_000)
    assert len(str(refusal.value)) < 200


def test_a_period_cannot_be_made_with_a_label_that_is_none() -> None:
    with pytest.raises(Rejected):
        Period(Grain.WEEKLY, "../../elsewhere")


# Neighbours.


@given(periods, zones)
def test_next_and_previous_are_inverse_and_adjacent(
    period: Period, zone: ZoneInfo
) -> None:
    assert period.next().previous() == period == period.previous().next()
    assert period.end(zone) == period.next().start(zone)
    assert period.days[1] + DAY == period.next().days[0]
    assert period.previous() < period < period.next()


@given(periods, st.integers(-60, 60))
def test_shifting_is_so_many_steps(period: Period, steps: int) -> None:
    walked = period
    for _ in range(abs(steps)):
        walked = walked.next() if steps > 0 else walked.previous()
    assert period.shifted(steps) == walked


# Instants.


@pytest.mark.parametrize(
    ("zone", "label", "start", "hours"),
    [
        (LISBON, "2026-03-29", utc(2026, 3, 29), 23),
        (LISBON, "2026-10-25", utc(2026, 10, 24, 23), 25),
        (LISBON, "2026-W13", utc(2026, 3, 23), 7 * 24 - 1),
        (SAO_PAULO, "2018-11-04", utc(2018, 11, 4, 3), 23),
        (SAO_PAULO, "2018-02-17", utc(2018, 2, 17, 2), 25),
        (ZoneInfo("America/Havana"), "2025-11-02", utc(2025, 11, 2, 4), 25),
        (
            ZoneInfo("Australia/Lord_Howe"),
            "2026-04-05",
            utc(2026, 4, 4, 13),
            24.5,
        ),
        (
            ZoneInfo("Asia/Kathmandu"),
            "2026-01-01",
            utc(2025, 12, 31, 18, 15),
            24,
        ),
        (
            ZoneInfo("Pacific/Kiritimati"),
            "2026-01-01",
            utc(2025, 12, 31, 10),
            24,
        ),
        (
            ZoneInfo("Africa/Casablanca"),
            "2026-02-15",
            utc(2026, 2, 14, 23),
            25,
        ),
    ],
)
def test_starts_and_lengths_over_daylight_saving(
    zone: ZoneInfo, label: str, start: datetime, hours: float
) -> None:
    period = Period.parse(label)
    assert period.start(zone) == start
    assert period.end(zone) - start == timedelta(hours=hours)


def test_starts_and_ends_are_in_utc() -> None:
    period = Period(Grain.DAILY, "2026-07-01")
    assert {period.start(LISBON).tzinfo, period.end(LISBON).tzinfo} == {UTC}


def test_a_midnight_that_daylight_saving_skips_is_the_change_itself() -> None:
    """Sao Paulo, 4 November 2018: the clock goes from 23:59 to 01:00."""
    start = Period(Grain.DAILY, "2018-11-04").start(SAO_PAULO)
    assert start.astimezone(SAO_PAULO).time().hour == 1
    assert (
        Period.of(start - TICK, Grain.DAILY, SAO_PAULO).label == "2018-11-03"
    )
    assert Period.of(start, Grain.DAILY, SAO_PAULO).label == "2018-11-04"


def test_a_day_the_zone_skipped_is_an_empty_period() -> None:
    """Apia went from 29 to 31 December 2011, when it crossed the date line."""
    skipped = Period(Grain.DAILY, "2011-12-30")
    assert skipped.start(APIA) == skipped.end(APIA) == utc(2011, 12, 30, 10)
    assert (
        Period.of(skipped.start(APIA), Grain.DAILY, APIA).label == "2011-12-31"
    )
    assert (
        Period.of(skipped.start(APIA) - TICK, Grain.DAILY, APIA).label
        == "2011-12-29"
    )
    week = Period(Grain.WEEKLY, "2011-W52")
    assert skipped in week.children()
    assert week.end(APIA) - week.start(APIA) == timedelta(days=6)
    around = [utc(2011, 12, 29, 12), utc(2011, 12, 30, 12)]
    assert [
        Period.of(instant, Grain.DAILY, APIA).label for instant in around
    ] == [
        "2011-12-29",
        "2011-12-31",
    ]


def test_an_hour_that_comes_twice_over_midnight_belongs_to_the_day_it_began() -> (
    None
):
    """St. John's, 7 November 2010: at 00:01 the clock goes back to 23:01 of the 6th."""
    midnight = utc(2010, 11, 7, 2, 30)
    assert Period(Grain.DAILY, "2010-11-07").start(ST_JOHNS) == midnight
    again = midnight + timedelta(minutes=30)
    assert day_of(again, ST_JOHNS) == "2010-11-06"
    assert Period.of(again, Grain.DAILY, ST_JOHNS).label == "2010-11-07"
    assert Period(Grain.DAILY, "2010-11-07").end(
        ST_JOHNS
    ) - midnight == timedelta(hours=25)


def test_an_instant_counts_whatever_zone_it_is_written_in() -> None:
    instant = utc(2026, 1, 1, 2)
    for zone in ZONES:
        assert (
            Period.of(instant.astimezone(zone), Grain.DAILY, LISBON).label
            == "2026-01-01"
        )


@given(periods, zones, st.timedeltas(timedelta(0), timedelta(days=3)))
def test_a_period_is_closed_once_its_end_and_the_grace_time_have_passed(
    period: Period, zone: ZoneInfo, grace: timedelta
) -> None:
    moment = period.end(zone) + grace
    assert is_closed(period, moment, zone, grace)
    assert not is_closed(period, moment - TICK, zone, grace)


# The ends of the calendar.


@pytest.mark.parametrize("zone", ZONES, ids=ZONE_NAMES)
@pytest.mark.parametrize("grain", Grain)
def test_the_calendar_begins_and_ends_with_its_years(
    grain: Grain, zone: ZoneInfo
) -> None:
    first, last = (
        Period.of(EARLIEST, grain, zone),
        Period.of(LATEST, grain, zone),
    )
    assert (first.start(zone), last.end(zone)) == (EARLIEST, LATEST)
    assert (first.days[0], last.days[1]) == (date.min, date.max)
    for hours in range(0, 72, 5):
        soon, late = (
            EARLIEST + timedelta(hours=hours),
            LATEST - TICK - timedelta(hours=hours),
        )
        assert holds(Period.of(soon, grain, zone), soon, zone)
        assert holds(Period.of(late, grain, zone), late, zone)


@pytest.mark.parametrize("grain", Grain)
def test_nothing_comes_before_the_first_period_or_after_the_last(
    grain: Grain,
) -> None:
    first, last = (
        Period.of_day(date.min, grain),
        Period.of_day(date.max, grain),
    )
    for beyond in (first.previous, last.next):
        with pytest.raises(Rejected, match="outside the calendar"):
            beyond()
    with pytest.raises(Rejected):
        first.shifted(10**30)
    assert first.next().previous() == first
    assert last.previous().next() == last


def test_the_last_week_is_cut_where_the_calendar_ends() -> None:
    """9999-12-31 is a Friday; the days after it have no date."""
    week = Period(Grain.WEEKLY, "9999-W52")
    assert [p.label for p in week.children()] == [
        f"9999-12-{day}" for day in range(27, 32)
    ]
    assert all(child.parent() == week for child in week.children())
    assert week.parent() == Period(Grain.MONTHLY, "9999-12")
    assert Period(Grain.YEARLY, "9999").children()[-1].label == "9999-Q4"


def test_the_first_and_the_last_week_of_the_calendar() -> None:
    first = Period.of(EARLIEST, Grain.WEEKLY, APIA)
    last = Period.of(LATEST - TICK, Grain.WEEKLY, APIA)
    assert (first.label, last.label) == ("0001-W01", "9999-W52")


@given(st.datetimes(timezones=st.just(UTC)), grains, zones)
def test_every_instant_from_year_1_to_9999_has_a_period(
    instant: datetime, grain: Grain, zone: ZoneInfo
) -> None:
    assert (
        holds(Period.of(instant, grain, zone), instant, zone)
        or instant == LATEST
    )


def test_a_half_hour_that_a_clock_jumped_over_midnight_belongs_to_one_day() -> (
    None
):
    """Toronto, 30 March 1919: from 23:30 to 00:30; `start_of_day` is half an hour late, days still tile."""
    toronto = ZoneInfo("America/Toronto")
    jump = utc(1919, 3, 31, 4, 30)
    for minutes in (-1, 0, 15, 29, 30, 31):
        instant = jump + timedelta(minutes=minutes)
        assert holds(
            Period.of(instant, Grain.DAILY, toronto), instant, toronto
        )
