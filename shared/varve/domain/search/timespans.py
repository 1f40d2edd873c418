"""What an expression of time in plain English means: local days, as the date parser resolves them."""

from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from typing import NamedTuple

from varve.domain.calendar import Grain

MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
WEEKDAYS = (
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
)
_PLAIN = (
    "fixed",
    "iso",
    "day",
    "anymonth",
    "month",
    "weekday",
    "year",
    "q",
)  # in the order the parser reads
_TURNS = {"last": -1, "this": 0, "next": 1}
_PERIODS = {  # with so many days that one period's first day reaches into the next
    "day": (Grain.DAILY, 1), "week": (Grain.WEEKLY, 7), "month": (Grain.MONTHLY, 31),
    "quarter": (Grain.QUARTERLY, 92), "year": (Grain.YEARLY, 366),
}  # fmt: skip

Parts = Mapping[str, str]


class Span(NamedTuple):
    """Local days, `last` exclusive."""

    first: date
    last: date
    grain: Grain


def read(form: str, parts: Parts, base: date, lean: str = "past") -> Span | None:
    """What an expression means, seen from a day."""
    reader = _READERS.get(form)
    if reader is not None:
        return reader(parts, base, lean)
    return _span(" ".join(parts[k] for k in _PLAIN if k in parts), base, lean)


@lru_cache(maxsize=1_024)
def _ask(english: str, base: date, lean: str) -> tuple[date, str] | None:
    """The parser's day and how wide it meant it."""
    from dateparser.date import DateDataParser

    seen_from = datetime.combine(base, time.min)
    settings = {
        "RELATIVE_BASE": seen_from,
        "PREFER_DATES_FROM": lean,
        "TIMEZONE": "UTC",
    }
    found = DateDataParser(languages=["en"], settings=settings).get_date_data(english)
    return None if found.date_obj is None else (found.date_obj.date(), found.period)


def _span(
    english: str, base: date, lean: str = "past", period: str | None = None
) -> Span | None:
    found = _ask(english, base, lean)
    return None if found is None else _wide(found[0], period or found[1])


def _wide(day: date, period: str) -> Span:
    grain, reach = _PERIODS[period]
    first = _first(day, period)
    return Span(first, _first(first + timedelta(days=reach), period), grain)


def _first(day: date, period: str) -> date:
    if period == "week":
        return day - timedelta(days=day.weekday())
    months = {"month": 1, "quarter": 3, "year": 12}.get(period)
    return (
        day.replace(month=day.month - (day.month - 1) % months, day=1)
        if months
        else day
    )


def _reached(count: int, unit: str, base: date) -> date | None:
    """The day so many units away."""
    steps, asked = (
        (3 * abs(count), "month") if unit == "quarter" else (abs(count), unit)
    )
    found = _ask(
        f"in {steps} {asked}" if count > 0 else f"{steps} {asked} ago", base, "past"
    )
    return found and found[0]


def _moved(count: int, unit: str, base: date) -> Span | None:
    """The whole unit so many units away."""
    day = _reached(count, unit, base)
    return _wide(day, unit) if day else None


def _ago(parts: Parts, base: date, _: str) -> Span | None:
    """three months ago"""
    return _moved(-int(parts["n"]), parts["unit"], base)


def _rolling(parts: Parts, base: date, _: str) -> Span | None:
    """the last three months, up to and with today"""
    unit = parts.get("unit") or parts["span"]
    day = _reached(-int(parts.get("n", "1")), unit, base)
    return Span(day, base + timedelta(days=1), _PERIODS[unit][0]) if day else None


def _ahead(parts: Parts, base: date, _: str) -> Span | None:
    """the next ten days, today among them"""
    day = _reached(int(parts["n"]), parts["unit"], base)
    return (
        Span(base, day + timedelta(days=1), _PERIODS[parts["unit"]][0]) if day else None
    )


def _turned(parts: Parts, base: date, _: str) -> Span | None:
    """last week, this March, next Friday"""
    turn = parts.get("turn") or parts["after"]
    if "span" in parts:
        return _moved(_TURNS[turn], parts["span"], base)
    if "weekday" in parts:
        return _span(f"{turn} {parts['weekday']}", base)
    if turn == "this":
        return _span(f"{parts['month']} {base.year}", base)
    over = base.replace(day=1) - timedelta(days=1)
    return _span(
        parts["month"],
        over if turn == "last" else base,
        "past" if turn == "last" else "future",
    )


def _before_last(parts: Parts, base: date, _: str) -> Span | None:
    """the week before last"""
    return _moved(-2, parts["span"], base)


def _weekday_week(parts: Parts, base: date, _: str) -> Span | None:
    """Friday of last week"""
    week = _moved(_TURNS[parts.get("turn") or parts["after"]], "week", base)
    return week and _span(parts["weekday"], week.last)


def _month_turn(parts: Parts, base: date, _: str) -> Span | None:
    """March of last year"""
    year = _moved(_TURNS[parts.get("turn") or parts["after"]], "year", base)
    return year and _span(f"{parts['month']} {year.first.year}", base)


def _quarter(parts: Parts, base: date, lean: str) -> Span | None:
    """the third quarter"""
    return _span(MONTHS[3 * int(parts["q"][1]) - 3], base, lean, "quarter")


_READERS: Mapping[str, Callable[[Parts, date, str], Span | None]] = {
    "ago": _ago, "rolling": _rolling, "over": _rolling, "over_last": _rolling, "count": _rolling,
    "ahead": _ahead, "turned": _turned, "weekday_week": _weekday_week, "month_turn": _month_turn,
    "quarter": _quarter, "before_last": _before_last,
}  # fmt: skip
