"""Words without their endings, by the Snowball stemmers of the languages."""

from functools import lru_cache

import Stemmer

from varve.domain.language.stopwords import STOP_WORDS_BY_STEMMER

MOST_STEMMED_ONCE = 4_096
_STEMMERS = tuple(Stemmer.Stemmer(name) for name in STOP_WORDS_BY_STEMMER)


@lru_cache(maxsize=MOST_STEMMED_ONCE)
def stems(word: str) -> tuple[str, ...]:
    """Return a word's stems, one for each language that has another; codes and numbers as they are."""
    if not word.isalpha():
        return (word,)
    return tuple(dict.fromkeys(stemmer.stemWord(word) for stemmer in _STEMMERS))
