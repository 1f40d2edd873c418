"""Counts of records that share the values of some columns."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from varve.domain.calendar import noon_of
from varve.domain.record import span_of

TallyColumn = Literal[
    "period", "user_id", "memory_type", "conversation_id", "about"
]
"""A column that records can be counted by."""

SPAN: tuple[TallyColumn, ...] = ("about", "period")
"""The columns that tell the days of a summary's sources; its event time is a period's middle."""


@dataclass(frozen=True, slots=True)
class Tally:
    """The records that share the values in `key`, which has one value for each column.

    `conversations` and `users` count the distinct ids, `sources` all source ids.
    """

    key: tuple[str | None, ...]
    records: int
    conversations: int
    users: int
    sources: int
    oldest: datetime
    newest: datetime

    @property
    def days(self) -> tuple[str, str]:
        """The first and the last local day of the sources, if `key` ends with `SPAN`."""
        about, period = self.key[-len(SPAN) :]
        return span_of(about, period or "")

    def date_by_sources(self) -> "Tally":
        """Return the tally of summaries dated at noon of the days of their sources."""
        first, last = self.days
        return replace(self, oldest=noon_of(first), newest=noon_of(last))
