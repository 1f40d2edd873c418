"""The words by which languages tell times, what each of them means, and a fast test for them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from varve.domain.language.languages import (
    Times,
    Words,
    WordsByName,
    common_times,
    installed_languages,
    merge_times,
)
from varve.domain.language.tokens import without_accents

Vocabulary = Mapping[str, Mapping[str, str]]
"""For each kind of words what each word means: "month", "enero", "1"."""

_CENTURY = 2000
_SHORT_YEARS = 100
YEAR = "19[0-9]{2}|20[0-9]{2}|2100"

_TURNS = {"last": "-1", "this": "0", "next": "1"}
_SPANS = ("week", "month", "quarter", "year")
_HINT_KINDS = (
    "holiday",
    "fixed",
    "span",
    "unit",
    "month",
    "anymonth",
    "weekday",
    "q",
    "season",
)
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Parts:
    """What the parts of an expression mean; None or empty: it has no such part.

    Months count from 1, weekdays from Monday, 0. `turn` is -1 (last), 0 (this) or 1 (next).
    `nth` counts the weeks of a month, from its end below 0. `away` is a distance from today,
    such as (-1, "week"). `first` is the first of several days, of which `day` is the last.
    `some` is the middle of a vague number, such as "a few"; `near` is true of "about two".
    Seasons count from spring, 1. `holiday` has the first and the last day: "12-31 01-01".
    """

    month: int | None = None
    weekday: int | None = None
    day: int | None = None
    year: int | None = None
    quarter: int | None = None
    week: int | None = None
    count: int | None = None
    nth: int | None = None
    unit: str = ""
    turn: int | None = None
    away: tuple[int, str] | None = None
    iso: str = ""
    first: int | None = None
    some: int | None = None
    near: bool = False
    season: int | None = None
    holiday: str = ""


def read_parts(found: re.Match[str], vocabulary: Vocabulary) -> Parts | None:
    """Return what the groups of a match mean.

    None: the vocabulary lacks the word of a group.
    """
    meanings: dict[str, str] = {}
    for kind, text in found.groupdict().items():
        if not text:
            continue
        meaning = _find_meaning(vocabulary, kind, text)
        if not meaning:
            return None
        meanings[kind] = meaning
    return Parts(
        month=_read_number(meanings, "month", "anymonth"),
        weekday=_read_number(meanings, "weekday"),
        day=_read_number(meanings, "day", "dayword"),
        year=_read_year(meanings),
        quarter=_read_number(meanings, "q"),
        week=_read_number(meanings, "week"),
        count=_read_number(meanings, "n"),
        nth=_read_number(meanings, "nth"),
        unit=meanings.get("unit") or meanings.get("span", ""),
        turn=_read_number(meanings, "turn", "after"),
        away=_read_distance(meanings.get("fixed", "")),
        iso=meanings.get("iso", ""),
        first=_read_number(meanings, "first"),
        some=_read_number(meanings, "some"),
        near="near" in meanings,
        season=_read_number(meanings, "season"),
        holiday=meanings.get("holiday", ""),
    )


def _find_meaning(vocabulary: Vocabulary, kind: str, text: str) -> str:
    """Return the meaning of a word, "" if it is unknown; digits mean themselves."""
    known = vocabulary.get(kind)
    if known is None or text.isdigit():
        return text
    meaning = known.get(text.casefold().replace("’", "'"))
    if meaning:
        return meaning
    return known.get(without_accents(text), "")


def _read_number(meanings: Mapping[str, str], *kinds: str) -> int | None:
    """Return the number of the first of the kinds that the expression has."""
    for kind in kinds:
        if kind in meanings:
            return int(meanings[kind])
    return None


def _read_year(meanings: Mapping[str, str]) -> int | None:
    """Return the year of an expression; "26" is in this century."""
    year = _read_number(meanings, "year")
    if year is None or year >= _SHORT_YEARS:
        return year
    return _CENTURY + year


def _read_distance(text: str) -> tuple[int, str] | None:
    """Return (-1, "day") for "-1 day"; None for an empty text."""
    if not text:
        return None
    count, unit = text.split()
    return int(count), unit


def read_vocabulary(times: Times, *, plain: bool = True) -> Vocabulary:
    """Return the words of a table by kind; a word with several meanings has the first.

    With `plain` also without their accents, which people leave out in questions.
    """
    months = _number_names(times.months, first=1)
    short_months = _number_names(times.short_months, first=1)
    weekdays = _number_names(times.weekdays, first=0)
    turns_after = _read_turns(times.turns_after)
    spans = {unit: times.units[unit] for unit in _SPANS if unit in times.units}
    vocabulary = {
        "fixed": _index_words(times.fixed),
        "turn": _read_turns(times.turns) | turns_after,
        "after": turns_after,
        "q": _number_names(times.quarters, first=1),
        "span": _index_words(spans),
        "unit": _index_words(times.units),
        "month": months,
        "anymonth": months | short_months,
        "weekday": weekdays,
        "anyday": weekdays,
        "n": _index_words(times.numbers),
        "nth": _index_words(times.ordinals),
        "some": _index_words(times.vague_numbers),
        "season": _number_names(times.seasons, first=1),
        "holiday": _index_words(times.holidays),
        "dayword": _index_words(times.day_words),
    }
    if not plain:
        return vocabulary
    accented_only = frozenset(times.only_with_accents)
    return {
        kind: _add_plain_words(known, accented_only)
        for kind, known in vocabulary.items()
    }


def _number_names(members: Sequence[Words], first: int) -> dict[str, str]:
    """Return the number of each name, as text; the first member has the number `first`."""
    numbered: dict[str, Words] = {}
    for number, names in enumerate(members, first):
        numbered[str(number)] = names
    return _index_words(numbered)


def _read_turns(table: WordsByName) -> dict[str, str]:
    turns = _index_words(table)
    return {word: _TURNS[turn] for word, turn in turns.items()}


def _index_words(table: WordsByName) -> dict[str, str]:
    """Return the meaning of each word of a table of words by meaning; the first stays."""
    meanings: dict[str, str] = {}
    for meaning, words in table.items():
        for word in words:
            meanings.setdefault(word, meaning)
    return meanings


def _add_plain_words(
    known: Mapping[str, str], accented_only: frozenset[str]
) -> dict[str, str]:
    """Add each word without its accents, except the words of `accented_only`."""
    found = dict(known)
    for word, meaning in known.items():
        if word not in accented_only:
            found.setdefault(without_accents(word), meaning)
    return found


def hints_at_time(text: str) -> bool:
    """Return whether any word of the text may tell a time; needs no compiled grammar."""
    hints, figures = _installed_hints()
    words = _WORD.findall(text.casefold())
    if any(word in hints for word in words):
        return True
    return figures.search(text) is not None


@cache
def _installed_hints() -> tuple[frozenset[str], re.Pattern[str]]:
    """Return the words of time, and the pattern of a year, a date or a day in figures."""
    own_times = [language.times for language in installed_languages()]
    times = merge_times([common_times(), *own_times])
    hints = _read_hints(read_vocabulary(times)).union(times.words["hour"])
    year = rf"(?<!\d)(?:{YEAR})(?!\d)"
    figures = "|".join([year, *times.words["figures"]])
    return hints, re.compile(f"(?i){figures}")


def _read_hints(vocabulary: Vocabulary) -> frozenset[str]:
    """Return the longest word of each name.

    Every expression has one of these words or a year.
    """
    hints: set[str] = set()
    for kind in _HINT_KINDS:
        hints.update(_longest_words(vocabulary[kind]))
    return frozenset(hints)


def _longest_words(names: Iterable[str]) -> Iterable[str]:
    for name in names:
        words = _WORD.findall(name)
        yield max(words, key=len)
