"""Spans that come once a year, such as a season or a holiday: the last, the next, the nearest one.

A span belongs to the year in which it begins.
"""

from collections.abc import Callable
from datetime import date

from varve.domain.language.dates import FUTURE, PAST, Span, shift

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
    """Return the holiday that begins in a year; "12-31 01-01" are its first and its last day."""
    first, _, last = days.partition(" ")
    begin = date.fromisoformat(f"{year:04}-{first}")
    end = date.fromisoformat(f"{year:04}-{last or first}")
    return Span(begin, end if end >= begin else shift(end, 1, "year"))


def _days_between(span: Span, day: date) -> int:
    before, after = (span.first - day).days, (day - span.last).days
    return max(before, after, 0)
