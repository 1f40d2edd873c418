"""The words of a text that can tell two situations apart: stems without stop words.

A word that the text denies is a separate clue: "no release" gives `¬releas`, which is
another stem than the `releas` of "a release".
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType

from varve.domain.language.stems import stemmer
from varve.domain.language.stopwords import DENIALS, EMPTY_IN_LESSONS
from varve.domain.language.tokens import fold

DENIED = "¬"
"""The first character of the stem of a denied word."""
REACH = 4
"""How many content words after a denial it covers, within its clause."""
_TOKEN = re.compile(r"[^\W\d_]+(?:['’]t\b)?|[.,;:!?()\n]")
_NOT_LETTERS = re.compile(r"['’]")
_TURNS = frozenset({
    "although", "and", "because", "but", "however", "since", "though", "when", "which",
    "while", "who", "aunque", "cuando", "desde", "pero", "porque", "que", "sino", "y",
})  # fmt: skip
"""Words that begin a clause that an earlier denial does not cover."""


@lru_cache(maxsize=8192)
def content_words(text: str) -> frozenset[str]:
    """Return the stems of a text's words without accents and without stop words.

    The English Snowball stemmer (Porter 2) serves every language: stems only have to be
    the same each time. The stem of a denied word begins with `DENIED`.
    """
    return frozenset(_spoken(text))


def spoken_words(text: str) -> Mapping[str, str]:
    """Return the same stems in the text's order, each with its last written form."""
    return MappingProxyType(_spoken(text))


def is_denied(stem: str) -> bool:
    """Return whether a stem is that of a denied word."""
    return stem.startswith(DENIED)


def opposite(stem: str) -> str:
    """Return the stem that says the opposite: the denied one, or without the denial."""
    return stem.removeprefix(DENIED) if is_denied(stem) else DENIED + stem


@lru_cache(maxsize=8192)
def _spoken(text: str) -> dict[str, str]:
    written, denied = _read_words(text)
    plain = [fold(word) for word in written]
    stems = stemmer("english").stemWords(plain)
    found: dict[str, str] = {}
    for stem, word, is_covered in zip(stems, written, denied, strict=True):
        found[DENIED + stem if is_covered else stem] = word
    return found


def _read_words(text: str) -> tuple[list[str], list[bool]]:
    """Return the content words of a text, and whether a denial covers each."""
    written: list[str] = []
    denied: list[bool] = []
    covered = 0
    for token in _tokens(text):
        plain = _NOT_LETTERS.sub("", fold(token))
        if plain in DENIALS:
            covered = REACH
        elif not plain.isalpha() or plain in _TURNS:
            covered = 0
        elif len(plain) > 1 and plain not in EMPTY_IN_LESSONS:
            written.append(token)
            denied.append(covered > 0)
            covered -= covered > 0
    return written, denied


def _tokens(text: str) -> Iterator[str]:
    for found in _TOKEN.finditer(text.casefold()):
        yield found[0]
