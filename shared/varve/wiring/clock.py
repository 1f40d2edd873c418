"""The present, and the only place that asks the machine for it."""

from datetime import UTC, datetime

from varve.domain.calendar import aware
from varve.ports.clock import Clock


def system_clock() -> datetime:
    """Now, aware, in UTC."""
    return datetime.now(UTC)


def fixed_clock(instant: datetime) -> Clock:
    """A clock that stands still at the instant. Raises Rejected: it has no time zone."""
    at = aware(instant)
    return lambda: at
