"""The seasons of the year, as people count them.

A season begins with its first month and ends about three weeks into the month after its third:
so it holds the days that the calendar and those that the sun counts.
"""

from datetime import date, timedelta

from varve.domain.language.dates import FUTURE, PAST, Span, shift

_WEEKS_AFTER = timedelta(days=20)


def season_in(year: int, season: int) -> Span:
    """Return the season that begins in a year; they count from spring, 1."""
    first = date(year, 3 * season, 1)
    last = shift(first, 3, "month") + _WEEKS_AFTER
    return Span(first, last, "month")


def season_ago(day: date, season: int, count: int) -> Span:
    """Return the last such season but `count - 1` that is over on a day."""
    last = season_in(day.year, season)
    year = day.year if last.last < day else day.year - 1
    return season_in(year - count + 1, season)


def turned_season(day: date, season: int, turn: int) -> Span:
    """Return the last such season that is over, the next to begin, or the nearest."""
    if turn == PAST:
        return season_ago(day, season, 1)
    years = range(day.year - 1, day.year + 2)
    seasons = [season_in(year, season) for year in years]
    if turn == FUTURE:
        return next(one for one in seasons if one.first > day)
    return min(seasons, key=lambda one: _days_between(one, day))


def _days_between(span: Span, day: date) -> int:
    before, after = (span.first - day).days, (day - span.last).days
    return max(before, after, 0)
