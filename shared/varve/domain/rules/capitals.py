"""Names in texts that are written without capitals: "i live in leeds", "my boyfriend tom".

The rules know a name by its capital. Who writes none at all, or only the first letter of a
sentence with one, writes names without it too. What follows words that a name follows gets one,
and only where the next word cannot belong to it. So does a given name that is no other word.
"""

import re
from collections.abc import Iterable
from functools import cache

from varve.domain.language.languages import installed_languages
from varve.domain.language.names import UPPER, collect_name_words
from varve.domain.language.stopwords import GIVEN_NAMES, STOP_WORDS
from varve.domain.language.tokens import fold
from varve.domain.rules.names import PLACES

_UNCOUNTED = re.compile(
    rf"\bI\b|(?:^|[.!?¿¡\n]\s{{0,3}})[{UPPER}](?=[^{UPPER}]|$)"
)
"""Capitals that phones write by themselves: "I", and the first letter of a sentence."""
_LETTERS = r"[^\W\d_]{2,}"
_WORD = rf"{_LETTERS}(?:-{_LETTERS})*"
_NEXT = re.compile(r"\s+([^\W\d_]+)")


def restore_capitals(text: str) -> str:
    """Return the text with capitals for the names that it has in plain places.

    A text with a capital that a phone does not write by itself stays as it is.
    """
    others = _UNCOUNTED.sub("", text)
    if others != others.lower():
        return text
    told = _after_leads().sub(_capitalize, text)
    told = _in_places().sub(_capitalize, told)
    told = _persons().sub(_capitalize_person, told)
    return _given().sub(_capitalize_given, told)


def _capitalize(found: re.Match[str]) -> str:
    name = found["name"]
    if fold(name) in _list_unnamed() or not _ends(found):
        return found[0]
    return found["lead"] + _with_capitals(name)


def _capitalize_person(found: re.Match[str]) -> str:
    """Return a relative with the name's capital: a given name, or a word before what persons do."""
    name = fold(found["name"])
    is_unnamed = name in _list_unnamed() or name.endswith(_ADVERBS)
    is_told_of = not is_unnamed and _does_as_persons(found)
    if name not in GIVEN_NAMES and not is_told_of:
        return found[0]
    return found["lead"] + _with_capitals(found["name"])


def _capitalize_given(found: re.Match[str]) -> str:
    name = found["name"]
    if found["article"] or fold(name) not in GIVEN_NAMES:
        return found[0]
    if not (_ends(found) or _does_as_persons(found)):
        return name
    return _with_capitals(name)


def _with_capitals(name: str) -> str:
    return re.sub(_WORD, lambda word: word[0].capitalize(), name)


def _ends(found: re.Match[str]) -> bool:
    """Return whether no word behind a name may belong to it: "leeds and", not "leeds castle"."""
    following = _NEXT.match(found.string, found.end())
    return following is None or fold(following[1]) in _list_followers()


def _does_as_persons(found: re.Match[str]) -> bool:
    """Return whether what stands behind a word is told of no company, place or thing."""
    end = found.end()
    rest = fold(found.string[end : end + _MOST_READ]).lstrip(" ")
    return _only_of_persons().match(rest) is not None


@cache
def _list_unnamed() -> frozenset[str]:
    """Return the folded words that follow such words, and are no names."""
    return STOP_WORDS | frozenset(collect_name_words("unnamed"))


@cache
def _list_followers() -> frozenset[str]:
    """Return the folded words that stand behind a name and are no part of it."""
    return STOP_WORDS | frozenset(collect_name_words("followers"))


@cache
def _only_of_persons() -> re.Pattern[str]:
    states = "|".join(collect_name_words("person_only"))
    return re.compile(rf"(?:{states})\b")


@cache
def _after_leads() -> re.Pattern[str]:
    """Return a name behind words that a name follows; a known place may have several words."""
    leads = "|".join(collect_name_words("before_name"))
    places = (place for place in PLACES if " " in place)
    return _build_named(leads, [*_sort_longest_first(places), _WORD])


@cache
def _in_places() -> re.Pattern[str]:
    """Return a known place behind words that a place follows."""
    leads = "|".join(collect_name_words("before_place"))
    return _build_named(leads, _sort_longest_first(PLACES))


def _build_named(leads: str, names: Iterable[str]) -> re.Pattern[str]:
    return re.compile(
        rf"(?P<lead>\b(?:{leads}) )(?P<name>{'|'.join(names)})(?![\w'’@./-]*\w)",
        re.IGNORECASE,
    )


def _sort_longest_first(names: Iterable[str]) -> list[str]:
    return sorted(map(re.escape, names), key=len, reverse=True)


@cache
def _persons() -> re.Pattern[str]:
    """Return a word behind those for a relative of the writer."""
    leads = "|".join(collect_name_words("before_person"))
    return re.compile(
        rf"(?P<lead>\b(?:{leads}),? (?!\w+ \d))(?P<name>{_WORD}){_NO_PART}",
        re.IGNORECASE,
    )


@cache
def _given() -> re.Pattern[str]:
    """Return any word, with the article before it."""
    articles: list[str] = []
    for language in installed_languages():
        articles += map(str.strip, language.times.words.get("article", ()))
        articles += language.forgetting.articles
    before = rf"(?P<article>\b(?:{'|'.join(articles)})\s+)?"
    return re.compile(
        rf"(?<![\w@#/.'’-]){before}(?P<name>{_LETTERS}){_NO_PART}(?!\.\w)",
        re.IGNORECASE,
    )


_NO_PART = r"(?!['’]?(?!s\b)[\w@/-])"
"""Follows a whole word, or one with a possessive "'s"."""
_ADVERBS = ("ly", "mente")
_MOST_READ = 60
"""So many characters behind a word tell what it does."""
