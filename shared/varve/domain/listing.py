"""Records as a program reads them, one or a page at a time."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import ValidationError

from varve.domain.calendar import Grain, Period
from varve.domain.errors import Rejected
from varve.domain.record import Record, StoreName
from varve.domain.search.query import SearchRequest, parse_search_request
from varve.domain.validation import StrictCamelModel, rejected

MAX_PAGE = 1_000
"""The most records of one page."""
DEFAULT_PAGE = 100

_EPOCH = datetime.fromtimestamp(0, UTC)
_MICROSECOND = timedelta(microseconds=1)


class StoredRecord(StrictCamelModel):
    """One record: its words, its sources, and its times in UTC.

    `source_ids` are message ids for facts and turns, record ids for summaries.
    `importance` and `confidence` lie in [0, 1].
    """

    id: str
    memory_type: str
    grain: str
    period: str
    content: str
    event_time: datetime
    created_at: datetime
    about: str | None
    user_id: str | None
    conversation_id: str | None
    source_ids: tuple[str, ...]
    importance: float
    confidence: float
    metadata: dict[str, Any]

    @classmethod
    def of(cls, record: Record, grain: StoreName) -> "StoredRecord":
        """Return the record of a grain's store as a program reads it."""
        return cls(
            id=record.id,
            memory_type=str(record.memory_type),
            grain=str(grain),
            period=record.period,
            content=record.content,
            event_time=record.event_time,
            created_at=record.created_at,
            about=record.about,
            user_id=record.user_id,
            conversation_id=record.conversation_id,
            source_ids=record.source_ids,
            importance=record.importance,
            confidence=record.confidence,
            metadata=record.metadata,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return self.model_dump(mode="json", by_alias=True)


class RecordRequest(StrictCamelModel):
    """The id of the record to read."""

    id: str


def parse_record_request(arguments: Mapping[str, Any]) -> RecordRequest:
    """Return the request from a call's arguments. Raises Rejected: names the field."""
    try:
        return RecordRequest.model_validate(dict(arguments))
    except ValidationError as error:
        raise rejected(error) from error


class RecordPage(StrictCamelModel):
    """Some records, newest first; `next` continues the list, None ends it."""

    records: tuple[StoredRecord, ...]
    next: str | None

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return self.model_dump(mode="json", by_alias=True)


@dataclass(frozen=True, slots=True)
class ListPlace:
    """The place of a record in a list: newest first, then by position and id."""

    event_time: datetime
    position: int
    id: str

    @classmethod
    def of(cls, record: Record) -> "ListPlace":
        """Return a record's place."""
        return cls(record.event_time, record.position, record.id)

    @classmethod
    def parse(cls, text: str) -> "ListPlace":
        """Return the place that `str()` of one wrote. Raises Rejected: it is none."""
        try:
            time, position, id_ = text.split("~", 2)
            event_time = _EPOCH + int(time) * _MICROSECOND
            return cls(event_time, int(position), id_)
        except (ValueError, OverflowError) as error:
            raise Rejected("after", "is not the `next` of a page") from error

    def __str__(self) -> str:
        microseconds = (self.event_time - _EPOCH) // _MICROSECOND
        return f"{microseconds}~{self.position}~{self.id}"

    def precedes(self, other: "ListPlace") -> bool:
        """Return whether this place stands before another one in a list."""
        if self.event_time != other.event_time:
            return self.event_time > other.event_time
        if self.position != other.position:
            return self.position > other.position
        return self.id < other.id


@dataclass(frozen=True, slots=True)
class ListRequest:
    """Which records of one grain to list.

    `wanted` has the filters, as a search has them. `after` is the last record of the page
    before.
    """

    wanted: SearchRequest
    grain: Grain
    period: Period | None
    limit: int
    after: ListPlace | None


def parse_list_request(arguments: Mapping[str, Any]) -> ListRequest:
    """Return the request of a list's arguments, in snake case.

    Without `grain` it is the period's, else working. Raises Rejected: names the field.
    """
    filters = dict(arguments)
    limit = filters.pop("limit", DEFAULT_PAGE)
    if not isinstance(limit, int) or not 1 <= limit <= MAX_PAGE:
        raise Rejected("limit", f"must be a whole number from 1 to {MAX_PAGE}")
    after = filters.pop("after", None)
    label = filters.pop("period", None)
    period = None if label is None else Period.parse(label)
    wanted = parse_search_request(filters)
    return ListRequest(
        wanted=wanted,
        grain=_choose_grain(wanted, period),
        period=period,
        limit=limit,
        after=None if after is None else ListPlace.parse(after),
    )


def _choose_grain(wanted: SearchRequest, period: Period | None) -> Grain:
    if wanted.grain != "auto":
        return Grain(wanted.grain)
    return Grain.WORKING if period is None else period.grain
