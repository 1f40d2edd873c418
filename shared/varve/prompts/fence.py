"""Both ends of a prompt: what others wrote goes in fenced off as data, and a strict shape comes out."""

import json
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict

WEEKDAYS = (
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
)


class Shape(BaseModel):
    """The schema forbids other names, as strict JSON schema asks; a reply that has them is still read."""

    model_config = ConfigDict(
        extra="ignore", json_schema_extra={"additionalProperties": False}
    )


def fenced(tag: str, lines: Iterable[str]) -> str:
    """Lines of data between a pair of tags."""
    return "\n".join((f"<{tag}>", *lines, f"</{tag}>"))


def data_line(fields: Mapping[str, object]) -> str:
    """One line of JSON. No text can end its line or the fence: line breaks and `<` are escaped."""
    return json.dumps(fields, ensure_ascii=False).replace("<", "\\u003c")


def day_in_words(day: date) -> str:
    """`Monday 2026-03-02`: models count weekdays badly."""
    return f"{WEEKDAYS[day.weekday()]} {day.isoformat()}"


def days_in_words(first: date, last: date) -> str:
    """The one day, or the first and the last."""
    return (
        day_in_words(first)
        if first == last
        else f"{day_in_words(first)} to {day_in_words(last)}"
    )


def local(instant: datetime, zone: ZoneInfo) -> datetime:
    """The instant on the zone's clock."""
    try:
        return instant.astimezone(zone)
    except (
        OverflowError
    ):  # the first or last hours of the calendar have no local time everywhere
        return instant
