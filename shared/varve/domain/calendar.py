"""Grains of time and the periods they are cut into, in the workspace's time zone."""

from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo


class Grain(StrEnum):
    """How much time one record covers."""

    WORKING = "working"
    DAILY = "daily"
    WEEKLY = "weekly"
    MONTHLY = "monthly"
    QUARTERLY = "quarterly"
    YEARLY = "yearly"


def day_of(instant: datetime, zone: ZoneInfo) -> str:
    """The label of the day that holds the instant: `2026-03-02`."""
    return instant.astimezone(zone).date().isoformat()


def start_of_day(day: date, zone: ZoneInfo) -> datetime:
    """The first instant of a local day, in UTC."""
    return datetime.combine(day, time.min, tzinfo=zone).astimezone(UTC)


def days_before(instant: datetime, days: int, zone: ZoneInfo) -> date:
    """The local day that lies so many calendar days before the instant's own."""
    return instant.astimezone(zone).date() - timedelta(days=days)


def iso(instant: datetime) -> str:
    """ISO 8601 in UTC with a `Z`, microseconds only where there are any: the form of every contract."""
    return instant.astimezone(UTC).isoformat().replace("+00:00", "Z")


def parse_instant(text: str) -> datetime:
    """An aware UTC datetime from ISO 8601; a text without an offset is taken as UTC.

    Raises ValueError: not ISO 8601, or outside the years 1 to 9999 in UTC.
    """
    parsed = datetime.fromisoformat(text)
    aware = parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed
    try:
        return aware.astimezone(UTC)
    except OverflowError as error:
        raise ValueError(f"{text} lies outside the calendar") from error
