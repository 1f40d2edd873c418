"""What any code needs from the machine it runs on: the time, and secrets."""

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """The one source of the present: aware, UTC."""

    def __call__(self) -> datetime: ...


class Secrets(Protocol):
    """Keys that the store must not hold."""

    def get(self, name: str) -> str:
        """The secret's text. Raises Misconfigured: there is none, or no right to read it."""
