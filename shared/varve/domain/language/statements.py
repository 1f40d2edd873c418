"""Expressions of time in statements, and the days they mean, seen from the day they were said.

"last Friday" is the latest before today, "next Friday" the first after it, "this Friday" the first
from today on. A bare "Friday" or "3 March" has no direction: it takes the statement's.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from varve.domain.language.dates import (
    FUTURE,
    PAST,
    WEEKEND,
    Span,
    nearest_date,
    shift,
    whole,
)
from varve.domain.language.grammar import (
    NAMED_GROUP,
    Form,
    Pattern,
    compile_forms,
    expand_forms,
)
from varve.domain.language.languages import Language, Times, merge_times
from varve.domain.language.meanings import read
from varve.domain.language.vocabulary import (
    Parts,
    Vocabulary,
    read_parts,
    read_vocabulary,
)

_DAY = "(?P<day>[0-9]{1,2})"
_WITHOUT_DIRECTION = ("day_month", "month", "weekday")
"""Forms that mean nothing without a year or a direction."""


class Lean(StrEnum):
    """Whether a statement speaks of the past or of the future."""

    PAST = "past"
    FUTURE = "future"
    NONE = "none"


_DIRECTIONS = {Lean.PAST: PAST, Lean.FUTURE: FUTURE}


@dataclass(frozen=True, slots=True)
class Expressions:
    """The expressions of a language. `pattern` matches one as a part of a larger pattern.

    `scan` finds those that tell the statement's time, `loose` also others, such as "until Friday".
    """

    vocabulary: Vocabulary
    forms: Sequence[Form]
    pattern: str
    scan: Pattern
    loose: Pattern

    def resolve(self, text: str, said: date, lean: Lean) -> Span | None:
        """Return what the whole text means, if it is one expression and has one meaning."""
        for form, pattern in self.forms:
            found = pattern.fullmatch(text)
            if found is None:
                continue
            parts = read_parts(found, self.vocabulary)
            if parts is None:
                return None
            return _resolve_form(form, parts, said, lean)
        return None

    def find(self, text: str, said: date, lean: Lean) -> Span | None:
        """Return what the one expression in the text means; None: there are none or several."""
        found = [match[0] for match in self.scan.finditer(text)]
        if len(found) != 1:
            return None
        return self.resolve(found[0], said, lean)


def build_expressions(language: Language) -> Expressions:
    """Build a language's expressions. Raises ValueError: it has no statements."""
    stated = language.statements
    if stated is None:
        raise ValueError(f"{language.code}: no [statements]")
    vocabulary = _read_stated_vocabulary(language.times, stated.times)
    forms = expand_forms(stated.times, vocabulary, stated.times.words, _DAY)
    nameless = [NAMED_GROUP.sub("(?:", text) for _, text in forms]
    expression = rf"(?:{'|'.join(nameless)})(?![\w/-])"
    not_after = [f"(?<!\\b{word} )" for word in stated.not_after]
    blocked = "".join(not_after)
    pattern = rf"(?i:(?<![\w/-]){blocked}{expression})"
    loose = rf"(?<![\w/-]){expression}"
    return Expressions(
        vocabulary=vocabulary,
        forms=compile_forms(forms),
        pattern=pattern,
        scan=re.compile(pattern),
        loose=re.compile(loose, re.IGNORECASE),
    )


def _read_stated_vocabulary(shared: Times, stated: Times) -> Vocabulary:
    """Return the words by kind, without units and fixed times that statements do not have.

    Facts are dated by day, week, month or year, not by quarter. Of the fixed times only days
    such as "yesterday", and weekends, count: "last week" is another form.
    """
    known = read_vocabulary(merge_times([shared, stated]), plain=False)
    units: dict[str, str] = {}
    for word, unit in known["unit"].items():
        if unit not in ("quarter", WEEKEND):
            units[word] = unit
    days: dict[str, str] = {}
    for word, distance in known["fixed"].items():
        if distance.endswith(("day", WEEKEND)):
            days[word] = distance
    return {**known, "unit": units, "fixed": days}


def _resolve_form(
    form: str, parts: Parts, said: date, lean: Lean
) -> Span | None:
    """Return what an expression means; None: outside the calendar, or nothing for this lean."""
    try:
        return _span(form, parts, said, lean)
    except (ValueError, OverflowError):
        return None


def _span(form: str, parts: Parts, said: date, lean: Lean) -> Span | None:
    """Return what an expression means. Raises ValueError or OverflowError: outside the calendar."""
    direction = _DIRECTIONS.get(lean, PAST)
    if form in _WITHOUT_DIRECTION and parts.year is None and lean is Lean.NONE:
        return None
    if form == "ago":
        return _distance(parts, said, PAST)
    if form == "ahead":
        if lean is Lean.PAST:  # "built it in two days" tells how long it took
            return None
        return _distance(parts, said, FUTURE)
    if form == "month":
        return _month(parts, said, direction)
    if form == "turned" and parts.unit == "day":
        return None
    return read(form, parts, said, direction)


def _distance(parts: Parts, said: date, sign: int) -> Span:
    """two weeks ago: one day, and as exact as its unit"""
    count = sign * (parts.count or 0)
    day = shift(said, count, parts.unit)
    return Span(day, day, parts.unit)


def _month(parts: Parts, said: date, direction: int) -> Span | None:
    """in March: the one whose first day is nearest in the direction"""
    month = parts.month or 1
    first = nearest_date(said, month, 1, direction)
    if first is None:
        return None
    return whole(first, "month")
