"""Helpers for prompts: untrusted text fenced off as data, and strict reply shapes."""

import json
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict

from varve.domain.day_names import WEEKDAYS


class Shape(BaseModel):
    """Base of reply shapes.

    The schema forbids unknown fields, as strict JSON schema requires; unknown fields in a
    reply are ignored.
    """

    model_config = ConfigDict(
        extra="ignore", json_schema_extra={"additionalProperties": False}
    )


def fenced(tag: str, lines: Iterable[str]) -> str:
    """Return the lines between a pair of tags."""
    return "\n".join((f"<{tag}>", *lines, f"</{tag}>"))


def data_line(fields: Mapping[str, object]) -> str:
    """Return one line of JSON.

    Line breaks and `<` are escaped, so that no text can end its line or the fence.
    """
    return json.dumps(fields, ensure_ascii=False).replace("<", "\\u003c")


def day_in_words(day: date) -> str:
    """Return `Monday 2026-03-02`: the weekday too, as models miscount weekdays."""
    return f"{WEEKDAYS[day.weekday()]} {day.isoformat()}"


def days_in_words(first: date, last: date) -> str:
    """Return a span of days in words; a single day if both are the same."""
    if first == last:
        return day_in_words(first)
    return f"{day_in_words(first)} to {day_in_words(last)}"


def local(instant: datetime, zone: ZoneInfo) -> datetime:
    """Return the instant in the zone's local time.

    The first and last hours of the calendar overflow in some zones and stay as they are.
    """
    try:
        return instant.astimezone(zone)
    except OverflowError:
        return instant
