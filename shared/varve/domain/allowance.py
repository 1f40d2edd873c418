"""What a workspace's filter may spend on one message, and which message reached a limit."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

MAX_SECONDS = 5.0
"""Processor time for one message.

A megabyte of prose takes 0.2 seconds of a 2 GHz core, one of IBANs four to six.
"""
MAX_PHONE_CHECKS = 2_000
"""How many passages of one message are checked as phones, at half a millisecond each.

So the work is bounded before the time is, and the same message gives the same result in
every delivery.
"""

ITEMS_BETWEEN_LOOKS = 64
"""After how many items the timer is read again: a reading may take microseconds."""

Item = TypeVar("Item")


class FilterLimit(StrEnum):
    """What the filter had used up before it had read all of a message."""

    TIME = "time"
    CHECKS = "checks"


class Allowance:
    """The processor time and the checks of phones that one message may take.

    `timer` returns seconds and never goes back; None: there is no limit of time. The time
    is counted from the first question for it.
    """

    def __init__(self, timer: Callable[[], float] | None = None) -> None:
        self._timer = timer
        self._end: float | None = None
        self._checks = MAX_PHONE_CHECKS
        self._reached: set[FilterLimit] = set()

    @property
    def reached(self) -> tuple[FilterLimit, ...]:
        """The limits that have been reached."""
        return tuple(limit for limit in FilterLimit if limit in self._reached)

    def is_out_of_time(self) -> bool:
        """Return whether the time is over; from then on it stays so."""
        if self._timer is None:
            return False
        if FilterLimit.TIME in self._reached:
            return True
        now = self._timer()
        if self._end is None:
            self._end = now + MAX_SECONDS
        if now >= self._end:
            self._reached.add(FilterLimit.TIME)
        return FilterLimit.TIME in self._reached

    def within_time(self, items: Iterable[Item]) -> Iterator[Item]:
        """Yield the items until the time is over, or a few more."""
        if self.is_out_of_time():
            return
        for number, item in enumerate(items, 1):
            yield item
            if number % ITEMS_BETWEEN_LOOKS == 0 and self.is_out_of_time():
                return

    def take_check(self) -> bool:
        """Take one check of a phone; return False if none is left."""
        if not self._checks:
            self._reached.add(FilterLimit.CHECKS)
            return False
        self._checks -= 1
        return True


_CONSEQUENCES = {
    FilterLimit.TIME: (
        f"the filter's {MAX_SECONDS:g} s were over; what it had found is redacted, "
        "and the other words are stored as they came"
    ),
    FilterLimit.CHECKS: (
        f"holds more than {MAX_PHONE_CHECKS:,} numbers in the form of a phone; "
        "further ones are redacted unchecked"
    ),
}


@dataclass(frozen=True, slots=True)
class PartlyFiltered:
    """A message whose filter reached a limit.

    `message` is its place among the conversation's messages, from 0; None: the limit was
    reached in fields of the conversation itself.
    """

    conversation_id: str
    message: int | None
    limit: FilterLimit

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "PartlyFiltered":
        """Return it from its JSON values."""
        return cls(
            values["conversationId"],
            values["message"],
            FilterLimit(values["limit"]),
        )

    def __str__(self) -> str:
        place = "" if self.message is None else f", messages[{self.message}]"
        consequence = _CONSEQUENCES[self.limit]
        return f"conversation {self.conversation_id}{place}: {consequence}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "conversationId": self.conversation_id,
            "message": self.message,
            "limit": str(self.limit),
        }
