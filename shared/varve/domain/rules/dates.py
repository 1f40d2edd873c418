"""Expressions of time and the calendar days they mean, seen from the day they were said.

"last Friday" is the latest before today, "next Friday" the first after it, "this Friday" the first
from today on. A bare "Friday" or "3 March" has no direction of its own: the statement lends it one.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum

from dateutil.relativedelta import relativedelta


class Lean(StrEnum):
    """Whether a statement speaks of what was or of what will be."""

    PAST = "past"
    FUTURE = "future"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class When:
    """A day, or the first day of a span; `last` is the span's last day, `unit` how exact it is."""

    day: date
    last: date
    unit: str = "day"


@dataclass(frozen=True, slots=True)
class Words:
    """What a language calls things; keys are lower case."""

    weekdays: Mapping[str, int]
    months: Mapping[str, int]
    units: Mapping[str, str]
    numbers: Mapping[str, int]
    directions: Mapping[str, int]
    days: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Seen:
    """An expression as it was found, on the day it was said."""

    match: re.Match[str]
    said: date
    lean: Lean
    words: Words

    def __getitem__(self, part: str) -> str:
        return (self.match[part] or "").lower()


Resolve = Callable[[Seen], When | None]


@dataclass(frozen=True, slots=True)
class Expressions:
    """A language's expressions: a table of patterns with what they mean. `loose` sees "until Friday" too."""

    words: Words
    forms: tuple[tuple[re.Pattern[str], Resolve], ...]
    scan: re.Pattern[str]
    pattern: str
    loose: re.Pattern[str]

    def resolve(self, text: str, said: date, lean: Lean) -> When | None:
        """What the whole text means, if it is one expression and has one meaning."""
        for form, meaning in self.forms:
            found = form.fullmatch(text)
            if found is not None:
                return _within_calendar(meaning, Seen(found, said, lean, self.words))
        return None

    def find(self, text: str, said: date, lean: Lean) -> When | None:
        """What the one expression in the text means; None where there are none or several."""
        found = [match[0] for match in self.scan.finditer(text)]
        return self.resolve(found[0], said, lean) if len(found) == 1 else None


def expressions(
    words: Words, forms: Mapping[str, Resolve], not_after: str
) -> Expressions:
    """Compile a table whose patterns name word lists in braces; the order is the order of trial."""
    expanded = {_expand(form, words): meaning for form, meaning in forms.items()}
    anonymous = "|".join(re.sub(r"\(\?P<\w+>", "(?:", form) for form in expanded)
    blocked = "".join(f"(?<!\\b{word} )" for word in not_after.split("|"))
    loose = re.compile(rf"(?<![\w/-])(?:{anonymous})(?![\w/-])", re.IGNORECASE)
    pattern = rf"(?i:(?<![\w/-]){blocked}(?:{anonymous})(?![\w/-]))"
    table = tuple(
        (re.compile(form, re.IGNORECASE), meaning) for form, meaning in expanded.items()
    )
    return Expressions(words, table, re.compile(pattern), pattern, loose)


def _expand(form: str, words: Words) -> str:
    lists: dict[str, Mapping[str, object]] = {
        "weekday": words.weekdays, "month": words.months, "unit": words.units,
        "number": words.numbers, "direction": words.directions, "named": words.days,
    }  # fmt: skip
    for name, entries in lists.items():
        longest_first = "|".join(sorted(entries, key=len, reverse=True))
        digits = r"|\d{1,3}" if name == "number" else ""
        form = form.replace(f"{{{name}}}", f"(?P<{name}>{longest_first}{digits})")
    return form.replace("{day}", r"(?P<day>\d{1,2})").replace(
        "{year}", r"(?P<year>(?:19|20)\d\d)"
    )


def _within_calendar(meaning: Resolve, seen: Seen) -> When | None:
    try:
        return meaning(seen)
    except (ValueError, OverflowError):
        return None


def named_day(seen: Seen) -> When:
    """yesterday, tomorrow"""
    day = seen.said + timedelta(days=seen.words.days[seen["named"]])
    return When(day, day)


def ago(seen: Seen) -> When:
    """two weeks ago"""
    return _shifted(seen, -1)


def ahead(seen: Seen) -> When | None:
    """in two weeks; of something past it would tell how long it took"""
    return None if seen.lean is Lean.PAST else _shifted(seen, 1)


def _shifted(seen: Seen, sign: int) -> When:
    text = seen["number"]
    count = sign * (int(text) if text.isdigit() else seen.words.numbers[text])
    unit = seen.words.units[seen["unit"]]
    steps = {"day": timedelta(days=count), "week": timedelta(weeks=count)}
    day = seen.said + (
        steps.get(unit)
        or relativedelta(months=count if unit == "month" else 12 * count)
    )
    return When(day, day, unit)


def directed_weekday(seen: Seen) -> When:
    """last Friday, this Friday, next Friday"""
    weekday = seen.words.weekdays[seen["weekday"]]
    return _weekday(seen.said, weekday, seen.words.directions[seen["direction"]])


def bare_weekday(seen: Seen) -> When | None:
    """on Friday"""
    if seen.lean is Lean.NONE:
        return None
    return _weekday(
        seen.said,
        seen.words.weekdays[seen["weekday"]],
        -1 if seen.lean is Lean.PAST else 1,
    )


def _weekday(said: date, weekday: int, direction: int) -> When:
    ahead = (weekday - said.weekday()) % 7
    distance = ahead if direction == 0 else ahead or 7 if direction > 0 else ahead - 7
    day = said + timedelta(days=distance)
    return When(day, day)


def weekday_of_week(seen: Seen) -> When:
    """Friday of last week"""
    week = _span(seen.said, "week", seen.words.directions[seen["direction"]])
    day = week.day + timedelta(days=seen.words.weekdays[seen["weekday"]])
    return When(day, day)


def directed_span(seen: Seen) -> When | None:
    """last week, next year"""
    unit = seen.words.units[seen["unit"]]
    return (
        None
        if unit == "day"
        else _span(seen.said, unit, seen.words.directions[seen["direction"]])
    )


_STEPS = {
    "week": relativedelta(weeks=1), "month": relativedelta(months=1), "year": relativedelta(years=1)
}  # fmt: skip


def _span(said: date, unit: str, direction: int) -> When:
    step = _STEPS[unit]
    starts = {
        "week": said - timedelta(days=said.weekday()),
        "month": said.replace(day=1),
        "year": said.replace(month=1, day=1),
    }
    first = starts[unit] + step * direction
    return When(first, first + step - timedelta(days=1), unit)


def iso_day(seen: Seen) -> When:
    """2026-03-03"""
    day = date.fromisoformat(seen["iso"])
    return When(day, day)


def month_day(seen: Seen) -> When | None:
    """3 March, with or without its year"""
    month, number = seen.words.months[seen["month"]], int(seen["day"])
    if seen["year"]:
        day = date(int(seen["year"]), month, number)
        return When(day, day)
    return _nearest(month, number, seen.said, seen.lean)


def _nearest(month: int, number: int, said: date, lean: Lean) -> When | None:
    """The day of that name next to the day it was said; 29 February may lie eight years away."""
    direction = {Lean.PAST: -1, Lean.FUTURE: 1}.get(lean)
    for distance in range(9) if direction else ():
        day = _date_or_none(said.year + distance * (direction or 0), month, number)
        if day is not None and (day - said).days * (direction or 0) >= 0:
            return When(day, day)
    return None


def _date_or_none(year: int, month: int, number: int) -> date | None:
    try:
        return date(year, month, number)
    except ValueError:
        return None


def month_of_year(seen: Seen) -> When:
    """in March 2026"""
    return _span(
        date(int(seen["year"]), seen.words.months[seen["month"]], 1), "month", 0
    )


def bare_month(seen: Seen) -> When | None:
    """in March"""
    nearest = _nearest(seen.words.months[seen["month"]], 1, seen.said, seen.lean)
    return None if nearest is None else _span(nearest.day, "month", 0)


def bare_year(seen: Seen) -> When:
    """in 2019"""
    return _span(date(int(seen["year"]), 1, 1), "year", 0)
