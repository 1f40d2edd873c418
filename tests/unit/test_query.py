"""The arguments of `search_memory`, and the window of time that they define."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import attempt
from varve.domain.calendar import Grain, iso
from varve.domain.errors import Rejected
from varve.domain.search.query import (
    Filter,
    SearchRequest,
    as_of,
    parse_search_request,
    window,
)

LISBON, NEW_YORK, UTC_ZONE = (
    ZoneInfo("Europe/Lisbon"),
    ZoneInfo("America/New_York"),
    ZoneInfo("UTC"),
)
NOW = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
ZONES = [
    ZoneInfo(name)
    for name in (
        "UTC", "Europe/Lisbon", "America/New_York", "America/Sao_Paulo", "America/Havana", "Asia/Kolkata",
        "Pacific/Auckland", "Pacific/Apia", "Pacific/Kiritimati", "Australia/Lord_Howe", "Asia/Beirut",
    )
]  # fmt: skip
INSTANTS = st.datetimes(
    datetime(2008, 1, 1),  # noqa: DTZ001 - hypothesis wants naive limits
    datetime(2030, 1, 1),  # noqa: DTZ001 - hypothesis wants naive limits
    timezones=st.just(UTC),
)
NAMES = [
    "queryText", "grain", "minimumDaysAgo", "maximumDaysAgo", "since", "until", "asOf", "maxResults",
    "maxTokens", "userId", "conversationId", "explain",
]  # fmt: skip
LEAVES = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=12)
    | st.sampled_from(["", "5", "1e3", "auto", "working", "0001-01-01", "9999-12-31", "9999-12-31T23:59:59Z",
                       "2026-03-02", "2026-W10-1", "20260302T00"])
)  # fmt: skip
JSON = st.recursive(
    LEAVES,
    lambda i: (
        st.lists(i, max_size=3)
        | st.dictionaries(st.text(max_size=3), i, max_size=3)
    ),
)
ARGUMENTS = st.dictionaries(
    st.sampled_from(NAMES) | st.text(st.characters(), max_size=10),
    JSON,
    max_size=6,
) | st.fixed_dictionaries({}, optional=dict.fromkeys(NAMES, LEAVES))


def admits(where: Filter, event: datetime) -> bool:
    return (where.since is None or where.since <= event) and (
        where.until is None or event < where.until
    )


def window_of(
    zone: ZoneInfo = LISBON, now: datetime = NOW, **arguments: Any
) -> Filter:
    return window(parse_search_request(arguments), now, zone)


def limits(
    zone: ZoneInfo = LISBON, now: datetime = NOW, **arguments: Any
) -> tuple[str | None, str | None]:
    where = window_of(zone, now, **arguments)
    return where.since and iso(where.since), where.until and iso(where.until)


@given(ARGUMENTS, st.sampled_from(ZONES), INSTANTS)
def test_any_arguments_give_a_window_or_a_rejected_field(
    arguments: dict[str, Any], zone: ZoneInfo, now: datetime
) -> None:
    request = attempt(parse_search_request, arguments)
    where = (
        request
        if isinstance(request, Rejected)
        else attempt(window, request, now, zone)
    )
    if isinstance(where, Rejected):
        assert where.field
        assert where.reason
        return
    assert 1 <= request.max_results <= 100
    assert (
        where.since is None or where.until is None or where.since < where.until
    )
    request.text.encode()


@given(
    INSTANTS,
    st.integers(-500_000, 4_000_000),
    st.integers(0, 40),
    st.none() | st.integers(0, 40),
    st.sampled_from(ZONES),
)
def test_days_ago_count_calendar_days_in_the_workspaces_zone(
    now: datetime,
    seconds_ago: int,
    minimum: int,
    maximum: int | None,
    zone: ZoneInfo,
) -> None:
    event = now - timedelta(seconds=seconds_ago)
    days_ago = (
        now.astimezone(zone).date() - event.astimezone(zone).date()
    ).days
    expected = (minimum == 0 or days_ago >= minimum) and (
        maximum is None or days_ago <= maximum
    )
    request = SearchRequest(minimum_days_ago=minimum, maximum_days_ago=maximum)
    try:
        where = window(request, now, zone)
    except Rejected:  # contradicting limits, or a day that the zone skipped
        assert not expected
    else:
        assert admits(where, event) == expected


def test_yesterday_is_the_whole_day_even_if_it_had_23_hours() -> None:
    monday = datetime(2026, 3, 30, 12, tzinfo=UTC)
    assert limits(now=monday, minimumDaysAgo=1, maximumDaysAgo=1) == (
        "2026-03-29T00:00:00Z",
        "2026-03-29T23:00:00Z",
    )


def test_one_moment_lies_on_different_days_in_different_zones() -> None:
    late = datetime(2026, 3, 2, 2, tzinfo=UTC)
    assert limits(UTC_ZONE, late, maximumDaysAgo=0) == (
        "2026-03-02T00:00:00Z",
        None,
    )
    assert limits(NEW_YORK, late, maximumDaysAgo=0) == (
        "2026-03-01T05:00:00Z",
        None,
    )


def test_without_limits_the_filter_admits_everything() -> None:
    assert window_of() == Filter()
    assert window_of(minimumDaysAgo=0) == Filter()


def test_a_date_means_its_start_in_since_and_its_end_in_until() -> None:
    assert limits(NEW_YORK, since="2026-03-08", until="2026-03-08") == (
        "2026-03-08T05:00:00Z",
        "2026-03-09T04:00:00Z",
    )


@pytest.mark.parametrize("day", ["20260308", "2026-W10-7", "2026W107"])
def test_a_date_may_have_any_iso_8601_form(day: str) -> None:
    assert limits(NEW_YORK, since=day, until=day) == limits(
        NEW_YORK, since="2026-03-08", until="2026-03-08"
    )


def test_a_date_and_time_is_an_exact_limit() -> None:
    assert limits(
        since="2026-03-01T10:00:00+02:00", until="2026-03-01T09:00:00Z"
    ) == (
        "2026-03-01T08:00:00Z",
        "2026-03-01T09:00:00Z",
    )


def test_the_narrowest_limits_apply() -> None:
    where = limits(
        UTC_ZONE,
        since="2026-02-01",
        maximumDaysAgo=3,
        until="2026-03-01",
        minimumDaysAgo=2,
    )
    assert where == ("2026-02-27T00:00:00Z", "2026-03-01T00:00:00Z")


def test_as_of_sets_the_present_and_excludes_later_records() -> None:
    assert limits(UTC_ZONE, asOf="2026-01-15T12:00:00Z", maximumDaysAgo=1) == (
        "2026-01-14T00:00:00Z",
        "2026-01-15T12:00:00Z",
    )


@pytest.mark.parametrize(
    ("days", "day"), [(0, "2026-01-15"), (1, "2026-01-14")]
)
def test_days_ago_count_from_the_date_in_as_of(days: int, day: str) -> None:
    found = limits(
        UTC_ZONE, asOf="2026-01-15", minimumDaysAgo=days, maximumDaysAgo=days
    )
    start = date.fromisoformat(day)
    assert found == (
        f"{start}T00:00:00Z",
        f"{start + timedelta(days=1)}T00:00:00Z",
    )


def test_without_as_of_the_present_is_now() -> None:
    assert as_of(SearchRequest(), NOW, LISBON) == NOW
    assert as_of(
        parse_search_request({"asOf": "2026-01-01T00:00:00Z"}), NOW, LISBON
    ) == datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("zone", ZONES, ids=str)
def test_limits_at_the_ends_of_the_calendar_exclude_nothing(
    zone: ZoneInfo,
) -> None:
    everything = window_of(
        zone, since="0001-01-01", until="9999-12-31", maximumDaysAgo=1_000_000
    )
    for year in (2, 2026, 9998):
        assert admits(everything, datetime(year, 6, 1, tzinfo=UTC))


def test_more_days_ago_than_the_calendar_has_excludes_everything() -> None:
    assert not admits(
        window_of(minimumDaysAgo=1_000_000), datetime(1, 6, 1, tzinfo=UTC)
    )


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"since": "2026-03-02", "until": "2026-03-01"}, "until"),
        ({"minimumDaysAgo": 5, "maximumDaysAgo": 2}, "maximumDaysAgo"),
        ({"since": "2026-03-01", "asOf": "2026-01-01"}, "since"),
    ],
)
def test_limits_that_leave_no_time_are_rejected(
    arguments: dict[str, Any], field: str
) -> None:
    with pytest.raises(Rejected, match="leaves no time between") as refused:
        window_of(**arguments)
    assert refused.value.field == field


@pytest.mark.parametrize(
    "name",
    [
        "workspaceId",
        "agentId",
        "workspace",
        "agent",
        "workspace_id",
        "agent_id",
    ],
)
def test_invariant_7_identity_among_the_arguments_is_refused(
    name: str,
) -> None:
    with pytest.raises(Rejected) as refused:
        parse_search_request({"queryText": "x", name: "rival"})
    assert refused.value.field == name


@pytest.mark.parametrize(
    ("arguments", "field", "reason"),
    [
        ({"queryText": 5}, "queryText", "must be a string"),
        ({"queryText": "x" * 10_001}, "queryText", ""),
        ({"queryText": "\ud800"}, "queryText", ""),
        ({"grain": "hourly"}, "grain", "'auto', 'working', 'daily'"),
        ({"grain": "hourly"}, "grain", "not 'hourly'"),
        (
            {"minimumDaysAgo": -1},
            "minimumDaysAgo",
            "greater than or equal to 0",
        ),
        ({"maximumDaysAgo": "soon"}, "maximumDaysAgo", "whole number"),
        ({"maximumDaysAgo": 1.5}, "maximumDaysAgo", "whole number"),
        (
            {"since": "last week"},
            "since",
            "'last week' is not an ISO 8601 date",
        ),
        ({"until": 5}, "until", "as a string"),
        ({"asOf": "2026-02-30"}, "asOf", "not an ISO 8601"),
        ({"until": "2026-W10"}, "until", "not an ISO 8601"),
        ({"maxResults": 0}, "maxResults", "greater than or equal to 1"),
        ({"maxResults": 101}, "maxResults", "less than or equal to 100"),
        ({"maxTokens": 0}, "maxTokens", "greater than or equal to 1"),
        ({"userId": "a b"}, "userId", "not a valid id"),
        ({"conversationId": "../x"}, "conversationId", "not a valid id"),
        ({"explain": "perhaps"}, "explain", "true or false"),
        ({"query": "x"}, "query", "not a known name"),
    ],
)
def test_bad_arguments_are_rejected_with_field_and_reason(
    arguments: dict[str, Any], field: str, reason: str
) -> None:
    with pytest.raises(Rejected) as refused:
        parse_search_request(arguments)
    assert refused.value.field == field
    assert reason in refused.value.reason


def test_empty_and_null_arguments_have_their_defaults() -> None:
    assert (
        parse_search_request(dict.fromkeys(NAMES, "")).model_dump()
        == SearchRequest(query_text="", minimum_days_ago=None).model_dump()
    )
    assert (
        parse_search_request(dict.fromkeys(NAMES)).model_dump()
        == SearchRequest(minimum_days_ago=None).model_dump()
    )


def test_numbers_and_booleans_may_be_strings() -> None:
    request = parse_search_request(
        {
            "minimumDaysAgo": "1",
            "maximumDaysAgo": "7",
            "maxResults": "3",
            "maxTokens": "500",
            "explain": "true",
        }
    )
    assert (request.minimum_days_ago, request.maximum_days_ago) == (1, 7)
    assert (request.max_results, request.max_tokens, request.explain) == (
        3,
        500,
        True,
    )


@pytest.mark.parametrize("grain", ["auto", *Grain])
def test_every_grain_is_accepted(grain: str) -> None:
    assert parse_search_request({"grain": grain}).grain == grain


def test_defaults_match_the_contract() -> None:
    request = parse_search_request({})
    assert (request.grain, request.max_results, request.minimum_days_ago) == (
        "auto",
        10,
        0,
    )
    assert request.maximum_days_ago is request.max_tokens is None


def test_a_query_of_white_space_is_empty() -> None:
    assert parse_search_request({"queryText": " \n"}).text == ""
