"""The clock that code reads the present time from."""

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """The only source of the present time: timezone-aware, UTC."""

    def __call__(self) -> datetime: ...
