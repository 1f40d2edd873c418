"""The persons whom a text names beside what is told of persons alone."""

import re
from collections.abc import Iterator
from functools import cache

from varve.domain.language.languages import installed_languages
from varve.domain.language.names import FIRST_NAME, NAME
from varve.domain.language.stopwords import DENIALS, STOP_WORDS
from varve.domain.language.tokens import fold
from varve.domain.statements.texts.cues import join_phrases, read_cues

_NAMED = re.compile(
    rf"(?<![\w'])(?P<name>{NAME})(?:,? (?=(?P<behind>.{{1,60}})))?"
)
_WHO = rf"(?:,? (?P<who>{NAME}))?"
_KIN = (
    re.compile(rf"(?P<whose>{FIRST_NAME})'s (?P<kin>\w+){_WHO}"),
    re.compile(rf"(?P<whose>{FIRST_NAME})'s \w+ (?P<kin>\w+){_WHO}"),
    re.compile(rf"(?<!\w)(?P<kin>\w+) (?:de|of) (?P<whose>{NAME}){_WHO}"),
)


def find_told_persons(text: str) -> list[str]:
    """Return the names of whom a text tells a state of persons, or relatives.

    "Ana lives in Utrecht" and "Ana's sister Clara" name persons, "Acme moved" names none.
    """
    names = dict.fromkeys([*_find_in_states(text), *_find_kin(text)])
    others = read_cues(text).persons if names else frozenset()
    no_names = others | STOP_WORDS | DENIALS
    return [
        name
        for name in names
        if fold(name) not in others and fold(name.split()[0]) not in no_names
    ]


def _find_in_states(text: str) -> Iterator[str]:
    for found in _NAMED.finditer(text):
        behind = found["behind"]
        if behind and _compile_states().match(fold(behind)):
            yield found["name"].removeprefix("A ")  # "a Ana le gusta"


def _find_kin(text: str) -> Iterator[str]:
    for pattern in _KIN:
        for found in pattern.finditer(text):
            if fold(found["kin"]) in _list_kin():
                yield from filter(None, (found["whose"], found["who"]))


@cache
def _compile_states() -> re.Pattern[str]:
    states = join_phrases(lambda language: language.names.person_only)
    return re.compile(rf"(?:{states})(?!\w)")


@cache
def _list_kin() -> frozenset[str]:
    """Return the folded words of relatives, in all languages."""
    words: set[str] = set()
    for language in installed_languages():
        for names in language.relatives.values():
            words.update(names)
    return frozenset(words)
