"""Spans that come once a year, such as a season or a holiday: the last, the next, the nearest one.

A span belongs to the year in which it begins.
"""

from collections.abc import Callable
from datetime import date, timedelta

from varve.domain.language.dates import FUTURE, PAST, Span, shift

_EASTER = "easter"
SpanIn = Callable[[int], Span]
"""Returns the span that begins in a year."""


def yearly_ago(span_in: SpanIn, day: date, count: int) -> Span:
    """Return the last such span but `count - 1` that is over on a day."""
    year = day.year if span_in(day.year).last < day else day.year - 1
    return span_in(year - count + 1)


def turned_yearly(span_in: SpanIn, day: date, turn: int) -> Span:
    """Return the last such span that is over, the next to begin, or the nearest."""
    if turn == PAST:
        return yearly_ago(span_in, day, 1)
    years = range(day.year - 1, day.year + 2)
    spans = [span_in(year) for year in years]
    if turn == FUTURE:
        return next(one for one in spans if one.first > day)
    return min(spans, key=lambda one: _days_between(one, day))


def nearest_yearly(span_in: SpanIn, day: date, direction: int) -> Span:
    """Return the latest such span that has begun, or with `FUTURE` the first from the day on."""
    own = span_in(day.year)
    if direction == FUTURE:
        return own if own.first >= day else span_in(day.year + 1)
    return own if own.first <= day else span_in(day.year - 1)


def holiday_in(year: int, days: str) -> Span:
    """Return the holiday that begins in a year.

    "12-31 01-01" are its first and its last day, "easter-2 easter+1" are days from Easter.
    """
    first, _, last = days.partition(" ")
    begin = _day_in(year, first)
    end = _day_in(year, last or first)
    return Span(begin, end if end >= begin else shift(end, 1, "year"))


def _day_in(year: int, day: str) -> date:
    """Return the day of a year that "01-06" or "easter-2" means."""
    if not day.startswith(_EASTER):
        return date.fromisoformat(f"{year:04}-{day}")
    return easter_in(year) + timedelta(days=int(day.removeprefix(_EASTER)))


def easter_in(year: int) -> date:
    """Return Easter Sunday of a year, as the Western churches count (Meeus's algorithm)."""
    century, in_century = divmod(year, 100)
    leaps = century // 4 + (century - (century + 8) // 25 + 1) // 3
    epact = (19 * (year % 19) + century - leaps + 15) % 30
    to_sunday = (
        32 + 2 * (century % 4) + 2 * (in_century // 4) - epact - in_century % 4
    ) % 7
    back = (year % 19 + 11 * epact + 22 * to_sunday) // 451
    month, day = divmod(epact + to_sunday - 7 * back + 114, 31)
    return date(year, month, day + 1)


def _days_between(span: Span, day: date) -> int:
    before, after = (span.first - day).days, (day - span.last).days
    return max(before, after, 0)
