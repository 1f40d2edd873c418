"""The words of a text that can tell two situations apart: stems without stop words."""

import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from Stemmer import Stemmer

from varve.domain.language.stopwords import EMPTY_IN_LESSONS
from varve.domain.language.tokens import fold

_WORD = re.compile(r"[^\W\d_]{2,}")


@lru_cache(maxsize=8192)
def content_words(text: str) -> frozenset[str]:
    """Return the stems of a text's words without accents and without stop words.

    The English Snowball stemmer (Porter 2) serves every language: stems only have to be
    the same each time.
    """
    return frozenset(_spoken(text))


def spoken_words(text: str) -> Mapping[str, str]:
    """Return the same stems in the text's order, each with its last written form."""
    return MappingProxyType(_spoken(text))


@lru_cache(maxsize=8192)
def _spoken(text: str) -> dict[str, str]:
    written = _WORD.findall(text.casefold())
    plain = [fold(word) for word in written]
    stems = Stemmer("english").stemWords(plain)
    words = zip(stems, plain, written, strict=True)
    return {stem: word for stem, bare, word in words if bare not in EMPTY_IN_LESSONS}
