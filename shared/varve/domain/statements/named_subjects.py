"""Texts that begin with the name of another person: "Bo Larsen lives in Oslo"."""

import re
from functools import cache, lru_cache

from varve.domain.language.names import NAME
from varve.domain.language.stopwords import STOP_WORDS
from varve.domain.language.tokens import fold, words
from varve.domain.statements.cues import MAX_CACHED_TEXTS, join_phrases

_NAMED = re.compile(rf"\W*(?P<name>{NAME}),? (?P<rest>.*)")


def names_another(text: str, speaker: str) -> bool:
    """Return whether a text tells the state of one with another name than its speaker."""
    name = _find_subject(text)
    if not name:
        return False
    named, own = set(words(name)), set(words(speaker))
    return not (named <= own or (own and own <= named))


@lru_cache(maxsize=MAX_CACHED_TEXTS)
def _find_subject(text: str) -> str:
    """Return the name that a text begins with, before what it tells of a person; or ""."""
    found = _NAMED.match(text)
    if found is None or not _compile_states().match(fold(found["rest"])):
        return ""
    name = found["name"]
    first = name.partition(" ")[0]
    return "" if fold(first) in STOP_WORDS else name


@cache
def _compile_states() -> re.Pattern[str]:
    states = join_phrases(lambda language: language.names.person_states)
    return re.compile(rf"(?:{states})(?!\w)")
