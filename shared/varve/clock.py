"""The present, and the only place that asks the machine for it."""

from datetime import UTC, datetime

from varve.ports.runtime import Clock


def system_clock() -> datetime:
    """Now, aware, in UTC."""
    return datetime.now(UTC)


def fixed_clock(instant: datetime) -> Clock:
    """A clock that stands still at the instant."""
    return lambda: instant.astimezone(UTC)
