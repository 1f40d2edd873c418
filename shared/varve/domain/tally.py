"""Counts of records that share the values of some columns."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

TallyColumn = Literal["period", "user_id", "memory_type", "conversation_id"]
"""A column that records can be counted by."""


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
