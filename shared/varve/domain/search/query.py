"""The arguments of `search_memory`: validation, and the filter that they define."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
)
from pydantic.alias_generators import to_camel

from varve.domain import calendar
from varve.domain.conversation import PathId, Reference
from varve.domain.errors import Rejected
from varve.domain.metadata import Where
from varve.domain.validation import rejected, valid_text

MAX_QUERY_CHARACTERS = 10_000
MAX_AGENTS = 20
"""The most other agents whose memory one search reads."""
IDENTITY_NAMES = frozenset({"workspaceId", "agentId", "workspace", "agent"})

_ISO_DATE = re.compile(r"\d{4}-?(?:\d\d-?\d\d|W\d\d-?\d)")
_ISO_WEEK = re.compile(r"\d{4}-?W\d\d")


@dataclass(frozen=True, slots=True)
class Filter:
    """Which records may be found.

    Event times are half-open: `since` <= event_time < `until`. `unfinished` are labels
    of periods whose summaries are hidden: they cover events after `until` too. Of each
    group in `mentions` a record must have the words of one phrase. `ids` are those of all
    records that may be found, and `users` those whose records may be; None sets no limit.
    """

    since: datetime | None = None
    until: datetime | None = None
    user_id: str | None = None
    conversation_id: str | None = None
    memory_types: tuple[str, ...] = ()
    unfinished: tuple[str, ...] = ()
    mentions: tuple[tuple[str, ...], ...] = ()
    ids: frozenset[str] | None = None
    users: tuple[str, ...] | None = None


def _parse_moment(value: object) -> date | datetime | None:
    """Parse an ISO 8601 date (kept as a date) or date and time (in UTC)."""
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise ValueError(
            "must be an ISO 8601 date or date and time, as a string"
        )
    try:
        return _parse_date_or_instant(value)
    except ValueError as error:
        raise ValueError(
            f"{value[:40]!r} is not an ISO 8601 date or date and time"
        ) from error


def _parse_date_or_instant(value: str) -> date | datetime:
    if _ISO_WEEK.fullmatch(value):
        raise ValueError(
            "a whole week, which Python would parse as its Monday"
        )
    if _ISO_DATE.fullmatch(value):
        return date.fromisoformat(value)
    return calendar.parse_instant(value)


def _replace_empty(value: object) -> object:
    """Return None for "", which models send for an argument they leave out."""
    return None if value == "" else value


def _parse_names(value: object) -> object:
    """Return a list of names; some callers send one text with commas."""
    if value in (None, ""):
        return []
    return split_names(value) if isinstance(value, str) else value


def split_names(text: str) -> list[str]:
    """Return the names in a text with commas between them."""
    return [name.strip() for name in text.split(",")]


def _use_default(default: object) -> BeforeValidator:
    """Build a validator that replaces "" and null by the default."""

    def replace_missing(value: object) -> object:
        return default if value in (None, "") else value

    return BeforeValidator(replace_missing)


Moment = Annotated[date | datetime | None, BeforeValidator(_parse_moment)]
Days = Annotated[
    Annotated[int, Field(ge=0, le=1_000_000)] | None,
    BeforeValidator(_replace_empty),
]


GrainName = Literal[
    "auto", "working", "daily", "weekly", "monthly", "quarterly", "yearly"
]
Phrase = Annotated[str, Field(min_length=1, max_length=200)]
"""A name or a topic; a list of these may also be one text with commas."""

MemoryTypeName = Literal[
    "fact", "turn", "summary", "note", "episode", "lesson", "prior_answer"
]
EXPERIENCE_TYPES = frozenset({"episode", "lesson", "prior_answer"})


class SearchRequest(BaseModel):
    """The input of `search_memory`.

    Numbers may be strings, as Bedrock agents send them. A model is told of the fields that
    have a description, in these words.
    """

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="forbid",
        frozen=True,
    )

    query_text: Annotated[
        str | None,
        Field(
            max_length=MAX_QUERY_CHARACTERS,
            description="What to look for, in plain words. Leave out to browse by time.",
        ),
    ] = None
    grain: Annotated[
        GrainName,
        _use_default("auto"),
        Field(
            description="auto (default), working, daily, weekly, monthly, quarterly or yearly"
        ),
    ] = "auto"
    minimum_days_ago: Annotated[
        Days,
        Field(
            description="Only what is at least this many days old; default 0"
        ),
    ] = 0
    maximum_days_ago: Annotated[
        Days,
        Field(
            description="Only what is at most this many days old; no limit by default"
        ),
    ] = None
    since: Annotated[
        Moment, Field(description="Only from this ISO 8601 date or time on")
    ] = None
    until: Annotated[
        Moment,
        Field(
            description="Only up to this ISO 8601 date, which is included, or time"
        ),
    ] = None
    as_of: Moment = None
    max_results: Annotated[
        int,
        Field(ge=1, le=100, description="1 to 100; default 10"),
        _use_default(10),
    ] = 10
    max_tokens: Annotated[
        Annotated[int, Field(ge=1)] | None, BeforeValidator(_replace_empty)
    ] = None
    user_id: Annotated[Reference | None, BeforeValidator(_replace_empty)] = (
        None
    )
    conversation_id: Annotated[
        PathId | None, BeforeValidator(_replace_empty)
    ] = None
    explain: Annotated[bool, _use_default(False)] = False
    memory_types: Annotated[
        list[MemoryTypeName], BeforeValidator(_parse_names)
    ] = []
    about: Annotated[Phrase | None, BeforeValidator(_replace_empty)] = None
    people: Annotated[list[Phrase], BeforeValidator(_parse_names)] = []
    topics: Annotated[list[Phrase], BeforeValidator(_parse_names)] = []
    include_superseded: Annotated[
        bool,
        _use_default(False),
        Field(description="true: also what has been corrected; default false"),
    ] = False
    agents: Annotated[
        list[PathId],
        BeforeValidator(_parse_names),
        Field(max_length=MAX_AGENTS),
    ] = []
    where: Where = {}

    def asks_for(self, memory_type: MemoryTypeName) -> bool:
        """Return whether results may be of this type, which is not one of experience."""
        return not self.memory_types or memory_type in self.memory_types

    @property
    def text(self) -> str:
        """The stripped query; an empty text means to browse, newest first."""
        return (self.query_text or "").strip()


def parse_search_request(arguments: Mapping[str, Any]) -> SearchRequest:
    """Parse the arguments of a tool call.

    Raises Rejected, with the name of the field. Identity among the arguments is refused:
    a model wrote them, and only the caller may choose the memory to search.
    """
    for name in IDENTITY_NAMES & set(arguments):
        raise Rejected(
            name,
            "identity comes from the caller, never from the tool's arguments",
        )
    try:
        request = SearchRequest.model_validate(dict(arguments))
    except ValidationError as error:
        raise rejected(
            error, known=spellings(SearchRequest, arguments)
        ) from error
    valid_text(request.text, "queryText")
    return request


def spellings(
    contract: type[BaseModel], arguments: Mapping[str, Any]
) -> list[str]:
    """Return the contract's field names in the case that the caller uses.

    That is snake case if any argument contains an underscore, else camel case.
    """
    uses_snake_case = any("_" in name for name in arguments)
    names = list(contract.model_fields)
    if uses_snake_case:
        return names
    return [to_camel(name) for name in names]


def as_of(request: SearchRequest, now: datetime, zone: ZoneInfo) -> datetime:
    """Return the present of the question: `asOf`, or `now` if it is not set.

    A date means its last microsecond.
    """
    end = _get_end(request.as_of, zone)
    if end is None:
        return now
    if isinstance(request.as_of, datetime):
        return end
    return end - timedelta(microseconds=1)


def window(request: SearchRequest, now: datetime, zone: ZoneInfo) -> Filter:
    """Build the filter of a request from all its limits, with days in the given zone.

    `minimumDaysAgo` and `maximumDaysAgo` count calendar days back from the present of
    the question: 1 and 1 mean all of yesterday. A date in `since` means its start, in
    `until` its end. Without an upper limit the future is included: a fact may be about
    an appointment.
    Raises Rejected: the limits leave no time.
    """
    present = as_of(request, now, zone)
    since = _find_window_start(request, present, zone)
    until = _find_window_end(request, present, zone)
    if since is not None and until is not None and since >= until:
        raise Rejected(
            _name_faulty_limit(request),
            f"leaves no time between {calendar.iso(since)} and {calendar.iso(until)}",
        )
    asked_at = _get_end(request.as_of, zone)
    unfinished = _list_running_periods(asked_at, zone) if asked_at else ()
    types = [
        name for name in request.memory_types if name not in EXPERIENCE_TYPES
    ]
    return Filter(
        since=since,
        until=until,
        user_id=request.user_id,
        conversation_id=request.conversation_id,
        memory_types=tuple(types),
        unfinished=unfinished,
    )


def _find_window_start(
    request: SearchRequest, present: datetime, zone: ZoneInfo
) -> datetime | None:
    """Return the latest of the lower limits."""
    limits = (
        _get_start(request.since, zone),
        _get_start_of_day_before(present, request.maximum_days_ago, zone),
    )
    given = [limit for limit in limits if limit is not None]
    return max(given, default=None)


def _find_window_end(
    request: SearchRequest, present: datetime, zone: ZoneInfo
) -> datetime | None:
    """Return the earliest of the upper limits."""
    limits = [_get_end(request.until, zone), _get_end(request.as_of, zone)]
    if request.minimum_days_ago:
        days = request.minimum_days_ago - 1
        end = _get_start_of_day_before(present, days, zone)
        limits.append(end or calendar.EARLIEST)
    given = [limit for limit in limits if limit is not None]
    return min(given, default=None)


def _list_running_periods(moment: datetime, zone: ZoneInfo) -> tuple[str, ...]:
    """Return the labels of the periods of all summary grains that hold the moment."""
    periods = (
        calendar.Period.of(moment, grain, zone)
        for grain in calendar.SUMMARY_GRAINS
    )
    return tuple(period.label for period in periods)


def _get_start_of_day_before(
    present: datetime, days: int | None, zone: ZoneInfo
) -> datetime | None:
    """Return the start of the day so many days before, or None before the calendar."""
    if days is None:
        return None
    try:
        return calendar.start_of_day(
            calendar.days_before(present, days, zone), zone
        )
    except OverflowError:
        return None


def _get_start(
    moment: date | datetime | None, zone: ZoneInfo
) -> datetime | None:
    if moment is None or isinstance(moment, datetime):
        return moment
    return _get_start_of_day(moment, 0, zone)


def _get_end(
    moment: date | datetime | None, zone: ZoneInfo
) -> datetime | None:
    if moment is None or isinstance(moment, datetime):
        return moment
    return _get_start_of_day(moment, 1, zone)


def _get_start_of_day(
    day: date, days_later: int, zone: ZoneInfo
) -> datetime | None:
    """Return the start of a later day; None outside the calendar, which sets no limit."""
    try:
        return calendar.start_of_day(day + timedelta(days=days_later), zone)
    except OverflowError:
        return None


def _name_faulty_limit(request: SearchRequest) -> str:
    """Return the name of the limit that the caller most likely mistook."""
    given = request.model_fields_set
    for name in (
        "until",
        "since",
        "maximum_days_ago",
        "minimum_days_ago",
        "as_of",
    ):
        if name in given:
            return to_camel(name)
    return "since"


PYTHON_NAMES = {to_camel(name): name for name in SearchRequest.model_fields}
"""The arguments of a search as Python writes them, by their names in JSON."""
