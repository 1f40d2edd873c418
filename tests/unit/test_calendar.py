"""Days in a time zone, and instants as the contracts write them."""

from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from varve.domain.calendar import (
    day_of,
    days_before,
    iso,
    parse_instant,
    start_of_day,
)

ZONES = [
    ZoneInfo(name)
    for name in (
        "UTC", "Europe/Lisbon", "America/New_York", "America/Sao_Paulo", "America/Havana", "Asia/Kolkata",
        "Asia/Beirut", "Asia/Tehran", "Pacific/Auckland", "Pacific/Apia", "Pacific/Kiritimati",
        "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Kathmandu", "Atlantic/Azores",
    )
]  # fmt: skip
INSTANTS = st.datetimes(
    datetime(1950, 1, 1),  # noqa: DTZ001 - hypothesis wants naive limits
    datetime(2100, 1, 1),  # noqa: DTZ001 - hypothesis wants naive limits
    timezones=st.just(UTC),
)
ALL_INSTANTS = st.datetimes(timezones=st.just(UTC))


@given(INSTANTS, st.sampled_from(ZONES))
def test_a_day_holds_exactly_the_instants_from_its_start_to_the_next_days(
    instant: datetime, zone: ZoneInfo
) -> None:
    day = date.fromisoformat(day_of(instant, zone))
    assert (
        start_of_day(day, zone)
        <= instant
        < start_of_day(day + timedelta(days=1), zone)
    )


@given(st.dates(date(1950, 1, 1), date(2100, 1, 1)), st.sampled_from(ZONES))
def test_a_day_starts_right_after_the_one_before(
    day: date, zone: ZoneInfo
) -> None:
    start = start_of_day(day, zone)
    assert start.utcoffset() == timedelta(0)
    assert (
        day_of(start, zone) >= day.isoformat()
    )  # later only where the zone skipped the day
    assert day_of(start - timedelta(microseconds=1), zone) < day.isoformat()


@pytest.mark.parametrize(
    ("zone", "day", "start", "hours"),
    [
        ("Europe/Lisbon", "2026-03-29", "2026-03-29T00:00:00Z", 23),
        ("Europe/Lisbon", "2026-10-25", "2026-10-24T23:00:00Z", 25),
        (
            "America/Sao_Paulo",
            "2018-11-04",
            "2018-11-04T03:00:00Z",
            23,
        ),  # midnight did not exist
        (
            "America/Havana",
            "2025-11-02",
            "2025-11-02T04:00:00Z",
            25,
        ),  # midnight came twice
        (
            "Pacific/Apia",
            "2011-12-30",
            "2011-12-30T10:00:00Z",
            0,
        ),  # the day did not exist
        ("Australia/Lord_Howe", "2026-04-05", "2026-04-04T13:00:00Z", 24.5),
    ],
)
def test_days_are_as_long_as_the_zone_makes_them(
    zone: str, day: str, start: str, hours: float
) -> None:
    first, place = date.fromisoformat(day), ZoneInfo(zone)
    assert iso(start_of_day(first, place)) == start
    length = start_of_day(first + timedelta(days=1), place) - start_of_day(
        first, place
    )
    assert length == timedelta(hours=hours)


@given(INSTANTS, st.integers(0, 2_000), st.sampled_from(ZONES))
def test_days_before_counts_calendar_days(
    instant: datetime, days: int, zone: ZoneInfo
) -> None:
    earlier = days_before(instant, days, zone)
    assert (date.fromisoformat(day_of(instant, zone)) - earlier).days == days


@given(ALL_INSTANTS, st.sampled_from(ZONES))
def test_every_instant_has_a_day_even_at_the_ends_of_the_calendar(
    instant: datetime, zone: ZoneInfo
) -> None:
    assert (
        abs((date.fromisoformat(day_of(instant, zone)) - instant.date()).days)
        <= 1
    )


@given(ALL_INSTANTS)
def test_an_instant_written_is_the_instant_read(instant: datetime) -> None:
    assert parse_instant(iso(instant)) == instant
    assert iso(instant).endswith("Z")


@given(st.datetimes(), st.integers(-23 * 60, 23 * 60))
def test_an_offset_is_honoured_and_none_means_utc(
    local: datetime, minutes: int
) -> None:
    assert parse_instant(local.isoformat()) == local.replace(tzinfo=UTC)
    aware = local.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    try:
        expected = aware.astimezone(UTC)
    except OverflowError:
        with pytest.raises(ValueError, match="outside the calendar"):
            parse_instant(aware.isoformat())
    else:
        assert parse_instant(aware.isoformat()) == expected


@given(
    st.text(st.characters())
    | st.from_regex(
        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d([+-]\d\d:\d\d|Z)", fullmatch=True
    )
)
def test_any_text_is_an_aware_instant_or_a_value_error(text: str) -> None:
    try:
        parsed = parse_instant(text)
    except ValueError:
        return
    assert parsed.tzinfo is UTC


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "02/03/2026",
        "2026-13-01",
        "2026-02-30T00:00:00Z",
        "1772442900",
    ],
)
def test_what_is_not_iso_8601_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        parse_instant(text)


def test_seconds_carry_a_fraction_only_where_there_is_one() -> None:
    assert (
        iso(datetime(2026, 3, 2, 9, 15, tzinfo=UTC)) == "2026-03-02T09:15:00Z"
    )
    assert (
        iso(datetime(2026, 3, 2, 9, 15, 0, 5, tzinfo=UTC))
        == "2026-03-02T09:15:00.000005Z"
    )
