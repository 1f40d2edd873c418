"""From what was found to what is shown: limits, and the contract's shape."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, TypeVar
from zoneinfo import ZoneInfo

from varve.domain.calendar import Grain, Period, day_of, iso
from varve.domain.record import MemoryType, Record
from varve.domain.search.outline import moment
from varve.domain.search.ranking import Ranked
from varve.domain.search.row import Row
from varve.domain.text import estimated_tokens

MAX_SOURCE_IDS = 50
"""Sources that a result lists; a summary may have hundreds, which `show` prints."""


class Counted(Protocol):
    """Anything whose reading costs an agent so many tokens."""

    @property
    def tokens(self) -> int: ...


Item = TypeVar("Item", bound=Counted)


def within(
    found: Iterable[Item], max_results: int, max_tokens: int | None
) -> tuple[list[Item], int]:
    """The best that fit both limits, and the tokens of their contents; at least one is looked at.

    What does not fit is passed over for shorter ones that do.
    """
    shown: list[Item] = []
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
    """A record that no question was compared with; the score is how recent it is."""

    record: Record
    grain: Grain
    score: float

    @property
    def tokens(self) -> int:
        """What it costs an agent to read it, estimated."""
        return estimated_tokens(self.record.content)

    def result(self, zone: ZoneInfo) -> dict[str, Any]:
        """The values of its `Result`."""
        record = self.record
        return {
            "id": record.id,
            "content": record.content,
            "grain": self.grain,
            "period": record.period,
            "date": _date(
                record.memory_type, record.period, self.grain, record.event_time, zone
            ),
            "event_time": iso(record.event_time),
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
    """The values of the `Result` of what was ranked."""
    row = item.row
    if zone not in row.shown:
        row.shown[zone] = _same_for_all(row, item.grain, zone)
    parts = (
        {name: round(share, 4) for name, share in item.parts.items()}
        if item.parts
        else None
    )
    return {
        **row.shown[zone],
        "score": round(item.score, 4),
        "why": {
            "vector": round(item.vector, 4),
            "keyword": round(item.keyword, 4),
            "recency": round(item.recency, 4),
            "importance": round(row.importance, 4),
            "parts": parts,
        },
    }


def _same_for_all(row: Row, grain: Grain, zone: ZoneInfo) -> dict[str, Any]:
    """What a row shows whatever was asked."""
    at = moment(row.time)
    return {
        "id": row.id,
        "content": row.content,
        "grain": grain,
        "period": row.period,
        "date": _date(row.type, row.period, grain, at, zone),
        "event_time": iso(at),
        "conversation_id": row.conversation,
        "source_ids": row.sources[:MAX_SOURCE_IDS],
        "user_id": row.user,
        "memory_type": row.type,
    }


def _date(
    kind: MemoryType, period: str, grain: Grain, at: datetime, zone: ZoneInfo
) -> str:
    """The local day of what happened; of a summary the first day it sums up."""
    if kind is MemoryType.SUMMARY:
        return Period.parse(period, grain).days[0].isoformat()
    return day_of(at, zone)
