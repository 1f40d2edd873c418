"""Calendar arithmetic of the date grammar: distances, whole periods, and the nearest day of a name."""

from datetime import date, timedelta
from typing import NamedTuple

from dateutil.relativedelta import relativedelta

PAST, FUTURE = -1, 1
MONTHS_IN = {"month": 1, "quarter": 3, "year": 12}


class Span(NamedTuple):
    """Local days, `last` included. `unit` tells how exact the span was told: day, week, month, …"""

    first: date
    last: date
    unit: str = "day"


def shift(day: date, count: int, unit: str) -> date:
    """Return the day so many units away; a day that its month lacks becomes the month's last.

    Raises ValueError or OverflowError: outside the calendar.
    """
    if unit in MONTHS_IN:
        moved: date = day + relativedelta(months=count * MONTHS_IN[unit])
        return moved
    return day + timedelta(days=count * (7 if unit == "week" else 1))


def whole(day: date, unit: str) -> Span:
    """Return the day, week, month, quarter or year that a day lies in; weeks begin on Monday."""
    first = day
    if unit == "week":
        first = day - timedelta(days=day.weekday())
    elif unit in MONTHS_IN:
        months = MONTHS_IN[unit]
        first = day.replace(month=day.month - (day.month - 1) % months, day=1)
    return Span(first, shift(first, 1, unit) - timedelta(days=1), unit)


def nearest_weekday(day: date, weekday: int, direction: int) -> date:
    """Return the last such weekday before the day, the first after it, or with 0 the first from it on."""
    ahead = (weekday - day.weekday()) % 7
    if direction < 0:
        return day + timedelta(days=ahead - 7)
    if direction > 0:
        return day + timedelta(days=ahead or 7)
    return day + timedelta(days=ahead)


def nearest_date(day: date, month: int, number: int, direction: int) -> date | None:
    """Return the latest such date up to the day, or with `FUTURE` the first from it on.

    None where there is none: 29 February may lie eight years away, 30 February nowhere.
    """
    for years in range(9):
        found = _date_or_none(day.year + years * direction, month, number)
        if found is not None and (found - day).days * direction >= 0:
            return found
    return None


def _date_or_none(year: int, month: int, number: int) -> date | None:
    try:
        return date(year, month, number)
    except ValueError:
        return None
