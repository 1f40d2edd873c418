"""`search_memory` over a small memory: what is found, what is searched, and what to do when it is nothing."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import (
    ACME,
    MORNING,
    WordEmbedder,
    a_record,
    ask,
    embedded,
)
from tests.support.usecase_drivers import run_search
from varve.adapters.in_memory import InMemoryRecords
from varve.domain.calendar import SUMMARY_GRAINS, Grain, Period, iso
from varve.domain.errors import Rejected
from varve.domain.identity import Scope
from varve.domain.record import MemoryType, Record, turn_id
from varve.domain.search.answer import SearchResponse
from varve.domain.search.query import Filter, parse_search_request
from varve.domain.text import estimated_tokens

NOW = MORNING + timedelta(days=30)
LISBON, UTC_ZONE = ZoneInfo("Europe/Lisbon"), ZoneInfo("UTC")


class Shelf:
    """A memory to search in."""

    def __init__(self, *records: Record) -> None:
        self.records = InMemoryRecords()
        self.put(*records)

    def put(self, *records: Record, scope: Scope = ACME) -> None:
        self.records.upsert(
            scope, Grain.WORKING, embedded(*records), WordEmbedder.model
        )

    def ask(
        self,
        text: str | None = None,
        *,
        scope: Scope = ACME,
        zone: ZoneInfo = UTC_ZONE,
        now: datetime = NOW,
        **arguments: Any,
    ) -> SearchResponse:
        return ask(
            self.records, scope, zone, now, {"queryText": text, **arguments}
        )


def ago(days: float) -> datetime:
    return NOW - timedelta(days=days)


def contents(answer: SearchResponse) -> list[str]:
    return [result.content for result in answer.results]


def test_the_answer_has_the_shape_of_the_contract() -> None:
    shelf = Shelf(
        a_record("Dana lives in Lisbon.", source_ids=("m1",), importance=0.7)
    )
    answer = shelf.ask("where does Dana live?").to_dict()
    (result,) = answer["results"]
    assert {
        "id", "content", "grain", "period", "date", "eventTime", "score", "why", "conversationId",
        "sourceIds", "userId",
    } <= set(result)  # fmt: skip
    assert (result["grain"], result["period"], result["date"]) == (
        "working",
        "2026-03-02",
        "2026-03-02",
    )
    assert (result["eventTime"], result["sourceIds"]) == (
        "2026-03-02T09:15:00Z",
        ["m1"],
    )
    assert (result["conversationId"], result["userId"]) == ("c-1", "u-42")
    assert set(result["why"]) == {"vector", "keyword", "recency", "importance"}
    assert 0 <= result["score"] <= 1
    assert {"grains", "since", "until", "records", "fallback"} <= set(
        answer["searched"]
    )
    assert "working" in answer["searched"]["grains"]
    assert answer["searched"]["records"] == 1
    assert answer["hint"] is None


def test_a_date_is_a_day_of_the_workspaces_zone() -> None:
    late = datetime(2026, 7, 1, 23, 30, tzinfo=MORNING.tzinfo)
    (result,) = (
        Shelf(a_record(at=late)).ask("Dana", zone=LISBON, now=late).results
    )
    assert (result.date, result.event_time) == (
        "2026-07-02",
        "2026-07-01T23:30:00Z",
    )


def test_the_best_answer_comes_first() -> None:
    shelf = Shelf(
        *(a_record(f"ticket number {i} was closed") for i in range(20)),
        a_record("Dana moved to Lisbon"),
    )
    assert (
        contents(shelf.ask("Dana moved to Lisbon"))[0]
        == "Dana moved to Lisbon"
    )


def many(count: int = 1_500) -> list[Record]:
    """Facts that all speak of tea, one an hour, the newest first."""
    return [
        a_record(f"tea tea {i}", at=ago(i / 24), id=f"fact-{i:05}")
        for i in range(count)
    ]


def test_fault_the_date_filter_is_not_applied_after_the_top_k() -> None:
    shelf = Shelf(*many())
    shelf.put(a_record("coffee beans once", at=ago(200)))
    answer = shelf.ask("tea tea", minimumDaysAgo=100, maximumDaysAgo=300)
    assert contents(answer) == ["coffee beans once"]
    assert answer.searched.records == 1


def test_fault_no_read_is_capped_at_a_thousand_rows() -> None:
    shelf = Shelf(*many())
    shelf.put(a_record("coffee beans once", at=ago(200)))
    assert shelf.ask("coffee beans").searched.records == 1_501
    assert contents(shelf.ask("coffee beans", maxResults=1)) == [
        "coffee beans once"
    ]
    assert contents(shelf.ask(until=iso(ago(199)))) == ["coffee beans once"]


@pytest.mark.parametrize("text", ["tea", None])
def test_filters_by_user_and_conversation_come_before_ranking_and_limit(
    text: str | None,
) -> None:
    shelf = Shelf(*many(1_200))
    shelf.put(
        a_record("milk", at=ago(300), user_id="u-7"),
        a_record("salt", at=ago(300), conversation_id="c-9"),
    )
    assert contents(shelf.ask(text, userId="u-7", maxResults=1)) == ["milk"]
    about_salt = text and "salt"
    found = shelf.ask(about_salt, conversationId="c-9", maxResults=1)
    assert contents(found) == ["salt"]
    assert contents(shelf.ask(text, conversationId="c-9", userId="u-7")) == []


@given(
    st.lists(st.integers(0, 60), max_size=12, unique=True),
    st.integers(0, 60),
    st.none() | st.integers(0, 60),
    st.sampled_from(["tea", None]),
)
def test_nothing_outside_the_window_is_ever_found(
    days: list[int], minimum: int, maximum: int | None, text: str | None
) -> None:
    shelf = Shelf(*(a_record(f"tea {day}", at=ago(day)) for day in days))
    expected = {
        f"tea {day}"
        for day in days
        if day >= minimum and (maximum is None or day <= maximum)
    }
    try:
        answer = shelf.ask(
            text,
            minimumDaysAgo=minimum,
            maximumDaysAgo=maximum,
            maxResults=100,
        )
    except Rejected:
        assert maximum is not None
        assert maximum < minimum
        return
    assert set(contents(answer)) == expected
    assert answer.searched.records == len(expected)


def test_without_words_the_newest_come_first() -> None:
    shelf = Shelf(*(a_record(f"fact {i}", at=ago(i)) for i in (5, 1, 9, 3)))
    answer = shelf.ask()
    assert contents(answer) == ["fact 1", "fact 3", "fact 5", "fact 9"]
    assert all(
        result.why.vector is None and result.why.keyword is None
        for result in answer.results
    )
    assert contents(shelf.ask("  \n", maxResults=2)) == ["fact 1", "fact 3"]


def test_at_one_moment_the_later_place_in_the_conversation_is_the_newer() -> (
    None
):
    shelf = Shelf(
        *(
            a_record(f"word {i}", position=i, id=f"fact-{9 - i}")
            for i in (1, 3, 2)
        )
    )
    assert contents(shelf.ask()) == ["word 3", "word 2", "word 1"]


def test_a_hundred_results_are_the_most_and_ten_the_default() -> None:
    shelf = Shelf(*many(150))
    for text in ("tea", None):
        assert len(shelf.ask(text).results) == 10
        assert len(shelf.ask(text, maxResults=100).results) == 100


def test_results_keep_within_the_token_budget_and_short_ones_fill_it() -> None:
    shelf = Shelf(
        a_record("tea " * 100), a_record("tea please"), a_record("tea again")
    )
    answer = shelf.ask("tea", maxTokens=20)
    assert set(contents(answer)) == {"tea please", "tea again"}
    assert (
        answer.searched.tokens
        == sum(map(estimated_tokens, contents(answer)))
        <= 20
    )


def test_a_budget_that_nothing_fits_says_so() -> None:
    answer = Shelf(a_record("tea " * 100)).ask("tea", maxTokens=5)
    assert answer.results == []
    assert answer.hint is not None
    assert "maxTokens=5" in answer.hint


def test_an_empty_memory_says_so() -> None:
    for text in ("tea", None):
        answer = Shelf().ask(text)
        assert (answer.results, answer.searched.records) == ([], 0)
        assert answer.hint is not None
        assert "empty" in answer.hint


@pytest.mark.parametrize(
    "limits",
    [
        {"minimumDaysAgo": 400},
        {"userId": "u-9"},
        {"conversationId": "c-9"},
        {"until": "2020-01-01"},
    ],
)
def test_a_wrong_window_says_that_there_is_something_elsewhere(
    limits: dict[str, Any],
) -> None:
    shelf = Shelf(a_record("tea"), a_record("milk"))
    for text in ("tea", None):
        answer = shelf.ask(text, **limits)
        assert (answer.results, answer.searched.records) == ([], 0)
        assert answer.hint is not None
        assert "2 working" in answer.hint
        assert "none within these limits" in answer.hint


@pytest.mark.parametrize("grain", list(Grain))
def test_no_answer_is_ever_a_bare_empty_list(grain: Grain) -> None:
    for shelf in (Shelf(), Shelf(a_record("tea"))):
        for text in ("tea", None):
            answer = shelf.ask(text, grain=str(grain))
            assert answer.results or answer.hint
            assert str(grain) in answer.searched.grains


def test_the_window_that_was_searched_is_told() -> None:
    answer = Shelf(a_record()).ask(
        "Dana", since="2026-03-01", until="2026-03-05"
    )
    assert (answer.searched.since, answer.searched.until) == (
        "2026-03-01T00:00:00Z",
        "2026-03-06T00:00:00Z",
    )


def test_a_fact_and_the_words_it_came_from_are_one_result() -> None:
    said = {"source_ids": ("m1",), "at": MORNING}
    shelf = Shelf(
        a_record("Dana lives in Lisbon", **said),
        a_record(
            "Dana: I moved to Lisbon",
            memory_type=MemoryType.TURN,
            id=turn_id("c-1", "m1"),
            **said,
        ),
        a_record(
            "Dana: I like Lisbon", memory_type=MemoryType.TURN, id="turn-2"
        ),
    )
    found = contents(shelf.ask("Dana lives in Lisbon"))
    assert found[0] == "Dana lives in Lisbon"
    assert set(found) == {"Dana lives in Lisbon", "Dana: I like Lisbon"}
    browsed = contents(shelf.ask())
    assert sorted(browsed) == sorted(found), "a browse folds as a search does"


def test_no_fact_of_a_long_text_hides_what_the_rest_of_it_says() -> None:
    said = {"source_ids": ("m1",), "memory_type": MemoryType.TURN}
    passages = [
        f"Dana: I live in Porto. {'rain ' * 90}",
        f"the key for Porto lies under the pot {'wind ' * 90}",
    ]
    shelf = Shelf(
        a_record("Dana lives in Porto", source_ids=("m1",)),
        *(
            a_record(text, id=turn_id("c-1", "m1", n), **said)
            for n, text in enumerate(passages)
        ),
    )
    found = contents(shelf.ask("Where is the key for Porto?"))
    assert passages[1] in found
    assert "Dana lives in Porto" in found


def test_as_of_asks_memory_as_it_stood() -> None:
    shelf = Shelf(
        a_record("Dana lives in Porto", at=ago(20)),
        a_record("Dana lives in Lisbon", at=ago(5)),
    )
    assert contents(shelf.ask("Dana lives in", asOf=iso(ago(10)))) == [
        "Dana lives in Porto"
    ]
    assert contents(shelf.ask(asOf=iso(ago(10)), maximumDaysAgo=3)) == []
    (result,) = shelf.ask(asOf=iso(ago(20) + timedelta(seconds=1))).results
    assert result.why.recency == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("grain", SUMMARY_GRAINS)
@pytest.mark.parametrize("zone", [UTC_ZONE, ZoneInfo("Asia/Kathmandu")])
def test_as_of_a_moment_no_summary_tells_what_came_after(
    grain: Grain, zone: ZoneInfo
) -> None:
    running = Period.of(NOW, grain, zone)
    shelf = Shelf(a_record("tea", at=ago(800)))
    for period in (running.previous(), running, running.next()):
        start, end = period.start(zone), period.end(zone)
        summed_up = a_record(
            f"tea {period.label}", at=start + (end - start) / 2, period=period.label, id=period.label,
            memory_type=MemoryType.SUMMARY, conversation_id=None,
        )  # fmt: skip
        shelf.records.upsert(
            ACME, grain, embedded(summed_up), WordEmbedder.model
        )
    tick = timedelta(microseconds=1)
    for text in ("tea", None):

        def found(at: datetime, text: str | None = text) -> set[str]:
            answer = shelf.ask(
                text, asOf=iso(at), grain=str(grain), zone=zone, now=ago(-900)
            )
            return {result.id for result in answer.results}

        assert found(running.end(zone) - tick) == {running.previous().label}
        assert found(running.end(zone)) == {
            running.previous().label,
            running.label,
        }
        assert found(running.start(zone)) == {running.previous().label}


def test_as_of_a_moment_time_words_lead_to_nothing_later() -> None:
    shelf = Shelf(
        a_record("tea early", at=ago(60)), a_record("tea late", at=ago(2))
    )
    answer = shelf.ask("tea last week", asOf=iso(ago(20)))
    assert contents(answer) == ["tea early"]
    assert answer.hint is not None
    assert "any time" in answer.hint


def test_an_appointment_is_found_although_it_lies_ahead() -> None:
    shelf = Shelf(a_record("dentist appointment", at=NOW + timedelta(days=3)))
    assert (
        contents(shelf.ask("dentist"))
        == contents(shelf.ask())
        == ["dentist appointment"]
    )


@pytest.mark.parametrize("year", [1, 9999])
def test_a_fact_at_the_end_of_the_calendar_can_be_shown(year: int) -> None:
    at = MORNING.replace(year=year, month=1, day=1, hour=0)
    shelf = Shelf(
        a_record(
            "forever",
            at=at if year == 1 else at.replace(month=12, day=31, hour=23),
        )
    )
    for zone in ("Asia/Tokyo", "America/New_York"):
        assert contents(shelf.ask("forever", zone=ZoneInfo(zone))) == [
            "forever"
        ]


def test_invariant_7_another_tenants_memory_is_never_searched() -> None:
    shelf = Shelf(a_record("our tea"))
    shelf.put(a_record("their tea"), scope=Scope("rival", "support"))
    shelf.put(a_record("sales tea"), scope=Scope("acme", "sales"))
    for text in ("tea", None):
        answer = shelf.ask(text)
        assert (contents(answer), answer.searched.records) == (["our tea"], 1)


def test_no_model_is_asked_where_there_are_no_words_to_compare() -> None:
    class Silent(WordEmbedder):
        def embed(self, texts: Any) -> Any:
            raise AssertionError

    shelf = Shelf(a_record("tea"))
    assert contents(ask(shelf.records, ACME, UTC_ZONE, NOW, {}, Silent())) == [
        "tea"
    ]
    assert (
        ask(
            InMemoryRecords(),
            ACME,
            UTC_ZONE,
            NOW,
            {"queryText": "tea"},
            Silent(),
        ).results
        == []
    )


def test_the_same_question_has_the_same_answer() -> None:
    shelf = Shelf(*many(80))
    assert shelf.ask("tea 7 tea").to_dict() == shelf.ask("tea 7 tea").to_dict()


def test_a_reader_counts_what_it_finds() -> None:
    shelf = Shelf(*many(30))
    where = Filter(since=ago(1), until=ago(0.5))
    assert shelf.records.count(ACME, Grain.WORKING, where=where) == len(
        shelf.records.browse(ACME, Grain.WORKING, where=where, limit=100)
    )


def test_a_workspaces_half_life_says_how_fast_memories_age() -> None:
    shelf = Shelf(a_record("tea", at=ago(90)))
    for days in (90.0, 180.0):
        request = parse_search_request({"queryText": "tea"})
        (result,) = run_search(
            ACME, request, NOW, UTC_ZONE, reader=shelf.records, embedder=WordEmbedder(),
            half_life_days=days,
        ).results  # fmt: skip
        assert result.why.recency == pytest.approx(
            0.5 ** (90 / days), abs=1e-3
        )


IDENTIFIERS = (
    "E-4711",
    "INC0042",
    "/var/log/app.log",
    "v2.3.1",
    "Quetzalcoatl",
)


@pytest.mark.parametrize("name", IDENTIFIERS)
def test_codes_paths_versions_and_rare_names_are_found_among_many_alike(
    name: str,
) -> None:
    others = [
        a_record(
            f"the printer reported a fault in room {i}",
            id=f"f{i:03}",
            position=i,
        )
        for i in range(300)
    ]
    shelf = Shelf(
        *others,
        *(
            a_record(f"the printer reported {one} in room 7", position=400)
            for one in IDENTIFIERS
        ),
    )
    (best, *_) = shelf.ask(f"what about {name.lower()}?").results
    assert name in best.content
