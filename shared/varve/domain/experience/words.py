"""The words of a text that can tell two situations apart: stems, without what every sentence has."""

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from Stemmer import Stemmer

_WORD = re.compile(r"[^\W\d_]{2,}")
_FUNCTION_WORDS = """
    a about after all also an and any are as at be because been before but by can could did do does for from
    had has have he her him his how if in into is it its just may me my no not now of off on once only or our
    out over own same she should so some such than that the their them then there these they this those to too
    under until up very was we were what when where which while who why will with would you your
    al algo como con cual cuando de del desde donde el ella ellos en entre era es esa ese eso esta este esto
    estan fue ha han hay la las le les lo los mas me mi muy ni nos o para pero por porque que se ser si sin
    sobre son su sus tambien te tiene un una uno y ya yo
"""
_STOPS = frozenset(_FUNCTION_WORDS.split())


@lru_cache(maxsize=8192)
def content_words(text: str) -> frozenset[str]:
    """The stems of a text's words, accents aside; function words of English and Spanish left out.

    The English Snowball stemmer (Porter 2) serves both languages: it only has to do the same each time.
    """
    return frozenset(_spoken(text))


def spoken_words(text: str) -> Mapping[str, str]:
    """The same stems in the text's order, each with the word it last stood for, as it is written."""
    return MappingProxyType(_spoken(text))


@lru_cache(maxsize=8192)
def _spoken(text: str) -> dict[str, str]:
    written = _WORD.findall(text.casefold().replace("_", " "))
    plain = [_without_accents(word) for word in written]
    stems = Stemmer("english").stemWords(plain)
    return {
        stem: word
        for stem, bare, word in zip(stems, plain, written, strict=True)
        if bare not in _STOPS
    }


def _without_accents(text: str) -> str:
    return "".join(
        c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c)
    )
