"""Time words in a question: the phrase, the window it means, and the words that are left.

A phrase that may mean anything else is left alone: a wrong window hides what was asked for.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

from varve.domain.calendar import Grain, start_of_day
from varve.domain.language.dates import FUTURE, Span
from varve.domain.language.grammar import (
    Grammar,
    Parts,
    hints_at_time,
    installed_grammar,
)
from varve.domain.language.meanings import read


@dataclass(frozen=True, slots=True)
class TimeWords:
    """What was understood: a half-open window in UTC, and the text with and without the phrase."""

    since: datetime | None
    until: datetime | None
    grain: Grain
    phrase: str
    rest: str


_NEARBY = 200
"""How many characters around an expression can change its meaning."""

# "the notes from last week" were made in it; "from November 2026" is where something begins.
_WITHIN_AFTER_FROM = (
    "before_last", "rolling", "over", "over_last", "count", "ahead", "ago", "weekday_week", "turned",
    "fixed", "year",
)  # fmt: skip
_BORDERS = ("since", "before", "after", "until", "by", "from", "between")
_YEARLESS = ("month", "weekday", "quarter", "day_month")
_MAY, _MARCH_VERBS = 5, ("may", "march")
_GRAINS: Mapping[str, Grain] = {
    "day": Grain.DAILY,
    "week": Grain.WEEKLY,
    "month": Grain.MONTHLY,
    "quarter": Grain.QUARTERLY,
    "year": Grain.YEARLY,
}
_EMPTY_BRACKETS = re.compile(r"\(\s*\)")
_BLANKS = re.compile(r"\s+")
_LOOSE_BLANK = re.compile(r" (?=[?!.,;:)])|(?<=[(¿¡]) ")
_ANY_WORD = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class _Expression:
    """One expression in a text. `left` is where its preposition begins, `edge`: "the end of …"."""

    form: str
    parts: Parts
    lead: str
    edge: bool
    left: int
    start: int
    end: int


def understand(
    text: str, now: datetime, zone: ZoneInfo, grammar: Grammar | None = None
) -> TimeWords | None:
    """Return the one window that the text speaks of.

    None: it speaks of none, of several, or may mean none. Without `grammar`, that of the installed
    languages is loaded, only for a text that hints at time.
    """
    if grammar is None:
        if not hints_at_time(text):
            return None
        grammar = installed_grammar()
    reading = _Reading(text, grammar)
    chosen = reading.choose(list(reading.expressions()))
    if not chosen:
        return None
    try:
        span = reading.join(chosen, now.astimezone(zone).date())
        return None if span is None else _answer(text, chosen, span, zone)
    except (ValueError, OverflowError):  # outside the calendar
        return None


def find_refusals(text: str, grammar: Grammar) -> list[str]:
    """Return the names of the rows that refuse an expression of the text, in order."""
    reading = _Reading(text, grammar)
    return [name for found in reading.matches() for name in reading.refusals(found)]


@dataclass(frozen=True, slots=True)
class _Match:
    """A match of the grammar's pattern, and the text around it that can change its meaning."""

    found: re.Match[str]
    form: str
    parts: Parts | None
    lead: re.Match[str] | None
    kind: str
    before: str
    behind: str


@dataclass(frozen=True, slots=True)
class _Reading:
    """A text as a grammar reads it."""

    text: str
    grammar: Grammar

    def expressions(self) -> Iterator[_Expression]:
        """Yield every expression with its preposition, but for refused ones."""
        for match in self.matches():
            if match.parts is None or any(self.refusals(match)):
                continue
            left, end = match.found.span()
            start = left
            if match.lead is not None:
                left -= len(match.before) - match.lead.start()
            edge = bool(match.lead and match.lead["edge"])
            yield _Expression(
                match.form, match.parts, match.kind, edge, left, start, end
            )

    def matches(self) -> Iterator[_Match]:
        """Yield everything that looks like an expression of time."""
        for found in self.grammar.scan.finditer(self.text):
            start, end = found.span()
            before = self.text[max(0, start - _NEARBY) : start]
            behind = self.text[end : end + _NEARBY]
            lead = self.grammar.lead.search(before)
            form, parts = self.grammar.parse(found)
            kind = self._lead_kind(lead)
            yield _Match(found, form, parts, lead, kind, before, behind)

    def refusals(self, match: _Match) -> Iterator[str]:
        """Yield the names of the rows that refuse an expression."""
        for row in self.grammar.refused:
            if row.applies(
                match.form, match.kind, match.before, match.found[0], match.behind
            ):
                yield row.name

    def _lead_kind(self, lead: re.Match[str] | None) -> str:
        if lead is None:
            return ""
        return next((kind for kind in self.grammar.lead_kinds if lead[kind]), "")

    def choose(self, found: Sequence[_Expression]) -> Sequence[_Expression]:
        """Return those that are about time beyond doubt, or are joined to such a one."""
        kept = {i for i, one in enumerate(found) if self._stands(one)}
        for i, (one, two) in enumerate(pairwise(found)):
            lends_year = (
                i + 1 in kept
                and two.parts.year is not None
                and one.form in ("month", "quarter", "day_month")
            )
            if (i in kept or lends_year) and self._linked(one, two):
                kept |= {i, i + 1}
        return [found[i] for i in sorted(kept)]

    def _stands(self, one: _Expression) -> bool:
        """Return whether an expression tells a time without another one's help."""
        before, behind = self.text[: one.left], self.text[one.end :]
        if one.form == "year" and self.grammar.year_alone.fullmatch(before):
            return not _ANY_WORD.search(self.grammar.like_what.sub("", behind))
        needed = self.grammar.needs.get(one.form)
        if needed is None or one.edge or one.lead in needed:
            return True
        around = self.text[: one.start] + behind
        return not _ANY_WORD.search(around) and one.parts.month != _MAY

    def _linked(self, one: _Expression, two: _Expression) -> bool:
        """Return whether two expressions are joined, by a comma only where their forms are equal."""
        if self._may_be_a_verb(one) or self._may_be_a_verb(two):
            return False
        between = self.text[one.end : two.start]
        if between.strip() == ",":  # "Friday, 3 March" is no list
            return one.form == two.form
        joins = (self.grammar.to, self.grammar.and_, self.grammar.or_)
        return any(join.fullmatch(between) for join in joins)

    def _may_be_a_verb(self, one: _Expression) -> bool:
        return not one.lead and self.text[one.start : one.end] in _MARCH_VERBS

    def join(self, chosen: Sequence[_Expression], today: date) -> Span | None:
        """Return one span: of the only expression, from one to the other, or around a list."""
        if len(chosen) == 1:
            return _single(chosen[0], today)
        if not all(self._linked(*pair) for pair in pairwise(chosen)):
            return None
        one, last = chosen[0], chosen[-1]
        if len(chosen) == 2 and self._is_range(one, last):
            both_weekdays = one.form == last.form == "weekday"
            return None if both_weekdays else _range(one, last, today)
        if one.lead in _BORDERS:
            return None
        return _around([read(each.form, each.parts, today) for each in chosen])

    def _is_range(self, one: _Expression, two: _Expression) -> bool:
        join = self.grammar.and_ if one.lead == "between" else self.grammar.to
        return join.fullmatch(self.text[one.end : two.start]) is not None


def _single(one: _Expression, today: date) -> Span | None:
    """Return the span of the only expression; None: it is where something begins."""
    begins = one.lead == "from" and one.form not in _WITHIN_AFTER_FROM
    if begins or one.lead == "between":
        return None
    return read(one.form, one.parts, today)


def _range(one: _Expression, two: _Expression, today: date) -> Span | None:
    """Return the span from one to the other.

    The one that names its year, or is nearer to today, places the other.
    """
    if _lacks_year(two):
        first = read(one.form, one.parts, today)
        if first is None:
            return None
        return _around([first, read(two.form, two.parts, first.first, FUTURE)])
    second = read(two.form, two.parts, today)
    seen_from = second.last if second and _lacks_year(one) else today
    return _around([read(one.form, one.parts, seen_from), second])


def _lacks_year(one: _Expression) -> bool:
    return one.form in _YEARLESS and one.parts.year is None


def _around(spans: Sequence[Span | None]) -> Span | None:
    """Return the span that holds all; None where one of them is None."""
    known = [span for span in spans if span is not None]
    if len(known) < len(spans):
        return None
    first = min(span.first for span in known)
    last = max(span.last for span in known)
    units = list(_GRAINS)
    return Span(first, last, min((span.unit for span in known), key=units.index))


def _answer(
    text: str, chosen: Sequence[_Expression], span: Span, zone: ZoneInfo
) -> TimeWords | None:
    """Return the window of a span in UTC; None: the zone skipped its days."""
    since: datetime | None = start_of_day(span.first, zone)
    until: datetime | None = start_of_day(span.last + timedelta(days=1), zone)
    if since is None or until is None or since >= until:
        return None
    left, end = chosen[0].left, chosen[-1].end
    phrase, rest = text[left:end].strip(), _without(text, left, end)
    lead = _lead(chosen)
    if lead == "after":
        since, until = until, None
    elif lead == "before":
        since, until = None, since
    elif lead in ("until", "by"):
        since = None
    elif lead == "since":
        until = None
    return TimeWords(since, until, _GRAINS[span.unit], phrase, rest)


def _lead(chosen: Sequence[_Expression]) -> str:
    """Return the kind of preposition that decides; "before the end of March" lies partly within it."""
    one = chosen[0]
    lead = one.lead if len(chosen) == 1 else "in"
    if one.edge:
        return {"before": "until", "after": "since"}.get(lead, lead)
    return lead


def _without(text: str, left: int, end: int) -> str:
    """Return the text without a phrase; all of it where no word would be left."""
    rest = _EMPTY_BRACKETS.sub(" ", f"{text[:left]} {text[end:]}")
    rest = _LOOSE_BLANK.sub("", _BLANKS.sub(" ", rest)).strip(" ,;:-–")
    return rest if _ANY_WORD.search(rest) else text
