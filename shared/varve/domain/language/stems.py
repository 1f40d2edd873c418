"""Words without their endings, by the Snowball stemmers of the languages."""

from collections.abc import Iterable
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from varve.domain.language.stopwords import STOP_WORDS_BY_STEMMER

if TYPE_CHECKING:
    from Stemmer import Stemmer

MOST_STEMMED_ONCE = 4_096


@cache
def stemmer(language: str) -> "Stemmer":
    """Return the language's stemmer; build it on first use."""
    from Stemmer import (
        Stemmer,
    )  # here, because functions that stem nothing load this

    return Stemmer(language)


@lru_cache(maxsize=MOST_STEMMED_ONCE)
def stems(word: str) -> tuple[str, ...]:
    """Return a word's different stems in all languages; codes and numbers stay as they are."""
    if not word.isalpha():
        return (word,)
    every = [
        stemmer(language).stemWord(word) for language in STOP_WORDS_BY_STEMMER
    ]
    return tuple(dict.fromkeys(every))


def stem_all(words: Iterable[str]) -> frozenset[str]:
    """Return the stems of all these words in all languages."""
    return frozenset(stem for word in words for stem in stems(word))
