"""What an expression of time in a question means: the span of local days, seen from a day."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date, timedelta
from functools import partial

from varve.domain.language.dates import (
    DAYS_IN,
    FUTURE,
    PAST,
    WEEKEND,
    Span,
    nearest_date,
    nearest_weekday,
    one_day,
    precision,
    shift,
    whole,
)
from varve.domain.language.numbered import day_number, month_day, weekday_day
from varve.domain.language.seasons import season_in
from varve.domain.language.vocabulary import Parts
from varve.domain.language.yearly import (
    SpanIn,
    holiday_in,
    nearest_yearly,
    turned_yearly,
    yearly_ago,
)

_THURSDAY = 3

_HALVES: Mapping[str, tuple[int, str]] = {
    "year": (6, "month"),
    "month": (15, "day"),
}
"""What half of a unit is."""

Meaning = Callable[[Parts, date, int], Span | None]


def read(
    form: str, parts: Parts, base: date, direction: int = PAST
) -> Span | None:
    """Return what an expression means, seen from `base`.

    A bare name, such as "March", is the nearest in the direction. Raises ValueError or
    OverflowError: the result is outside the calendar.
    """
    meaning = _MEANINGS[form]
    return meaning(parts, base, direction)


def _moved(base: date, count: int, unit: str) -> Span:
    """Return the whole unit `count` units away."""
    moved = shift(base, count, unit)
    return whole(moved, unit)


def _ago(parts: Parts, base: date, _: int) -> Span | None:
    """three months ago, a few weeks ago, two summers ago"""
    count = parts.some or parts.count or 0
    yearly = _yearly(parts)
    if yearly is not None:
        return yearly_ago(yearly, base, count)
    span = _moved(base, -count, parts.unit)
    slack = _slack(parts, count)
    if not slack:
        return span
    middle = shift(base, -count, parts.unit)
    days = timedelta(days=round(slack * DAYS_IN[parts.unit]))
    first = min(span.first, middle - days)
    last = max(span.last, middle + days)
    return Span(first, last, span.unit)


def _yearly(parts: Parts) -> SpanIn | None:
    """Return what a season or a holiday is in each year; None: there is neither."""
    if parts.season is not None:
        return partial(season_in, season=parts.season)
    if parts.holiday:
        return partial(holiday_in, days=parts.holiday)
    return None


def _ago_half(parts: Parts, base: date, direction: int) -> Span | None:
    """half a year ago"""
    return _ago_and_half(replace(parts, count=0), base, direction)


def _ago_and_half(parts: Parts, base: date, direction: int) -> Span | None:
    """a year and a half ago; None for units whose halves are none of the calendar"""
    if parts.unit not in _HALVES:
        return None
    half, unit = _HALVES[parts.unit]
    count = 1 if parts.count is None else parts.count
    estimate = Parts(count=(2 * count + 1) * half, unit=unit, near=True)
    return _ago(estimate, base, direction)


def _slack(parts: Parts, count: int) -> float:
    """Return by how many units an estimate may be off: by half of "a few", by a week of "about three"."""
    if parts.some:
        return parts.some / 2
    return max(min(1, count / 2), count / 4) if parts.near else 0


def _fixed(parts: Parts, base: date, _: int) -> Span | None:
    """yesterday, la semana pasada"""
    if parts.away is None:
        return None
    count, unit = parts.away
    return _moved(base, count, unit)


def _rolling(parts: Parts, base: date, _: int) -> Span:
    """the last three months, the last few days, up to and with today"""
    count = parts.count
    if count is None:
        count = parts.some * 3 // 2 if parts.some else 1
    first = shift(base, -count, parts.unit)
    return Span(first, base, precision(parts.unit))


def _ahead(parts: Parts, base: date, _: int) -> Span:
    """the next ten days, today among them"""
    count = parts.count or 0
    last = shift(base, count, parts.unit)
    return Span(base, last, precision(parts.unit))


def _turned(parts: Parts, base: date, _: int) -> Span:
    """last week, this March, next Friday, last summer"""
    turn = parts.turn or 0
    yearly = _yearly(parts)
    if yearly is not None:
        return turned_yearly(yearly, base, turn)
    if parts.unit:
        return _moved(base, turn, parts.unit)
    if parts.weekday is not None:
        return one_day(nearest_weekday(base, parts.weekday, turn))
    month = parts.month or 1
    if turn == 0:
        return _month_of(base.year, month)
    if turn == FUTURE:
        return _nearest_month(base, month, FUTURE)
    month_before = base.replace(day=1) - timedelta(days=1)
    return _nearest_month(month_before, month, PAST)


def _end_of_span(parts: Parts, base: date, _: int) -> Span:
    """the end of the year: of this one or of the last, which people leave open"""
    before = _moved(base, -1, parts.unit)
    return Span(before.first, whole(base, parts.unit).last, parts.unit)


def _before_last(parts: Parts, base: date, _: int) -> Span:
    """the week before last, the Christmas before last"""
    yearly = _yearly(parts)
    if yearly is not None:
        return yearly_ago(yearly, base, 2)
    return _moved(base, -2, parts.unit)


def _weekday_week(parts: Parts, base: date, _: int) -> Span:
    """Friday of last week"""
    turn = parts.turn or 0
    week = _moved(base, turn, "week")
    weekday = timedelta(days=parts.weekday or 0)
    return one_day(week.first + weekday)


def _month_turn(parts: Parts, base: date, _: int) -> Span:
    """March of last year, Christmas last year"""
    in_year = shift(base, parts.turn or 0, "year").year
    if parts.holiday:
        return holiday_in(in_year, parts.holiday)
    return _month_of(in_year, parts.month or 1)


def _day_turn(parts: Parts, base: date, _: int) -> Span:
    """the 16th of last month"""
    month = _moved(base, parts.turn or 0, "month")
    return one_day(month.first.replace(day=parts.day or 1))


def _same_figures(parts: Parts, base: date, direction: int) -> Span | None:
    """3/3/2026; None for 3/4/2026, which has two readings in English"""
    if parts.day != parts.month:
        return None
    return _day_month(parts, base, direction)


def _season(parts: Parts, base: date, direction: int) -> Span:
    """in summer: the latest that has begun, or the first from the day on"""
    in_year = partial(season_in, season=parts.season or 1)
    return nearest_yearly(in_year, base, direction)


def _holiday(parts: Parts, base: date, direction: int) -> Span:
    """Christmas, Christmas 2025"""
    if parts.year is not None:
        return holiday_in(parts.year, parts.holiday)
    in_year = partial(holiday_in, days=parts.holiday)
    return nearest_yearly(in_year, base, direction)


def _iso(parts: Parts, *_: object) -> Span:
    """2026-03-02"""
    return one_day(date.fromisoformat(parts.iso))


def _iso_month(parts: Parts, *_: object) -> Span:
    """2026-03"""
    first = date.fromisoformat(f"{parts.iso}-01")
    return whole(first, "month")


def _day_month(parts: Parts, base: date, direction: int) -> Span | None:
    """3 March, 3 March 2026, 16/03/26"""
    month = parts.month or 1
    number = parts.day or 1
    if parts.year is not None:
        return one_day(date(parts.year, month, number))
    found = nearest_date(base, month, number, direction)
    if found is None:
        return None
    return one_day(found)


def _days(parts: Parts, base: date, direction: int) -> Span | None:
    """16 to 20 March, March 3, 4 and 5"""
    last = _day_month(parts, base, direction)
    first = parts.first or 1
    if last is None or first >= last.last.day:
        return None
    return Span(last.first.replace(day=first), last.last)


def _season_year(parts: Parts, *_: object) -> Span | None:
    """summer of 2025; None for a winter, which lies in two years"""
    season = season_in(parts.year or 1, parts.season or 1)
    return season if season.first.year == season.last.year else None


def _month(parts: Parts, base: date, direction: int) -> Span:
    """March, March 2026"""
    month = parts.month or 1
    if parts.year is not None:
        return _month_of(parts.year, month)
    return _nearest_month(base, month, direction)


def _month_week(parts: Parts, base: date, direction: int) -> Span:
    """the first week of March, the last week of May 2026

    The span holds both what people count: seven days from an end of the month, and the ISO
    weeks whose Thursday lies in the month.
    """
    month = _month(parts, base, direction)
    weeks = parts.nth or 1
    begin = month.last + timedelta(days=1)
    if weeks > 0:
        begin = month.first
        weeks -= 1
    first = shift(begin, weeks, "week")
    last = first + timedelta(days=6)
    thursday = nearest_weekday(begin, _THURSDAY, 0)
    week = _moved(thursday, weeks, "week")
    return Span(min(first, week.first), max(last, week.last), "week")


def _quarter(parts: Parts, base: date, direction: int) -> Span:
    """the third quarter, Q3 2025"""
    number = parts.quarter or 1
    first_month = 3 * number - 2
    if parts.year is not None:
        return whole(date(parts.year, first_month, 1), "quarter")
    nearest = _nearest_month(base, first_month, direction)
    return whole(nearest.first, "quarter")


def _week(parts: Parts, base: date, direction: int) -> Span:
    """week 12, week 12 of 2026, 2026-W12; weeks are those of ISO 8601"""
    number = parts.week or 1
    if parts.year is not None:
        return whole(date.fromisocalendar(parts.year, number, 1), "week")
    return _nearest_week(base, number, direction)


def _nearest_week(base: date, number: int, direction: int) -> Span:
    """Return the latest week of a number up to that of `base`, or the first after it.

    Not every year has a week 53.
    """
    own = base.isocalendar()
    year = own.year
    if direction == FUTURE and number <= own.week:
        year += 1
    elif direction == PAST and number > own.week:
        year -= 1
    while number > date(year, 12, 28).isocalendar().week:
        year += direction
    return whole(date.fromisocalendar(year, number, 1), "week")


def _weekend(_: Parts, base: date, direction: int) -> Span:
    """the weekend: the latest that has begun, or the first after the day"""
    own = whole(base, WEEKEND)
    if direction == FUTURE:
        return own if own.first >= base else _moved(base, 1, WEEKEND)
    return own if own.first <= base else _moved(base, -1, WEEKEND)


def _hours(parts: Parts, base: date, _: int) -> Span:
    """two hours ago, the last 24 hours: today and the days that they may reach back to"""
    count = 1 if parts.count is None else parts.count
    return Span(shift(base, -count // 24, "day"), base)


def _weekday(parts: Parts, base: date, direction: int) -> Span:
    """Friday"""
    weekday = parts.weekday or 0
    return one_day(nearest_weekday(base, weekday, direction))


def _year(parts: Parts, *_: object) -> Span:
    """2025"""
    first = date(parts.year or 1, 1, 1)
    return whole(first, "year")


def _month_of(year: int, month: int) -> Span:
    return whole(date(year, month, 1), "month")


def _nearest_month(base: date, month: int, direction: int) -> Span:
    """Return the latest such month up to the one of `base`, or the first after it."""
    year = base.year
    if direction == FUTURE and month <= base.month:
        year += 1
    elif direction == PAST and month > base.month:
        year -= 1
    return _month_of(year, month)


_MEANINGS: Mapping[str, Meaning] = {
    "ago": _ago,
    "ago_half": _ago_half,
    "ago_and_half": _ago_and_half,
    "rolling": _rolling,
    "over": _rolling,
    "over_last": _rolling,
    "count": _rolling,
    "ahead": _ahead,
    "turned": _turned,
    "begun": _turned,
    "ended": _end_of_span,
    "fixed": _fixed,
    "before_last": _before_last,
    "weekday_week": _weekday_week,
    "month_turn": _month_turn,
    "day_turn": _day_turn,
    "day_number": day_number,
    "month_day": month_day,
    "weekday_day": weekday_day,
    "weekend": _weekend,
    "weekday_alone": _weekday,
    "hours": _hours,
    "numeric_date": _day_month,
    "same_figures": _same_figures,
    "dotted_date": _day_month,
    "day_slash": _day_month,
    "holiday": _holiday,
    "holiday_alone": _holiday,
    "holiday_year": _holiday,
    "iso": _iso,
    "iso_month": _iso_month,
    "day_month": _day_month,
    "days": _days,
    "season": _season,
    "season_year": _season_year,
    "month": _month,
    "month_week": _month_week,
    "month_year": _month,
    "week": _week,
    "iso_week": _week,
    "week_year": _week,
    "quarter": _quarter,
    "quarter_year": _quarter,
    "weekday": _weekday,
    "year": _year,
}
