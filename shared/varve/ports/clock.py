"""The clock that code reads the present time from, and the timer of limits."""

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """The only source of the present time: timezone-aware, UTC."""

    def __call__(self) -> datetime: ...


class Timer(Protocol):
    """A count of seconds that never goes back; only differences mean something."""

    def __call__(self) -> float: ...
