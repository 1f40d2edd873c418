"""The present, and the only place that asks the machine for it."""

from datetime import UTC, datetime

from varve.domain.errors import Rejected
from varve.ports.runtime import Clock


def system_clock() -> datetime:
    """Now, aware, in UTC."""
    return datetime.now(UTC)


def fixed_clock(instant: datetime) -> Clock:
    """A clock that stands still at the instant. Raises Rejected: it has no time zone."""
    at = aware(instant)
    return lambda: at


def aware(instant: datetime, field: str = "now") -> datetime:
    """The instant in UTC. Raises Rejected: it is no datetime, or one without a time zone."""
    if not isinstance(instant, datetime) or instant.tzinfo is None:
        raise Rejected(field, "must be a datetime with a time zone")
    return instant.astimezone(UTC)
