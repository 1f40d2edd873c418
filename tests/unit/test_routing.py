"""Routing: windows and grains by rule, and the fallback to finer grains."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tests.support.builders import (
    ACME,
    WordEmbedder,
    a_record,
    attempt,
    embedded,
)
from tests.support.usecase_drivers import run_search
from varve.adapters.in_memory import InMemoryObjects, InMemoryRecords
from varve.domain.calendar import Grain, Period
from varve.domain.errors import Rejected
from varve.domain.record import MemoryType, Record, Store
from varve.domain.search.answer import SearchResponse
from varve.domain.search.query import parse_search_request
from varve.domain.search.ranking import (
    ASKED_WEIGHT,
    SUMMARY_WEIGHT_NOW,
    SUMMARY_WEIGHT_YEAR,
    lane_weight,
)
from varve.domain.search.routing import Route, route
from varve.domain.summary import summary_id
from varve.usecases.ledger import Ledger

UTC_ZONE, LISBON = ZoneInfo("UTC"), ZoneInfo("Europe/Lisbon")
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)  # a Saturday, in 2026-W47
WEEK = Period.parse("2026-W46")
WEDNESDAY = datetime(2026, 11, 11, 12, tzinfo=UTC)


def routed(
    text: str | None = None, zone: ZoneInfo = UTC_ZONE, **arguments: Any
) -> Route:
    return route(
        parse_search_request({"queryText": text, **arguments}), NOW, zone
    )


def at(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc]


@pytest.mark.parametrize(
    ("text", "since", "until", "asked"),
    [
        (
            "what did Dana say yesterday?",
            at(2026, 11, 20),
            at(2026, 11, 21),
            Grain.DAILY,
        ),
        (
            "what happened last week?",
            at(2026, 11, 9),
            at(2026, 11, 16),
            Grain.WEEKLY,
        ),
        (
            "what happened in March?",
            at(2026, 3, 1),
            at(2026, 4, 1),
            Grain.MONTHLY,
        ),
        (
            "what happened in 2025?",
            at(2025, 1, 1),
            at(2026, 1, 1),
            Grain.YEARLY,
        ),
        ("what was 2025 like?", at(2025, 1, 1), at(2026, 1, 1), Grain.YEARLY),
        ("tea last month", at(2026, 10, 1), at(2026, 11, 1), Grain.MONTHLY),
    ],
)
def test_time_words_set_the_window_and_the_grain(
    text: str, since: datetime, until: datetime, asked: Grain
) -> None:
    way = routed(text)
    assert (way.where.since, way.where.until, way.asked) == (
        since,
        until,
        asked,
    )
    assert way.lanes == (*Grain, Store.NOTES)
    assert way.understood is not None
    assert way.understood.phrase in text
    assert way.understood.phrase not in way.text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("what happened in March?", ""),
        ("what did I do last month?", ""),
        ("how was last week?", ""),
        ("¿qué hice la semana pasada?", ""),
        ("where did we go last week?", "where did we go?"),
        ("¿quién fue ayer?", "¿quién fue?"),
        ("what did Dana say yesterday?", "what did Dana say?"),
    ],
)
def test_a_question_of_time_alone_leaves_no_words_to_rank_by(
    text: str, left: str
) -> None:
    assert routed(text).text == left


@pytest.mark.parametrize(
    ("text", "since", "until", "lasting"),
    [
        (
            "the trip between May and July",
            at(2026, 5, 1),
            at(2026, 8, 1),
            False,
        ),
        (
            "what did Dana paint in July 2023?",
            at(2023, 7, 1),
            at(2023, 8, 1),
            False,
        ),
        (
            "where was Dana living in April 2026?",
            at(2026, 4, 1),
            at(2026, 5, 1),
            True,
        ),
        (
            "¿dónde trabajaba Marco en marzo de 2026?",
            at(2026, 3, 1),
            at(2026, 4, 1),
            True,
        ),
    ],
)
def test_a_date_in_a_question_about_something_weighs_and_does_not_filter(
    text: str, since: datetime, until: datetime, lasting: bool
) -> None:
    way = routed(text)
    assert (way.weighs, way.lasting, way.text) == (True, lasting, text)
    assert (way.where.since, way.where.until) == (None, None)
    assert (
        (way.since, way.until)
        == (way.near_since, way.near_until)
        == (since, until)
    )


def test_the_window_uses_days_of_the_workspaces_zone() -> None:
    where = routed(
        "what did Dana say yesterday?", ZoneInfo("Asia/Tokyo")
    ).where
    assert (where.since, where.until) == (
        at(2026, 11, 19, 15),
        at(2026, 11, 20, 15),
    )


def test_a_question_without_time_words_has_no_window() -> None:
    way = routed("where does Dana live?")
    assert (way.where.since, way.where.until, way.asked, way.understood) == (
        None,
        None,
        None,
        None,
    )
    assert (way.lanes, way.text, way.age_days) == (
        (*Grain, Store.NOTES),
        "where does Dana live?",
        None,
    )


@pytest.mark.parametrize(
    "limits",
    [
        {"since": "2026-01-01"},
        {"until": "2026-01-01"},
        {"minimumDaysAgo": 3},
        {"maximumDaysAgo": 0},
    ],
)
def test_limits_of_the_request_take_precedence_over_time_words(
    limits: dict[str, Any],
) -> None:
    way = routed("what happened last week?", **limits)
    assert (way.understood, way.asked, way.text) == (
        None,
        None,
        "what happened last week?",
    )


def test_a_requested_grain_is_the_only_lane_and_the_asked_grain() -> None:
    way = routed("Dana", grain="weekly")
    assert (way.lanes, way.asked) == ((Grain.WEEKLY,), Grain.WEEKLY)


def test_time_words_are_relative_to_as_of() -> None:
    where = routed("what happened yesterday?", asOf="2026-03-02").where
    assert (where.since, where.until) == (at(2026, 3, 1), at(2026, 3, 2))


def test_a_weighing_time_ends_before_the_present() -> None:
    way = routed("where did Dana live in January?", asOf="2026-05-31")
    assert way.weighs
    assert (way.since, way.until) == (at(2026, 1, 1), at(2026, 2, 1))


@pytest.mark.parametrize(
    "text",
    [
        "What did Dana say the week before last?",
        "¿Qué dijo Dana la semana antepasada?",
    ],
)
def test_a_time_relative_to_now_is_a_window(text: str) -> None:
    way = routed(text, asOf="2026-03-18")
    assert (way.where.since, way.where.until) == (
        at(2026, 3, 2),
        at(2026, 3, 9),
    )


def test_a_route_without_its_window_keeps_the_question() -> None:
    request = parse_search_request({"queryText": "tea last week"})
    wide = route(request, NOW, UTC_ZONE).without_window(request)
    assert (wide.text, wide.where.since, wide.where.until, wide.asked) == (
        "tea last week",
        None,
        None,
        None,
    )


def test_10_a_question_keeps_its_restored_mark_without_its_window() -> None:
    request = parse_search_request({"queryText": "what did I order in March"})
    wide = route(request, NOW, UTC_ZONE).without_window(request)
    assert wide.text == "what did I order in March?"


def test_limits_that_leave_no_time_are_rejected() -> None:
    assert isinstance(
        attempt(lambda: routed("x", since="2026-02-01", until="2026-01-01")),
        Rejected,
    )


def test_summaries_weigh_more_the_older_the_window_is() -> None:
    ages = [None, 0.0, 30.0, 180.0, 365.0, 4_000.0]
    weights = [lane_weight(Grain.MONTHLY, None, age) for age in ages]
    assert weights == sorted(weights)
    assert (weights[0], weights[-1], weights[-2]) == (
        SUMMARY_WEIGHT_NOW,
        SUMMARY_WEIGHT_YEAR,
        SUMMARY_WEIGHT_YEAR,
    )
    assert {
        lane_weight(Grain.WORKING, Grain.WORKING, age) for age in ages
    } == {1.0}
    asked = lane_weight(Grain.MONTHLY, Grain.MONTHLY, 30.0)
    assert asked == pytest.approx(
        ASKED_WEIGHT * lane_weight(Grain.MONTHLY, None, 30.0)
    )


def test_the_age_of_a_window_is_the_age_of_its_middle() -> None:
    assert routed(
        since="2026-11-11", until="2026-11-20"
    ).age_days == pytest.approx(5.5)
    assert routed(since="2026-11-19").age_days == pytest.approx(1.25)


# Which lanes a search reads, and when it falls back to finer grains.


class Shelf:
    """A memory of one week: facts of its days, and some summaries."""

    def __init__(self) -> None:
        self.records, self.ledger = (
            InMemoryRecords(),
            Ledger(InMemoryObjects()),
        )
        self.put(Grain.WORKING, a_record("Dana likes tea.", at=WEDNESDAY))

    def put(self, grain: Grain, *records: Record) -> None:
        self.records.upsert(
            ACME, grain, embedded(*records), WordEmbedder.model
        )

    def sum_up(self, period: Period, text: str = "Tea was liked.") -> None:
        start, end = period.start(UTC_ZONE), period.end(UTC_ZONE)
        given = {
            "source_ids": ("a", "b"),
            "memory_type": MemoryType.SUMMARY,
            "conversation_id": None,
        }
        middle = start + (end - start) / 2
        record = a_record(
            text,
            at=middle,
            id=summary_id(period, None),
            period=period.label,
            **given,
        )
        self.put(period.grain, record)

    def ask(self, text: str | None = None, **arguments: Any) -> SearchResponse:
        request = parse_search_request({"queryText": text, **arguments})
        parts: Any = {
            "reader": self.records,
            "ledger": self.ledger,
            "embedder": WordEmbedder(),
        }
        return run_search(ACME, request, NOW, UTC_ZONE, **parts)


def grains(answer: SearchResponse) -> list[str]:
    return [result.grain for result in answer.results]


def test_a_week_without_a_summary_falls_back_to_finer_grains() -> None:
    answer = Shelf().ask("tea", grain="weekly")
    assert (grains(answer), answer.searched.fallback) == (["working"], True)
    assert answer.searched.grains == ["working", "daily", "weekly"]


def test_a_week_with_a_summary_returns_it_with_its_source_ids() -> None:
    shelf = Shelf()
    shelf.sum_up(WEEK)
    answer = shelf.ask("tea", grain="weekly")
    assert (grains(answer), answer.searched.fallback) == (["weekly"], False)
    assert answer.searched.grains == ["weekly"]
    (only,) = answer.results
    assert (only.source_ids, only.memory_type, only.date) == (
        ["a", "b"],
        "summary",
        "2026-11-09",
    )


def test_a_stale_summary_is_returned_together_with_finer_grains() -> None:
    shelf = Shelf()
    shelf.sum_up(WEEK)
    shelf.ledger.mark(ACME, [WEEK], "late")
    answer = shelf.ask("tea", grain="weekly")
    assert (set(grains(answer)), answer.searched.fallback) == (
        {"weekly", "working"},
        True,
    )


def test_a_due_period_outside_the_window_causes_no_fallback() -> None:
    shelf = Shelf()
    shelf.sum_up(WEEK)
    shelf.ledger.mark(ACME, [WEEK.next(), WEEK.previous()], "late")
    answer = shelf.ask(
        "tea", grain="weekly", since="2026-11-09", until="2026-11-15"
    )
    assert (grains(answer), answer.searched.fallback) == (["weekly"], False)


def test_a_grain_set_by_time_words_falls_back_as_well() -> None:
    shelf = Shelf()
    answer = shelf.ask("tea last week")
    assert (grains(answer), answer.searched.fallback) == (["working"], True)
    assert answer.searched.understood is not None
    assert answer.searched.understood.grain == "weekly"
    shelf.sum_up(WEEK)
    assert shelf.ask("tea last week").searched.fallback is False


def test_auto_without_time_words_ranks_all_grains_together() -> None:
    shelf = Shelf()
    shelf.sum_up(WEEK)
    answer = shelf.ask("tea")
    assert answer.searched.grains == [str(grain) for grain in Grain]
    assert (set(grains(answer)), answer.searched.fallback) == (
        {"working", "weekly"},
        False,
    )


def test_a_question_about_an_empty_window_is_answered_from_any_time_with_a_hint() -> (
    None
):
    answer = Shelf().ask("tea in March 2024")
    assert grains(answer) == ["working"]
    assert answer.hint is not None
    assert "March 2024" in answer.hint


def test_browsing_a_grain_returns_the_newest_first() -> None:
    shelf = Shelf()
    shelf.sum_up(WEEK)
    shelf.ledger.mark(ACME, [WEEK], "late")
    shelf.put(Grain.WORKING, a_record("newer", at=NOW - timedelta(hours=1)))
    assert grains(shelf.ask(grain="weekly"))[0] == "working"


def test_there_is_no_fallback_without_finer_records() -> None:
    shelf = Shelf()
    answer = shelf.ask("tea", grain="yearly", until="2020-01-01")
    assert (answer.results, answer.searched.fallback) == ([], False)
    assert answer.hint


def test_a_state_is_found_by_a_fact_from_before_the_asked_time() -> None:
    shelf = Shelf()
    moved = a_record("Dana lives in Lisbon.", at=at(2026, 3, 2), position=1)
    left = a_record("Dana lives in Porto.", at=at(2026, 8, 17), position=9)
    shelf.put(Grain.WORKING, moved, left)
    answer = shelf.ask("Where was Dana living in April 2026?")
    assert answer.results[0].content == "Dana lives in Lisbon."
    assert answer.searched.understood is not None
    assert (answer.searched.since, answer.searched.understood.since) == (
        None,
        "2026-04-01T00:00:00Z",
    )


def test_a_month_without_a_year_is_the_newest_one_in_memory() -> None:
    shelf = Shelf()
    for year, said in ((2021, "tea party"), (2022, "tea ceremony")):
        shelf.put(
            Grain.WORKING,
            a_record(
                f"{said} in town", at=at(year, 6, 9), conversation_id=said
            ),
        )
    shelf.records.delete_periods(ACME, Grain.WORKING, ["2026-11-11"])
    answer = shelf.ask("which tea did they drink in July?")
    assert answer.searched.understood is not None
    assert answer.hint is not None, "there is no July at all"
    june = shelf.ask("which tea did they drink in June?")
    assert june.searched.understood is not None
    assert june.searched.understood.since == "2022-06-01T00:00:00Z"
    assert (june.results[0].content, june.hint) == (
        "tea ceremony in town",
        None,
    )
