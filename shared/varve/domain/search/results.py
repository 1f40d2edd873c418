"""Results from ranked records: apply limits and build the values of the contract."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, TypeVar
from zoneinfo import ZoneInfo

from varve.domain.calendar import day_of, iso, microseconds, moment
from varve.domain.record import MemoryType, Record, StoreName, span_of
from varve.domain.search.ranking import Ranked
from varve.domain.search.row import RecordRow
from varve.domain.statements.standings.standing import Standing
from varve.domain.text import estimated_tokens

MAX_SOURCE_IDS = 50
"""The most sources that a result lists. A summary may have hundreds; see `varve show`."""


class Counted(Protocol):
    """An item with an estimated number of tokens."""

    @property
    def tokens(self) -> int: ...


CountedT = TypeVar("CountedT", bound=Counted)


def fit_to_limits(
    found: Iterable[CountedT], max_results: int, max_tokens: int | None
) -> tuple[list[CountedT], int]:
    """Return the best items that fit both limits, and the sum of their tokens.

    An item that does not fit is skipped; later, shorter items may still fit.
    """
    shown: list[CountedT] = []
    tokens = 0
    for item in found:
        if max_tokens is None or tokens + item.tokens <= max_tokens:
            shown.append(item)
            tokens += item.tokens
        if len(shown) == max_results:
            break
    return shown, tokens


@dataclass(frozen=True, slots=True)
class Browsed:
    """A record found without a question; its score is its recency.

    `agent` is the other agent whose record it is; None: the searching agent's own.
    `also_in` are the ids of the records that say the same and were folded into this one.
    `standing` says whether its statement holds.
    """

    record: Record
    grain: StoreName
    score: float
    agent: str | None = None
    also_in: tuple[str, ...] = ()
    standing: Standing | None = None

    @property
    def id(self) -> str:
        """The id of the record."""
        return self.record.id

    @property
    def content(self) -> str:
        """The words of the record."""
        return self.record.content

    @property
    def tokens(self) -> int:
        """The estimated tokens of the content."""
        return estimated_tokens(self.content)

    def result(self, zone: ZoneInfo) -> dict[str, Any]:
        """Return the values of its `Result`."""
        record = self.record
        event_time = record.event_time
        return {
            "id": record.id,
            "content": record.content,
            "grain": self.grain,
            "period": record.period,
            **_get_days(
                record.memory_type,
                record.period,
                record.about,
                event_time,
                zone,
            ),
            "event_time": iso(event_time),
            "also_in": self.also_in,
            **_tell_standing(self.standing, microseconds(event_time)),
            "score": round(self.score, 4),
            "why": {
                "vector": None,
                "keyword": None,
                "recency": round(self.score, 4),
                "importance": round(record.importance, 4),
            },
            "conversation_id": record.conversation_id,
            "source_ids": record.source_ids[:MAX_SOURCE_IDS],
            "user_id": record.user_id,
            "memory_type": record.memory_type,
        }


def ranked_result(item: Ranked, zone: ZoneInfo) -> dict[str, Any]:
    """Return the values of the `Result` of a ranked record."""
    row = item.row
    if zone not in row.shown:
        row.shown[zone] = _build_constant_values(row, item.grain, zone)
    parts = None
    if item.parts:
        parts = {name: round(share, 4) for name, share in item.parts.items()}
    return {
        **row.shown[zone],
        "also_in": item.also_in,
        **_tell_standing(item.standing, row.time),
        "source_ids": [*row.sources, *item.said_in][:MAX_SOURCE_IDS],
        "messages": row.messages,
        "answers": item.answers,
        "outdated": item.outdated,
        "repeats": item.repeats,
        "apart": item.apart,
        "score": round(item.score, 4),
        "why": {
            "vector": round(item.vector, 4),
            "keyword": round(item.keyword, 4),
            "recency": round(item.recency, 4),
            "importance": round(row.importance, 4),
            "parts": parts,
        },
    }


def _tell_standing(standing: Standing | None, time: int) -> dict[str, Any]:
    """Return the values of a result that say how its statement stands."""
    confirmed = standing.confirmed if standing else time
    return {
        "current": standing is None or standing.current,
        "confirmed_at": iso(moment(confirmed)),
        "superseded_by": standing and standing.successor,
        "odds": standing.odds if standing else -math.inf,
    }


def _build_constant_values(
    row: RecordRow, grain: StoreName, zone: ZoneInfo
) -> dict[str, Any]:
    """Build the values of a row's result that do not depend on the question."""
    event_time = moment(row.time)
    return {
        "id": row.id,
        "content": row.content,
        "grain": grain,
        "period": row.period,
        **_get_days(row.type, row.period, row.about, event_time, zone),
        "event_time": iso(event_time),
        "conversation_id": row.conversation,
        "user_id": row.user,
        "memory_type": row.type,
    }


def _get_days(
    memory_type: MemoryType,
    period: str,
    about: str | None,
    event_time: datetime,
    zone: ZoneInfo,
) -> dict[str, str]:
    """Return the local day of the event, or the first and last day of a summary's sources."""
    if memory_type is MemoryType.SUMMARY:
        first, last = span_of(about, period)
        return {"date": first, "until": last}
    return {"date": day_of(event_time, zone)}
