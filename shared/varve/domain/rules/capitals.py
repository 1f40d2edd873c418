"""Names in texts that are written without capitals: "i live in leeds".

The rules know a name by its capital. Who writes none at all writes names without it too.
Only what follows words that a name follows gets one, and only where the next word cannot
belong to it.
"""

import re
from functools import cache

from varve.domain.language.names import collect_name_words
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
    others = _OWN.sub("", text)
    if others != others.lower():
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
    return STOP_WORDS | frozenset(collect_name_words("unnamed"))


@cache
def _list_followers() -> frozenset[str]:
    """Return the folded words that stand behind a name and are no part of it."""
    return STOP_WORDS | frozenset(collect_name_words("followers"))


@cache
def _named() -> re.Pattern[str]:
    """Return a name behind words that a name follows; a known place may have several words."""
    leads = "|".join(collect_name_words("before_name"))
    places = (place for place in PLACES if " " in place)
    longest_first = sorted(places, key=len, reverse=True)
    name = "|".join([*map(re.escape, longest_first), _WORD])
    return re.compile(
        rf"(?P<lead>\b(?:{leads}) )(?P<name>{name})(?![\w'’@./-]*\w)",
        re.IGNORECASE,
    )
