"""The question: the arguments of `search_memory`, validated, and the filter they amount to."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from varve.domain import calendar
from varve.domain.conversation import PathId, Reference
from varve.domain.errors import Rejected
from varve.domain.validation import rejected, valid_text

MAX_QUERY_CHARACTERS = 10_000
_DATE, _WEEK = (
    re.compile(r"\d{4}-?(?:\d\d-?\d\d|W\d\d-?\d)"),
    re.compile(r"\d{4}-?W\d\d"),
)
_BEGINNING = datetime.min.replace(tzinfo=UTC)
IDENTITY_NAMES = frozenset({"workspaceId", "agentId", "workspace", "agent"})


@dataclass(frozen=True, slots=True)
class Filter:
    """Which records may be found: half-open in event time, `since` <= event_time < `until`.

    Of the `unfinished` periods, by their labels, no summary may: it would tell what came after `until`.
    """

    since: datetime | None = None
    until: datetime | None = None
    user_id: str | None = None
    conversation_id: str | None = None
    memory_types: tuple[str, ...] = ()
    unfinished: tuple[str, ...] = ()


def _moment(value: object) -> object:
    """An ISO 8601 date (kept as a date) or date and time (in UTC)."""
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise ValueError("must be an ISO 8601 date or date and time, as a string")
    try:
        if _WEEK.fullmatch(value):
            raise ValueError("a whole week, which would be read as its Monday")
        return (
            date.fromisoformat(value)
            if _DATE.fullmatch(value)
            else calendar.parse_instant(value)
        )
    except ValueError as error:
        raise ValueError(
            f"{value[:40]!r} is not an ISO 8601 date or date and time"
        ) from error


def _none_if_empty(value: object) -> object:
    """Models send "" for what they mean to leave out."""
    return None if value == "" else value


def _names(value: object) -> object:
    """A list of names; a text of them with commas between, as some callers send lists."""
    if value in (None, ""):
        return []
    return (
        [name.strip() for name in value.split(",")] if isinstance(value, str) else value
    )


def _or(default: object) -> BeforeValidator:
    """The default for what a model left empty or null."""
    return BeforeValidator(lambda value: default if value in (None, "") else value)


Moment = Annotated[date | datetime | None, BeforeValidator(_moment)]
Days = Annotated[
    Annotated[int, Field(ge=0, le=1_000_000)] | None, BeforeValidator(_none_if_empty)
]


MemoryTypeName = Literal["fact", "turn", "summary", "episode", "lesson", "prior_answer"]
EXPERIENCE_TYPES = frozenset({"episode", "lesson", "prior_answer"})


class SearchRequest(BaseModel):
    """The input of `search_memory`. Numbers may come as strings, as Bedrock agents send them."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True
    )

    query_text: Annotated[str | None, Field(max_length=MAX_QUERY_CHARACTERS)] = None
    grain: Annotated[
        Literal["auto", "working", "daily", "weekly", "monthly", "quarterly", "yearly"],
        _or("auto"),
    ] = "auto"
    minimum_days_ago: Days = 0
    maximum_days_ago: Days = None
    since: Moment = None
    until: Moment = None
    as_of: Moment = None
    max_results: Annotated[int, _or(10), Field(ge=1, le=100)] = 10
    max_tokens: Annotated[
        Annotated[int, Field(ge=1)] | None, BeforeValidator(_none_if_empty)
    ] = None
    user_id: Annotated[Reference | None, BeforeValidator(_none_if_empty)] = None
    conversation_id: Annotated[PathId | None, BeforeValidator(_none_if_empty)] = None
    explain: Annotated[bool, _or(False)] = False
    memory_types: Annotated[list[MemoryTypeName], BeforeValidator(_names)] = []

    @property
    def text(self) -> str:
        """The query's words, or an empty string when there are none: then newest first."""
        return (self.query_text or "").strip()


def parse_search_request(arguments: Mapping[str, Any]) -> SearchRequest:
    """The request from a tool call's arguments.

    Raises Rejected: names the field; identity among the arguments is refused, because a model wrote
    them and the caller alone says whose memory this is.
    """
    for name in IDENTITY_NAMES & set(arguments):
        raise Rejected(
            name, "identity comes from the caller, never from the tool's arguments"
        )
    try:
        request = SearchRequest.model_validate(dict(arguments))
    except ValidationError as error:
        raise rejected(error, known=spellings(SearchRequest, arguments)) from error
    valid_text(request.text, "queryText")
    return request


def spellings(contract: type[BaseModel], arguments: Mapping[str, Any]) -> list[str]:
    """The contract's names as the caller spells them: in snake case where he has used it, else in camel."""
    snake = any("_" in name for name in arguments)
    return [name if snake else to_camel(name) for name in contract.model_fields]


def as_of(request: SearchRequest, now: datetime, zone: ZoneInfo) -> datetime:
    """The present of the question: `asOf` (a date means its last moment) or now."""
    end = _end(request.as_of, zone)
    return (
        now
        if end is None
        else end
        if end is request.as_of
        else end - timedelta(microseconds=1)
    )


def window(request: SearchRequest, now: datetime, zone: ZoneInfo) -> Filter:
    """The filter a request amounts to: all of its limits at once, days in the workspace's zone.

    `minimumDaysAgo` and `maximumDaysAgo` count calendar days back from the present of the question:
    1 and 1 are all of yesterday. A date in `since` means its start, in `until` its end. Without an
    upper limit the future is included: a fact may be about an appointment.
    Raises Rejected: the limits leave no time at all.
    """
    present = as_of(request, now, zone)
    starts = [
        _start(request.since, zone),
        _days_start(present, request.maximum_days_ago, zone),
    ]
    asked_at = _end(request.as_of, zone)
    ends = [_end(request.until, zone), asked_at]
    if request.minimum_days_ago:
        ends.append(
            _days_start(present, request.minimum_days_ago - 1, zone) or _BEGINNING
        )
    since = max((s for s in starts if s is not None), default=None)
    until = min((e for e in ends if e is not None), default=None)
    if since is not None and until is not None and since >= until:
        raise Rejected(
            _widest(request),
            f"leaves no time between {calendar.iso(since)} and {calendar.iso(until)}",
        )
    kinds = tuple(kind for kind in request.memory_types if kind not in EXPERIENCE_TYPES)
    unfinished = _running(asked_at, zone) if asked_at else ()
    return Filter(
        since, until, request.user_id, request.conversation_id, kinds, unfinished
    )


def _running(moment: datetime, zone: ZoneInfo) -> tuple[str, ...]:
    return tuple(
        calendar.Period.of(moment, grain, zone).label
        for grain in calendar.SUMMARY_GRAINS
    )


def _days_start(present: datetime, days: int | None, zone: ZoneInfo) -> datetime | None:
    """The start of the day so many days before; None where that lies before the calendar."""
    if days is None:
        return None
    try:
        return calendar.start_of_day(calendar.days_before(present, days, zone), zone)
    except OverflowError:
        return None


def _start(moment: date | datetime | None, zone: ZoneInfo) -> datetime | None:
    if moment is None or isinstance(moment, datetime):
        return moment
    return _day_start(moment, 0, zone)


def _end(moment: date | datetime | None, zone: ZoneInfo) -> datetime | None:
    if moment is None or isinstance(moment, datetime):
        return moment
    return _day_start(moment, 1, zone)


def _day_start(day: date, later: int, zone: ZoneInfo) -> datetime | None:
    """The start of the day, or of one `later`; None at the calendar's ends, which limit nothing."""
    try:
        return calendar.start_of_day(day + timedelta(days=later), zone)
    except OverflowError:
        return None


def _widest(request: SearchRequest) -> str:
    """The name of the limit to complain about: the one the caller most likely mistook."""
    given = request.model_fields_set
    names = ("until", "since", "maximum_days_ago", "minimum_days_ago", "as_of")
    return to_camel(next((name for name in names if name in given), "since"))
