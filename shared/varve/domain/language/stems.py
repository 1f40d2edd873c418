"""Words without their endings, by the Snowball stemmers of the languages."""

from functools import cache, lru_cache
from typing import TYPE_CHECKING

from varve.domain.language.stopwords import STOP_WORDS_BY_STEMMER

if TYPE_CHECKING:
    from Stemmer import Stemmer

MOST_STEMMED_ONCE = 4_096


@lru_cache(maxsize=MOST_STEMMED_ONCE)
def stems(word: str) -> tuple[str, ...]:
    """Return a word's different stems in all languages; codes and numbers stay as they are."""
    if not word.isalpha():
        return (word,)
    every = [stemmer.stemWord(word) for stemmer in _stemmers()]
    return tuple(dict.fromkeys(every))


@cache
def _stemmers() -> "tuple[Stemmer, ...]":
    """Return the languages' stemmers; a function that only takes in words loads none."""
    from Stemmer import Stemmer

    return tuple(Stemmer(name) for name in STOP_WORDS_BY_STEMMER)
