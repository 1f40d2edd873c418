"""From what was found to what is shown: limits, and the contract's shape."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, TypeVar
from zoneinfo import ZoneInfo

from varve.domain.answer import Result, Why
from varve.domain.calendar import Grain, Period, day_of, iso
from varve.domain.record import MemoryType, Record
from varve.domain.text import estimated_tokens

MAX_SOURCE_IDS = 50
"""Sources that a result lists; a summary may have hundreds, which `show` prints."""


class Said(Protocol):
    """Anything with content."""

    @property
    def content(self) -> str: ...


Item = TypeVar("Item", bound=Said)


def within(found: Iterable[Item], max_results: int, max_tokens: int | None) -> tuple[list[Item], int]:
    """The best that fit both limits, and the tokens of their contents; at least one is looked at.

    What does not fit is passed over for shorter ones that do.
    """
    shown: list[Item] = []
    tokens = 0
    for item in found:
        cost = estimated_tokens(item.content)
        if max_tokens is None or tokens + cost <= max_tokens:
            shown.append(item)
            tokens += cost
        if len(shown) == max_results:
            break
    return shown, tokens


@dataclass(frozen=True, slots=True)
class Shown:
    """A record to show with its grain, its score, and what that was made of."""

    record: Record
    grain: Grain
    score: float
    why: Why

    @property
    def content(self) -> str:
        """What the record says."""
        return self.record.content

    def result(self, zone: ZoneInfo) -> Result:
        """In the contract's shape."""
        record = self.record
        return Result(
            id=record.id,
            content=record.content,
            grain=str(self.grain),
            period=record.period,
            date=self._date(zone),
            event_time=iso(record.event_time),
            score=round(self.score, 4),
            why=self.why,
            conversation_id=record.conversation_id,
            source_ids=list(record.source_ids[:MAX_SOURCE_IDS]),
            user_id=record.user_id,
            memory_type=str(record.memory_type),
        )

    def _date(self, zone: ZoneInfo) -> str:
        """The local day of what happened; of a summary the first day it sums up."""
        if self.record.memory_type is MemoryType.SUMMARY:
            return Period.parse(self.record.period, self.grain).days[0].isoformat()
        return day_of(self.record.event_time, zone)
