"""Words without their endings, by the Snowball stemmers of the languages."""

from collections.abc import Iterable
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from varve.domain.language.languages import installed_languages
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


def stem(word: str, language: str) -> str:
    """Return the stem of a folded word by a language's stemmer; "ran" has that of "run"."""
    verb = _verbs_by_form()[language].get(word, word)
    root: str = stemmer(language).stemWord(verb)
    return root


@cache
def _verbs_by_form() -> dict[str, dict[str, str]]:
    """Return the verb of each irregular form, by the stemmer of its language."""
    return {
        language.words.stemmer: {
            form: verb
            for verb, forms in language.irregular.items()
            for form in forms.split()
        }
        for language in installed_languages()
    }


@lru_cache(maxsize=MOST_STEMMED_ONCE)
def stems(word: str) -> tuple[str, ...]:
    """Return a word's different stems in all languages; codes and numbers stay as they are."""
    if not word.isalpha():
        return (word,)
    every = [stem(word, language) for language in STOP_WORDS_BY_STEMMER]
    return tuple(dict.fromkeys(every))


def stem_all(words: Iterable[str]) -> frozenset[str]:
    """Return the stems of all these words in all languages."""
    return frozenset(stem for word in words for stem in stems(word))
