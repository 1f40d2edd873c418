"""The words of a text that can tell two situations apart: stems, without what every sentence has."""

import re
import unicodedata
from functools import lru_cache

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
    plain = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    words = (w for w in _WORD.findall(plain.casefold().replace("_", " ")) if w not in _STOPS)
    return frozenset(Stemmer("english").stemWords(list(words)))
