"""Calendar arithmetic of the date grammar: distances, whole periods, and the nearest day of a name."""

from datetime import date, timedelta
from typing import NamedTuple

from dateutil.relativedelta import relativedelta

PAST = -1
FUTURE = 1
_YEARS_TO_LEAP_DAY = 8
WEEKEND = "weekend"
_SATURDAY = 5
MONTHS_IN = {"month": 1, "quarter": 3, "year": 12}
DAYS_IN = {
    "day": 1,
    "week": 7,
    WEEKEND: 7,
    "month": 30,
    "quarter": 91,
    "year": 365,
}
"""How long units are, about."""


class Span(NamedTuple):
    """Local days, `last` included. `unit` is the precision: day, week, month, quarter or year."""

    first: date
    last: date
    unit: str = "day"


def one_day(day: date) -> Span:
    return Span(day, day)


def shift(day: date, count: int, unit: str) -> date:
    """Return the day `count` units away; a day that its month lacks becomes the month's last.

    Raises ValueError or OverflowError: the result is outside the calendar.
    """
    if unit in MONTHS_IN:
        months = count * MONTHS_IN[unit]
        moved: date = day + relativedelta(months=months)
        return moved
    days_in = 7 if unit in ("week", WEEKEND) else 1
    return day + timedelta(days=count * days_in)


def whole(day: date, unit: str) -> Span:
    """Return the day, week, month, quarter or year that a day lies in; weeks begin on Monday.

    The weekend of a day's week has the precision of days.
    """
    if unit == WEEKEND:
        saturday = day + timedelta(days=_SATURDAY - day.weekday())
        return Span(saturday, saturday + timedelta(days=1))
    first = day
    if unit == "week":
        first = day - timedelta(days=day.weekday())
    elif unit in MONTHS_IN:
        months_into = (day.month - 1) % MONTHS_IN[unit]
        first = day.replace(month=day.month - months_into, day=1)
    next_first = shift(first, 1, unit)
    return Span(first, next_first - timedelta(days=1), unit)


def precision(unit: str) -> str:
    """Return the unit of a span that is counted in a unit: days for weekends."""
    return "day" if unit == WEEKEND else unit


def nearest_weekday(day: date, weekday: int, direction: int) -> date:
    """Return the last such weekday before the day, or with `FUTURE` the first after it.

    With the direction 0, the first from the day on.
    """
    days = (weekday - day.weekday()) % 7
    if direction == PAST:
        days -= 7
    if direction == FUTURE and days == 0:
        days = 7
    return day + timedelta(days=days)


def nearest_date(
    day: date, month: int, number: int, direction: int
) -> date | None:
    """Return the latest such date up to the day, or with `FUTURE` the first from it on.

    None: no year has the date, such as 30 February. 29 February may lie eight years away.
    """
    for years in range(_YEARS_TO_LEAP_DAY + 1):
        year = day.year + years * direction
        found = _date_or_none(year, month, number)
        if found is None:
            continue
        days_ahead = (found - day).days * direction
        if days_ahead >= 0:
            return found
    return None


def _date_or_none(year: int, month: int, number: int) -> date | None:
    try:
        return date(year, month, number)
    except ValueError:
        return None
