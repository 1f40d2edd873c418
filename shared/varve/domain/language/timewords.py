"""Time words in a question: the phrase, the window it means, and the words that are left.

An ambiguous phrase is left alone, because a wrong window hides results.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

from varve.domain.calendar import Grain, start_of_day
from varve.domain.language.dates import FUTURE, Span, whole
from varve.domain.language.grammar import Grammar, installed_grammar
from varve.domain.language.meanings import read
from varve.domain.language.time_expressions import (
    BORROWS_YEAR,
    Expression,
    ExpressionFinder,
)
from varve.domain.language.vocabulary import hints_at_time


@dataclass(frozen=True, slots=True)
class TimeWords:
    """The time in a text: a half-open window in UTC, the phrase, and the text without it.

    `holiday` has the names of the holiday that it is; people tell of one on other days by its name.
    """

    since: datetime | None
    until: datetime | None
    grain: Grain
    phrase: str
    rest: str
    holiday: tuple[str, ...] = ()


# "the notes from last week" were made in it; "from November 2026" is where something begins.
_WITHIN_AFTER_FROM = (
    "before_last", "rolling", "over", "over_last", "count", "ahead", "ago", "weekday_week", "turned",
    "fixed", "year", "week", "iso_week", "week_year", "month_week", "days", "season_year",
)  # fmt: skip
_BORDERS = ("since", "before", "after", "until", "by", "from", "between")
_MAY = 5
_MONTHS_OR_VERBS = ("may", "march")
_GRAINS: Mapping[str, Grain] = {
    "day": Grain.DAILY,
    "week": Grain.WEEKLY,
    "month": Grain.MONTHLY,
    "quarter": Grain.QUARTERLY,
    "year": Grain.YEARLY,
}
_UNITS = tuple(_GRAINS)
_EMPTY_BRACKETS = re.compile(r"\(\s*\)")
_BLANKS = re.compile(r"\s+")
_LOOSE_BLANK = re.compile(r" (?=[?!.,;:)])|(?<=[(¿¡]) ")
_ANY_WORD = re.compile(r"\w")


def understand(
    text: str, now: datetime, zone: ZoneInfo, grammar: Grammar | None = None
) -> TimeWords | None:
    """Return the one window that the text speaks of.

    None: the text has no window, several, or an ambiguous one. Without `grammar`, a text that hints
    at time loads the grammar of the installed languages.
    """
    if grammar is None:
        if not hints_at_time(text):
            return None
        grammar = installed_grammar()
    is_south = grammar.southern.match(zone.key) is not None
    finder = ExpressionFinder(text, grammar, is_south=is_south)
    expressions = list(finder.find_expressions())
    reader = _TimeReader(text, grammar)
    chosen = reader.choose(expressions)
    if not chosen:
        return None
    try:
        today = now.astimezone(zone).date()
        span = reader.join(chosen, today)
        if span is None:
            return None
        answer = _answer(text, chosen, span, zone)
        return answer and replace(answer, holiday=_names(chosen, grammar))
    except (ValueError, OverflowError):  # outside the calendar
        return None


def find_full_date(text: str) -> date | None:
    """Return the first day that a text names with its year: "Tuesday, 6 January 2026"."""
    if not hints_at_time(text):
        return None
    finder = ExpressionFinder(text, installed_grammar())
    for one in finder.find_expressions():
        if one.parts.day is None or one.parts.year is None:
            continue
        try:
            span = _read(one, date.min)
        except ValueError:  # outside the calendar
            continue
        if span is not None:
            return span.first
    return None


@dataclass(frozen=True, slots=True)
class _TimeReader:
    """Reads the times of a text by a grammar."""

    text: str
    grammar: Grammar

    def choose(self, found: Sequence[Expression]) -> Sequence[Expression]:
        """Return the expressions that certainly tell a time, and those joined to such a one."""
        kept: set[int] = set()
        for index, one in enumerate(found):
            if self._stands_alone(one):
                kept.add(index)
        for index, (one, two) in enumerate(pairwise(found)):
            is_open = index in kept
            if not is_open:
                is_open = index + 1 in kept and _lends_year(two, one)
            if is_open and self._is_linked(one, two):
                kept |= {index, index + 1}
        return [found[index] for index in sorted(kept)]

    def _stands_alone(self, one: Expression) -> bool:
        """Return whether an expression tells a time without the help of another one."""
        before = self.text[: one.left]
        behind = self.text[one.end :]
        if one.form == "year" and self.grammar.year_alone.fullmatch(before):
            rest = self.grammar.like_what.sub("", behind)
            return not _has_word(rest)
        needed = self.grammar.needs.get(one.form)
        if needed is None or one.edge or one.lead in needed:
            return True
        around = self.text[: one.start] + behind
        if _has_word(around):
            return False
        return one.parts.month != _MAY

    def _is_linked(self, one: Expression, two: Expression) -> bool:
        """Return whether two expressions are joined; a comma joins only equal forms."""
        if self._may_be_verb(one) or self._may_be_verb(two):
            return False
        between = self.text[one.end : two.start]
        if between.strip() == ",":  # "Friday, 3 March" is no list
            return one.form == two.form
        grammar = self.grammar
        joins = (grammar.to, grammar.and_, grammar.or_)
        return any(join.fullmatch(between) for join in joins)

    def _may_be_verb(self, one: Expression) -> bool:
        if one.lead:
            return False
        phrase = self.text[one.start : one.end]
        return phrase in _MONTHS_OR_VERBS

    def join(self, chosen: Sequence[Expression], today: date) -> Span | None:
        """Return one span: of the only expression, from one to the other, or around a list."""
        first = chosen[0]
        if len(chosen) == 1:
            return _read_single(first, today)
        for one, two in pairwise(chosen):
            if not self._is_linked(one, two):
                return None
        if len(chosen) == 2 and self._is_range(first, chosen[1]):
            return _read_range(first, chosen[1], today)
        if first.lead in _BORDERS:
            return None
        return _around([_read(one, today) for one in chosen])

    def _is_range(self, one: Expression, two: Expression) -> bool:
        between = self.text[one.end : two.start]
        join = self.grammar.to
        if one.lead == "between":
            join = self.grammar.and_
        return join.fullmatch(between) is not None


def _names(chosen: Sequence[Expression], grammar: Grammar) -> tuple[str, ...]:
    """Return the names, in all languages, of the holiday that the only expression means."""
    days = chosen[0].parts.holiday
    if not days or len(chosen) > 1:
        return ()
    known = grammar.vocabulary["holiday"]
    return tuple(name for name, meaning in known.items() if meaning == days)


def _has_word(text: str) -> bool:
    return _ANY_WORD.search(text) is not None


def _lends_year(two: Expression, one: Expression) -> bool:
    """Return whether a later expression has the year of an earlier one: "March and April 2026"."""
    if two.parts.year is None:
        return False
    return one.form in BORROWS_YEAR


def _read(one: Expression, seen_from: date) -> Span | None:
    return read(one.form, one.parts, seen_from)


def _read_single(one: Expression, today: date) -> Span | None:
    """Return the span of the only expression; None: it is where something begins.

    "The week of 16 March" is the week that the day lies in.
    """
    if one.lead == "between" and one.form != "days":
        return None
    if one.lead == "from" and one.form not in _WITHIN_AFTER_FROM:
        return None
    span = _read(one, today)
    if span is None or not one.week or span.unit != "day":
        return span
    first = whole(span.first, "week").first
    last = whole(span.last, "week").last
    return Span(first, last, "week")


def _read_range(one: Expression, two: Expression, today: date) -> Span | None:
    """Return the span from one to the other; None between two weekdays.

    The expression that names its year, or is nearer to today, places the other.
    """
    if one.form == two.form == "weekday":
        return None
    if two.lacks_year:
        first = _read(one, today)
        if first is None:
            return None
        second = read(two.form, two.parts, first.first, FUTURE)
        return _around([first, second])
    second = _read(two, today)
    seen_from = today
    if second is not None and one.lacks_year:
        seen_from = second.last
    first = _read(one, seen_from)
    return _around([first, second])


def _around(spans: Sequence[Span | None]) -> Span | None:
    """Return the span that holds all, as exact as the most exact one; None if one of them is None."""
    known = [span for span in spans if span is not None]
    if len(known) < len(spans):
        return None
    first = min(span.first for span in known)
    last = max(span.last for span in known)
    units = (span.unit for span in known)
    unit = min(units, key=_UNITS.index)
    return Span(first, last, unit)


def _answer(
    text: str, chosen: Sequence[Expression], span: Span, zone: ZoneInfo
) -> TimeWords | None:
    """Return the window of a span in UTC; None: the zone skipped its days."""
    day_after = span.last + timedelta(days=1)
    begin = start_of_day(span.first, zone)
    end = start_of_day(day_after, zone)
    if begin >= end:
        return None
    lead = _deciding_lead(chosen)
    since, until = _window(lead, begin, end)
    left = chosen[0].left
    right = chosen[-1].end
    return TimeWords(
        since=since,
        until=until,
        grain=_GRAINS[span.unit],
        phrase=text[left:right].strip(),
        rest=_remove_phrase(text, left, right),
    )


def _window(
    lead: str, begin: datetime, end: datetime
) -> tuple[datetime | None, datetime | None]:
    """Return the window that a preposition makes of the span from `begin` to `end`."""
    if lead == "after":
        return end, None
    if lead == "since":
        return begin, None
    if lead == "before":
        return None, begin
    if lead in ("until", "by"):
        return None, end
    return begin, end


def _deciding_lead(chosen: Sequence[Expression]) -> str:
    """Return the kind of preposition that decides.

    "Before the end of March" lies partly in March, as "until March" does.
    """
    one = chosen[0]
    lead = one.lead if len(chosen) == 1 else "in"
    if not one.edge:
        return lead
    if lead == "before":
        return "until"
    if lead == "after":
        return "since"
    return lead


def _remove_phrase(text: str, left: int, right: int) -> str:
    """Return the text without the phrase; the whole text if no word would be left."""
    around = f"{text[:left]} {text[right:]}"
    unbracketed = _EMPTY_BRACKETS.sub(" ", around)
    spaced = _BLANKS.sub(" ", unbracketed)
    rest = _LOOSE_BLANK.sub("", spaced).strip(" ,;:-–")
    return rest if _has_word(rest) else text
