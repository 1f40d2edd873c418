"""Expressions of time in statements, and the days they mean, seen from the day they were said.

"last Friday" is the latest before today, "next Friday" the first after it, "this Friday" the first
from today on. A bare "Friday" or "3 March" has no direction of its own: the statement lends it one.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from varve.domain.language.dates import (
    FUTURE,
    PAST,
    Span,
    nearest_date,
    shift,
    whole,
)
from varve.domain.language.grammar import (
    NAMED_GROUP,
    Parts,
    Vocabulary,
    expand,
    read_parts,
    read_vocabulary,
)
from varve.domain.language.languages import Language
from varve.domain.language.meanings import read

_DAY = "(?P<day>[0-9]{1,2})"
_WITHOUT_DIRECTION = ("day_month", "month", "weekday")
"""Forms that mean nothing without a year or a direction."""


class Lean(StrEnum):
    """Whether a statement speaks of what was or of what will be."""

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
    forms: Sequence[tuple[str, re.Pattern[str]]]
    pattern: str
    scan: re.Pattern[str]
    loose: re.Pattern[str]

    def resolve(self, text: str, said: date, lean: Lean) -> Span | None:
        """Return what the whole text means, if it is one expression and has one meaning."""
        for form, pattern in self.forms:
            found = pattern.fullmatch(text)
            if found is not None:
                parts = read_parts(found, self.vocabulary)
                return None if parts is None else _meaning(form, parts, said, lean)
        return None

    def find(self, text: str, said: date, lean: Lean) -> Span | None:
        """Return what the one expression in the text means; None: there are none or several."""
        found = [match[0] for match in self.scan.finditer(text)]
        return self.resolve(found[0], said, lean) if len(found) == 1 else None


def build_expressions(language: Language) -> Expressions:
    """Build a language's expressions. Raises ValueError: it has no statements."""
    stated = language.statements
    if stated is None:
        raise ValueError(f"{language.code}: no [statements]")
    known = read_vocabulary([language.times, stated.times], plain=False)
    vocabulary = {**known, "unit": _units(known), "fixed": _days(known)}
    forms = [
        (form, expand(template, vocabulary, stated.times.words, _DAY))
        for form, templates in stated.times.forms.items()
        for template in templates
    ]
    anonymous = "|".join(NAMED_GROUP.sub("(?:", text) for _, text in forms)
    blocked = "".join(f"(?<!\\b{word} )" for word in stated.not_after)
    pattern = rf"(?i:(?<![\w/-]){blocked}(?:{anonymous})(?![\w/-]))"
    loose = rf"(?<![\w/-])(?:{anonymous})(?![\w/-])"
    return Expressions(
        vocabulary=vocabulary,
        forms=[(form, re.compile(text, re.IGNORECASE)) for form, text in forms],
        pattern=pattern,
        scan=re.compile(pattern),
        loose=re.compile(loose, re.IGNORECASE),
    )


def _units(known: Vocabulary) -> Mapping[str, str]:
    """Return the units of statements: facts are dated by day, week, month or year."""
    return {word: unit for word, unit in known["unit"].items() if unit != "quarter"}


def _days(known: Vocabulary) -> Mapping[str, str]:
    """Return the names of single days, such as "yesterday"; "last week" is a form of its own."""
    return {word: away for word, away in known["fixed"].items() if away.endswith("day")}


def _meaning(form: str, parts: Parts, said: date, lean: Lean) -> Span | None:
    """Return what an expression means; None: outside the calendar, or nothing for this lean."""
    try:
        return _span(form, parts, said, lean)
    except (ValueError, OverflowError):
        return None


def _span(form: str, parts: Parts, said: date, lean: Lean) -> Span | None:
    """Return what an expression means. Raises ValueError or OverflowError: outside the calendar."""
    direction = _DIRECTIONS.get(lean, PAST)
    undirected = lean is Lean.NONE and parts.year is None
    if undirected and form in _WITHOUT_DIRECTION:
        return None
    if form == "ago":
        return _distance(parts, said, PAST)
    if form == "ahead":  # of something past it would tell how long it took
        return None if lean is Lean.PAST else _distance(parts, said, FUTURE)
    if form == "month":
        return _month(parts, said, direction)
    if form == "turned" and parts.unit == "day":
        return None
    return read(form, parts, said, direction)


def _distance(parts: Parts, said: date, sign: int) -> Span:
    """two weeks ago: one day, and as exact as its unit"""
    day = shift(said, sign * (parts.count or 0), parts.unit)
    return Span(day, day, parts.unit)


def _month(parts: Parts, said: date, direction: int) -> Span | None:
    """in March: the one whose first day is nearest in the direction"""
    first = nearest_date(said, parts.month or 1, 1, direction)
    return None if first is None else whole(first, "month")
