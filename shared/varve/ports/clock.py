"""The one source of the current time."""

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """The one source of the present: aware, UTC."""

    def __call__(self) -> datetime: ...
