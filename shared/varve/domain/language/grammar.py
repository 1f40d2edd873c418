"""The date grammar: the patterns of expressions of time, built from the words of languages."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from varve.domain.language.languages import (
    Language,
    Refusal,
    Times,
    WordsByName,
    common_times,
    installed_languages,
    merge_times,
)
from varve.domain.language.vocabulary import (
    YEAR,
    Parts,
    Vocabulary,
    read_parts,
    read_vocabulary,
)

Pattern = re.Pattern[str]
Form = tuple[str, Pattern]
"""The name of a form, such as "ago", and its pattern."""

NAMED_GROUP = re.compile(r"\(\?P<\w+>")

_DAY = "(?:(?:{the_day}) )?(?P<day>0?[1-9]|[12][0-9]|3[01])(?:{ordinal})?"
_TURNED = "(?:{span}|{weekday}|{month}|{season}|{holiday})"
_NUMBER_GROUP = re.compile(r"\(\?P<n>[^)]*\)")
_PLACE = re.compile(r"\{([a-z_]+)\}")
_LEFT = r"(?:(?<![\w#$€£/\\.@'’-]){glued})"
_RIGHT = r"(?![\w/\\%°€$£@-]|[.,:]\d)"


@dataclass(frozen=True, slots=True)
class CompiledRefusal:
    """A refusal with its patterns compiled."""

    name: str
    form: Pattern
    lead: Pattern
    before: Pattern
    phrase: Pattern
    behind: Pattern

    def applies(
        self,
        form: str,
        lead: str,
        before: str,
        phrase: str,
        behind: str,
    ) -> bool:
        """Return whether all patterns of the refusal fit the expression and the text around it."""
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

    `scan` finds an expression, `lead` the preposition that ends the text before it. `forms` has
    the form and the pattern of each group of `scan`. `to`, `and_` and `or_` join two expressions.
    `year_alone` is the text of a question before a year that it asks about as a whole, `about_what`
    the text before a time whose "about" belongs to a verb. `southern` begins the names of the zones
    south of the equator.
    """

    vocabulary: Vocabulary
    forms: Sequence[Form]
    scan: Pattern
    lead: Pattern
    lead_kinds: Sequence[str]
    needs: WordsByName
    refused: Sequence[CompiledRefusal]
    to: Pattern
    and_: Pattern
    or_: Pattern
    year_alone: Pattern
    like_what: Pattern
    about_what: Pattern
    southern: Pattern

    def parse(self, match: re.Match[str]) -> tuple[str, Parts | None]:
        """Return the form of a match of `scan` and its parts.

        The parts are None where a word is unknown: `scan` takes any word for a number.
        """
        number = 0
        while match[f"f{number}"] is None:
            number += 1
        form, pattern = self.forms[number]
        # Not the group's text alone: a form may need a word before it.
        start, end = match.span(f"f{number}")
        found = pattern.fullmatch(match.string, start, end)
        if found is None:
            return form, None
        return form, read_parts(found, self.vocabulary)


@cache
def installed_grammar() -> Grammar:
    """Return the grammar of the languages that come with the package, compiled on first use."""
    return build_grammar(installed_languages())


def build_grammar(languages: Iterable[Language]) -> Grammar:
    """Build the grammar of questions; a question may mix the words of the languages."""
    own_times = [language.times for language in languages]
    times = merge_times([common_times(), *own_times])
    words = times.words
    vocabulary = read_vocabulary(times)
    forms = expand_forms(times, vocabulary, words, _DAY)
    patterns = [pattern for _, pattern in forms]
    like_what = _any(words["like_what"])
    return Grammar(
        vocabulary=vocabulary,
        forms=compile_forms(forms),
        scan=_build_scan(patterns, words, vocabulary["some"]),
        lead=_build_lead(times),
        lead_kinds=list(times.leads),
        needs=times.needs,
        refused=_compile_refusals(times),
        to=_build_join(times.joins["to"], r"\s*"),
        and_=_build_join(times.joins["and"], r"\s*"),
        or_=_build_join(times.joins["or"], r",?\s*"),
        year_alone=_build_year_alone(words),
        like_what=re.compile(rf"(?i)^ {like_what}\b"),
        about_what=re.compile(rf"(?is){_any(words['about_what'])} $"),
        southern=re.compile(_any(words["southern"])),
    )


def expand_forms(
    times: Times, vocabulary: Vocabulary, words: WordsByName, day: str
) -> list[tuple[str, str]]:
    """Return each form with its pattern, in the order of trial.

    `day` is the pattern of a day's number. Raises ValueError: a form names an unknown kind.
    """
    patterns: list[tuple[str, str]] = []
    for form, templates in times.forms.items():
        for template in templates:
            pattern = _expand(template, vocabulary, words, day)
            patterns.append((form, pattern))
    return patterns


def compile_forms(
    forms: Iterable[tuple[str, str]],
) -> list[Form]:
    """Compile the pattern of each form, in any case of letters."""
    compiled: list[Form] = []
    for form, text in forms:
        pattern = re.compile(text, re.IGNORECASE)
        compiled.append((form, pattern))
    return compiled


def _expand(
    template: str, vocabulary: Vocabulary, words: WordsByName, day: str
) -> str:
    """Return the template with words in the place of {kinds}: names as groups of their kind."""
    first = day.replace("(?P<day>", "(?P<first>")
    more = NAMED_GROUP.sub("(?:", day)
    nested = {"x": _TURNED, "day": day, "first": first, "more": more}

    def fill(place: re.Match[str]) -> str:
        kind = place[1]
        if kind in nested:
            return _expand(nested[kind], vocabulary, words, day)
        if kind == "year":
            return f"(?P<year>{YEAR})"
        if kind in vocabulary:
            names = _name_pattern(kind, vocabulary[kind])
            return f"(?P<{kind}>{names})"
        if kind in words:
            return _any(words[kind])
        raise ValueError(
            f"{template!r} names {{{kind}}}, but no language has words for it"
        )

    return _PLACE.sub(fill, template)


def _name_pattern(kind: str, names: Iterable[str]) -> str:
    """Return a pattern for any of the names, the longest first; of numbers also for digits."""
    alternatives = [re.escape(name).replace("'", "['’]") for name in names]
    alternatives.sort()
    alternatives.sort(key=len, reverse=True)
    if kind == "n":
        alternatives.append("[0-9]{1,3}")
    return "|".join(alternatives)


def _any(patterns: Iterable[str]) -> str:
    alternatives = "|".join(patterns)
    return f"(?:{alternatives})"


def _build_scan(
    forms: Sequence[str], words: WordsByName, vague: Iterable[str]
) -> Pattern:
    """Compile one pattern for all forms; group `f3` is the fourth."""
    numbered: list[str] = []
    number_word = rf"(?!{_any(vague)}\\b)\\w+"
    for number, form in enumerate(forms):
        # Nearly any word may stand for a number here: all numbers take long to compile.
        loose = _NUMBER_GROUP.sub(number_word, form)
        nameless = NAMED_GROUP.sub("(?:", loose)
        numbered.append(f"(?P<f{number}>{nameless})")
    expression = _any(numbered)
    glued = [rf"|(?<=\b{prefix})" for prefix in words["glued_before"]]
    left = _LEFT.replace("{glued}", "".join(glued))
    part_of_day = _any(words["part_of_day"])
    right = f"(?: {part_of_day})?(?:['’]s)?{_RIGHT}"
    return re.compile(f"(?i){left}{expression}{right}")


def _build_lead(times: Times) -> Pattern:
    """Compile the pattern of a preposition at the end of a text.

    "The end of", "the week of" or "about" may follow it.
    """
    groups: list[str] = []
    for kind, patterns in times.leads.items():
        alternatives = "|".join(patterns)
        groups.append(f"(?P<{kind}>{alternatives})")
    preposition = _any(groups)
    edges = _any(times.words["edge"])
    edge = rf"(?P<edge>{edges}[\s-]+)"
    week = rf"(?P<week>{_any(times.words['week_of'])}\s+)"
    near = rf"(?P<near>{_any(times.words['about'])}\s+)"
    return re.compile(
        rf"(?i)(?<![\w'’-])(?:{preposition}\s+)?(?:{edge}|{week}|{near})?$"
    )


def _build_join(joins: Sequence[str], before: str) -> Pattern:
    words = _any(joins)
    return re.compile(rf"(?i){before}{words}\s*")


def _build_year_alone(words: WordsByName) -> Pattern:
    """Compile the pattern of a question before its year: "how was (the year)"."""
    how = _any(words["how"])
    it_was = _any(words["it_was"])
    the_year = _any(words["the_year"])
    return re.compile(rf"(?i)\W*{how}\W+{it_was}\W+(?:{the_year}\W+)?")


def _compile_refusals(times: Times) -> list[CompiledRefusal]:
    return [
        _compile_refusal(refusal, times.words) for refusal in times.refused
    ]


def _compile_refusal(refusal: Refusal, words: WordsByName) -> CompiledRefusal:
    def build_pattern(template: str) -> Pattern:
        return re.compile(_expand(template, {}, words, _DAY))

    return CompiledRefusal(
        name=refusal.name,
        form=build_pattern(refusal.form),
        lead=build_pattern(refusal.lead),
        before=build_pattern(refusal.before),
        phrase=build_pattern(refusal.phrase),
        behind=build_pattern(refusal.behind),
    )
