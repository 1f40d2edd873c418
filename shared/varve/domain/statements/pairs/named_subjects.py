"""Names in texts: of another person at the beginning, and those that two texts share."""

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from varve.domain.language.names import NAME
from varve.domain.language.stopwords import STOP_WORDS
from varve.domain.language.tokens import fold, words
from varve.domain.statements.texts.cues import (
    MAX_CACHED_TEXTS,
    Cues,
    join_phrases,
)
from varve.domain.statements.texts.particulars import TellingWord

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


def share_name(earlier: Cues, later: Cues) -> bool:
    """Return whether both texts have one name.

    "Oak School" and "Birch School" are two, and so are "Ana Ruiz" and "Bo Ruiz".
    """
    known = list(_list_names(earlier))
    return any(
        word.stems & other.stems and _follow_alike(before, of_other)
        for before, word in _list_names(later)
        if _is_long(word)
        for of_other, other in known
    )


def _list_names(
    cues: Cues,
) -> Iterator[tuple[TellingWord | None, TellingWord]]:
    """Yield the words of names, each with the one of a name before it, if there is one."""
    before: TellingWord | None = None
    for word in cues.particulars.telling:
        if word.named:
            yield before, word
        before = word if word.named else None


def _follow_alike(one: TellingWord | None, other: TellingWord | None) -> bool:
    """Return whether two words of names follow one word, or one of them follows none."""
    if one is None or other is None:
        return True
    return bool(one.stems & other.stems)


def _is_long(word: TellingWord) -> bool:
    return all(len(stem) > 2 for stem in word.stems)
