"""The seasons of the year, as people count them.

A season begins with its first month and ends about three weeks into the month after its third:
so it holds the days that the calendar and those that the sun counts.
"""

from datetime import date, timedelta

from varve.domain.language.dates import Span, shift

_WEEKS_AFTER = timedelta(days=20)


def season_in(year: int, season: int) -> Span:
    """Return the season that begins in a year; they count from spring, 1."""
    first = date(year, 3 * season, 1)
    last = shift(first, 3, "month") + _WEEKS_AFTER
    return Span(first, last, "month")
