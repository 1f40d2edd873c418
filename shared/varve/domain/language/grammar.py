"""The date grammar: the patterns of expressions of time, built from the words of languages."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import TypeVar

from varve.domain.language.languages import (
    Language,
    Refusal,
    Times,
    WordsByName,
    by_number,
    common_times,
    gathered,
    installed_languages,
)
from varve.domain.language.tokens import without_accents

T = TypeVar("T")
Vocabulary = Mapping[str, Mapping[str, str]]
"""For each kind of words what each word means: "month", "enero", "1"."""

_TURNS = {"last": "-1", "this": "0", "next": "1"}
_SPANS = ("week", "month", "quarter", "year")
_YEAR = "19[0-9]{2}|20[0-9]{2}|2100"
_HINT_YEAR = re.compile(rf"(?<!\d)(?:{_YEAR})(?!\d)")
_WORD = re.compile(r"\w+")
_DAY = "(?:(?:{the_day}) )?(?P<day>0?[1-9]|[12][0-9]|3[01])(?:{ordinal})?"
_NUMBER = re.compile(r"\(\?P<n>[^)]*\)")
NAMED_GROUP = re.compile(r"\(\?P<\w+>")
_PLACE = re.compile(r"\{([a-z_]+)\}")
_LEFT = r"(?:(?<![\w#$€£/\\.@'’-]){glued})"
_RIGHT = r"(?![\w/\\%°€$£@-]|[.,:]\d)"


@dataclass(frozen=True, slots=True)
class Parts:
    """What the parts of an expression mean; None or empty: it has no such part.

    Months count from 1, weekdays from Monday, 0. `turn` is -1 (last), 0 (this) or 1 (next).
    `away` is a distance from today, such as (-1, "week").
    """

    month: int | None = None
    weekday: int | None = None
    day: int | None = None
    year: int | None = None
    quarter: int | None = None
    count: int | None = None
    unit: str = ""
    turn: int | None = None
    away: tuple[int, str] | None = None
    iso: str = ""


@dataclass(frozen=True, slots=True)
class Refused:
    """A refusal with its patterns compiled."""

    name: str
    form: re.Pattern[str]
    lead: re.Pattern[str]
    before: re.Pattern[str]
    phrase: re.Pattern[str]
    behind: re.Pattern[str]

    def applies(
        self, form: str, lead: str, before: str, phrase: str, behind: str
    ) -> bool:
        """Return whether the expression and the text around it have all that the row gives."""
        return bool(
            self.form.match(form)
            and self.lead.match(lead)
            and self.before.search(before)
            and self.phrase.match(phrase)
            and self.behind.match(behind)
        )


@dataclass(frozen=True, slots=True)
class Grammar:
    """The patterns of questions' expressions.

    `scan` finds an expression, `lead` the preposition that ends the text before it; `forms` has
    the form and the pattern of each group of `scan`. `to`, `and_` and `or_` join two expressions.
    `year_alone` is the text of a question before a year that it asks about as a whole.
    """

    vocabulary: Vocabulary
    hints: frozenset[str]
    forms: Sequence[tuple[str, re.Pattern[str]]]
    scan: re.Pattern[str]
    lead: re.Pattern[str]
    lead_kinds: Sequence[str]
    needs: WordsByName
    refused: Sequence[Refused]
    to: re.Pattern[str]
    and_: re.Pattern[str]
    or_: re.Pattern[str]
    year_alone: re.Pattern[str]
    like_what: re.Pattern[str]

    def parse(self, match: re.Match[str]) -> tuple[str, Parts | None]:
        """Return the form of a match of `scan` and its parts; None: its letters only look alike."""
        number = next(n for n, _ in enumerate(self.forms) if match[f"f{n}"] is not None)
        form, pattern = self.forms[number]
        found = pattern.fullmatch(match[f"f{number}"])
        return form, read_parts(found, self.vocabulary) if found else None


@cache
def installed_grammar() -> Grammar:
    """Return the grammar of the languages that come with the package, compiled on first use."""
    return build_grammar(installed_languages())


def build_grammar(languages: Iterable[Language]) -> Grammar:
    """Build the grammar of questions; the languages share their words, so that they may mix."""
    tables = [common_times(), *(language.times for language in languages)]
    vocabulary = read_vocabulary(tables)
    words = gathered(times.words for times in tables)
    forms = _forms(tables, vocabulary, words)
    leads = gathered(times.leads for times in tables)
    joins = gathered(times.joins for times in tables)
    refusals = _all_of(times.refused for times in tables)
    return Grammar(
        vocabulary=vocabulary,
        hints=read_hints(vocabulary),
        forms=[(form, re.compile(text, re.IGNORECASE)) for form, text in forms],
        scan=_scan_pattern([text for _, text in forms], words),
        lead=_lead_pattern(leads, words),
        lead_kinds=list(leads),
        needs=gathered(times.needs for times in tables),
        refused=[_compiled(refusal, words) for refusal in refusals],
        to=_join_pattern(joins["to"], r"\s*"),
        and_=_join_pattern(joins["and"], r"\s*"),
        or_=_join_pattern(joins["or"], r",?\s*"),
        year_alone=re.compile(
            rf"(?i)\W*{_any(words['how'])}\W+{_any(words['it_was'])}\W+"
            rf"(?:{_any(words['the_year'])}\W+)?"
        ),
        like_what=re.compile(rf"(?i)^ {_any(words['like_what'])}\b"),
    )


def read_parts(found: re.Match[str], vocabulary: Vocabulary) -> Parts | None:
    """Return what the groups of a match mean; None where a group's word is not of the vocabulary."""
    given = {kind: text for kind, text in found.groupdict().items() if text}
    known = {kind: _meaning(vocabulary, kind, text) for kind, text in given.items()}
    if not all(known.values()):
        return None

    def number(*kinds: str) -> int | None:
        text = next((known[kind] for kind in kinds if kind in known), None)
        return None if text is None else int(text)

    away = known.get("fixed", "").split()
    return Parts(
        month=number("month", "anymonth"),
        weekday=number("weekday"),
        day=number("day"),
        year=number("year"),
        quarter=number("q"),
        count=number("n"),
        unit=known.get("unit") or known.get("span", ""),
        turn=number("turn", "after"),
        away=(int(away[0]), away[1]) if away else None,
        iso=known.get("iso", ""),
    )


def _meaning(vocabulary: Vocabulary, kind: str, text: str) -> str:
    known = vocabulary.get(kind)
    if known is None or text.isdigit():
        return text
    return known.get(text.casefold()) or known.get(without_accents(text), "")


def read_vocabulary(tables: Sequence[Times], *, plain: bool = True) -> Vocabulary:
    """Return the words of languages by kind; of a word that several share the first one's meaning.

    With `plain` also without their accents, which people leave out in questions.
    """
    months = by_number([times.months for times in tables], 1)
    short = by_number([times.short_months for times in tables], 1)
    weekdays = _by_word(by_number([times.weekdays for times in tables], 0))
    units = gathered(times.units for times in tables)
    after = _turns([times.turns_after for times in tables])
    spans = {unit: units[unit] for unit in _SPANS if unit in units}
    kinds = {
        "fixed": _by_word(gathered(times.fixed for times in tables)),
        "turn": _turns([times.turns for times in tables]) | after,
        "after": after,
        "q": _by_word(by_number([times.quarters for times in tables], 1)),
        "span": _by_word(spans),
        "unit": _by_word(units),
        "month": _by_word(months),
        "anymonth": _by_word(months) | _by_word(short),
        "weekday": weekdays,
        "anyday": weekdays,
        "n": _by_word(gathered(times.numbers for times in tables)),
    }
    if not plain:
        return kinds
    keep = _all_of(times.only_with_accents for times in tables)
    return {kind: _with_plain(known, keep) for kind, known in kinds.items()}


def _all_of(groups: Iterable[Iterable[T]]) -> list[T]:
    return list(chain.from_iterable(groups))


def _turns(tables: Sequence[WordsByName]) -> dict[str, str]:
    return {word: _TURNS[turn] for word, turn in _by_word(gathered(tables)).items()}


def _by_word(table: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """Return what each word means; the first meaning stays."""
    found: dict[str, str] = {}
    for meaning, words in table.items():
        for word in words:
            found.setdefault(word, meaning)
    return found


def _with_plain(known: Mapping[str, str], keep: Iterable[str]) -> dict[str, str]:
    """Add each word without its accents, which people leave out, but for those of `keep`."""
    found = dict(known)
    for word, meaning in known.items():
        if word not in keep:
            found.setdefault(without_accents(word), meaning)
    return found


def read_hints(vocabulary: Vocabulary) -> frozenset[str]:
    """Return words one of which is in every expression but a year: the longest of each name."""
    kinds = ("fixed", "span", "unit", "month", "anymonth", "weekday", "q")
    names = _all_of(vocabulary[kind] for kind in kinds)
    return frozenset(max(_WORD.findall(name), key=len) for name in names)


def hints_at_time(text: str) -> bool:
    """Return whether any word of the text may tell a time; fast, and without the grammar's patterns."""
    hints = _installed_hints()
    return any(word in hints for word in _WORD.findall(text.casefold())) or bool(
        _HINT_YEAR.search(text)
    )


@cache
def _installed_hints() -> frozenset[str]:
    return read_hints(read_vocabulary([one.times for one in installed_languages()]))


def _forms(
    tables: Sequence[Times], vocabulary: Vocabulary, words: WordsByName
) -> list[tuple[str, str]]:
    """Return the patterns of all forms in their order of trial, the shared ones of each form first."""
    templates = gathered(times.forms for times in tables)
    return [
        (form, expand(template, vocabulary, words))
        for form, own in templates.items()
        for template in own
    ]


def expand(
    template: str,
    vocabulary: Vocabulary,
    words: Mapping[str, Sequence[str]],
    day: str = _DAY,
) -> str:
    """Return the template with words in the place of {kinds}: names as groups of their kind.

    `day` is how a day's number is written. Raises ValueError: a kind is unknown.
    """

    def filled(place: re.Match[str]) -> str:
        kind = place[1]
        if kind == "x":
            return expand("(?:{span}|{weekday}|{month})", vocabulary, words)
        if kind == "day":
            return expand(day, vocabulary, words)
        if kind == "year":
            return f"(?P<year>{_YEAR})"
        if kind in vocabulary:
            return f"(?P<{kind}>{name_pattern(kind, vocabulary[kind])})"
        if kind in words:
            return _any(words[kind])
        raise ValueError(
            f"{template!r} names {{{kind}}}, of which no language has words"
        )

    return _PLACE.sub(filled, template)


def name_pattern(kind: str, names: Iterable[str]) -> str:
    """Return a pattern for any of the names, the longest first; of numbers also for digits."""
    longest_first = sorted(
        (re.escape(name) for name in names), key=lambda name: (-len(name), name)
    )
    digits = ["[0-9]{1,3}"] if kind == "n" else []
    return "|".join([*longest_first, *digits])


def _any(patterns: Iterable[str]) -> str:
    return f"(?:{'|'.join(patterns)})"


def _scan_pattern(templates: Sequence[str], words: WordsByName) -> re.Pattern[str]:
    """Compile one pattern for all forms; group `f3` is the fourth."""
    # Any word may stand for a number here: all numbers in each form take long to compile.
    loose = [_NUMBER.sub(r"\\w+", template) for template in templates]
    nameless = [NAMED_GROUP.sub("(?:", template) for template in loose]
    anything = "|".join(
        f"(?P<f{number}>{text})" for number, text in enumerate(nameless)
    )
    glued = "".join(rf"|(?<=\b{prefix})" for prefix in words["glued_before"])
    parts_of_day = f"(?: {_any(words['part_of_day'])})?(?:['’]s)?"
    left = _LEFT.replace("{glued}", glued)
    return re.compile(f"(?i){left}(?:{anything}){parts_of_day}{_RIGHT}")


def _lead_pattern(leads: WordsByName, words: WordsByName) -> re.Pattern[str]:
    kinds = "|".join(f"(?P<{kind}>{'|'.join(leads[kind])})" for kind in leads)
    edges = _any(words["edge"])
    return re.compile(
        rf"(?i)(?<![\w'’-])(?:(?:{kinds})\s+)?(?P<edge>(?:{edges})[\s-]+)?$"
    )


def _join_pattern(joins: Sequence[str], before: str) -> re.Pattern[str]:
    return re.compile(rf"(?i){before}{_any(joins)}\s*")


def _compiled(refusal: Refusal, words: WordsByName) -> Refused:
    def pattern(template: str) -> re.Pattern[str]:
        return re.compile(expand(template, {}, words))

    return Refused(
        name=refusal.name,
        form=pattern(refusal.form),
        lead=pattern(refusal.lead),
        before=pattern(refusal.before),
        phrase=pattern(refusal.phrase),
        behind=pattern(refusal.behind),
    )
