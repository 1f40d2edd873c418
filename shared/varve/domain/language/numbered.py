"""Days that are told by a number or a place in their month: the 16th, Friday the 13th."""

from datetime import date, timedelta

from varve.domain.language.dates import FUTURE, Span, one_day, shift, whole
from varve.domain.language.vocabulary import Parts

_MONTHS_TO_REPEAT = 12 * 28
"""Weekdays and days of the month meet the same way after so many months."""


def day_number(parts: Parts, base: date, direction: int) -> Span:
    """the 16th: the latest day with this number, or the first from the day on"""
    return one_day(_nearest(parts, base, direction, 0))


def weekday_day(parts: Parts, base: date, direction: int) -> Span | None:
    """Friday the 13th: the nearest in the direction; None if no month has it"""
    for months in range(_MONTHS_TO_REPEAT):
        found = _nearest(parts, base, direction, months)
        if found.weekday() == parts.weekday:
            return one_day(found)
    return None


def month_day(parts: Parts, base: date, direction: int) -> Span:
    """the last day of March, the first day of May 2026"""
    month = base.replace(month=parts.month or 1, day=1)
    if parts.year is not None:
        month = month.replace(year=parts.year)
    elif (month - base).days * direction < 0:
        month = shift(month, direction, "year")
    span = whole(month, "month")
    nth = parts.nth or 1
    if nth < 0:
        return one_day(span.last + timedelta(days=nth + 1))
    return one_day(span.first + timedelta(days=nth - 1))


def _nearest(parts: Parts, base: date, direction: int, months: int) -> date:
    """Return the day of this number in the month so many such months away from the nearest."""
    number = parts.day or 1
    step = direction or FUTURE
    month = base.replace(day=1)
    if (number - base.day) * step < 0:
        month = shift(month, step, "month")
    while True:
        if whole(month, "month").last.day >= number:
            if months == 0:
                return month.replace(day=number)
            months -= 1
        month = shift(month, step, "month")
