"""Words without their endings, by the Snowball stemmers of the languages."""

from functools import lru_cache

import Stemmer

from varve.domain.language.stopwords import STOP_WORDS_BY_STEMMER

MOST_STEMMED_ONCE = 4_096
_STEMMERS = tuple(Stemmer.Stemmer(name) for name in STOP_WORDS_BY_STEMMER)


@lru_cache(maxsize=MOST_STEMMED_ONCE)
def stems(word: str) -> tuple[str, ...]:
    """Return a word's different stems in all languages; codes and numbers stay as they are."""
    if not word.isalpha():
        return (word,)
    every = [stemmer.stemWord(word) for stemmer in _STEMMERS]
    return tuple(dict.fromkeys(every))
