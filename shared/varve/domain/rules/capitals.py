"""Names in texts that are written without capitals: "i live in leeds".

The rules know a name by its capital. Who writes none at all writes names without it too.
Only what follows words that a name follows gets one, and only where the next word cannot
belong to it.
"""

import re
from functools import cache

from varve.domain.language.languages import installed_languages
from varve.domain.language.stopwords import STOP_WORDS
from varve.domain.language.tokens import fold
from varve.domain.rules.names import PLACES

_OWN = re.compile(r"\bI\b")
"""Many write this one with a capital, and nothing else."""
_WORD = r"[^\W\d_]{2,}(?:-[^\W\d_]{2,})*"
_NEXT = re.compile(r"\s+([^\W\d_]+)")


def restore_capitals(text: str) -> str:
    """Return the text with capitals for the names that it has in plain places.

    A text with a capital, but for "I", stays as it is.
    """
    if text != text.lower() and any(map(str.isupper, _OWN.sub("", text))):
        return text
    return _named().sub(_capitalize, text)


def _capitalize(found: re.Match[str]) -> str:
    lead, name = found["lead"], found["name"]
    if fold(name) in _list_unnamed() or not _ends(found):
        return found[0]
    return lead + re.sub(_WORD, lambda word: word[0].capitalize(), name)


def _ends(found: re.Match[str]) -> bool:
    """Return whether no word behind a name may belong to it: "leeds and", not "leeds castle"."""
    following = _NEXT.match(found.string, found.end())
    return following is None or fold(following[1]) in _list_followers()


@cache
def _list_unnamed() -> frozenset[str]:
    """Return the folded words that follow such words, and are no names."""
    every = set(STOP_WORDS)
    for language in installed_languages():
        every |= set(language.names.unnamed)
    return frozenset(every)


@cache
def _list_followers() -> frozenset[str]:
    every = set(STOP_WORDS)
    for language in installed_languages():
        every |= set(language.names.followers)
    return frozenset(every)


@cache
def _named() -> re.Pattern[str]:
    """Return a name behind words that a name follows; a known place may have several words."""
    leads: list[str] = []
    for language in installed_languages():
        leads += language.names.before_name
    places = sorted((place for place in PLACES if " " in place), key=len)
    name = "|".join([*map(re.escape, reversed(places)), _WORD])
    return re.compile(
        rf"(?P<lead>\b(?:{'|'.join(leads)}) )(?P<name>(?:{name}))(?![\w'’@./-]*\w)",
        re.IGNORECASE,
    )
