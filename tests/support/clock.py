"""A clock for a test."""

from __future__ import annotations

from datetime import datetime


class SetClock:
    """A clock that is told the time."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now
