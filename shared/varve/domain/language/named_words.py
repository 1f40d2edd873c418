"""Words of texts, where a name that is also a stop word stays a word of its own.

"Will" and "Mia" are names if a text writes them as such, and words of grammar otherwise.
"""

import re
from functools import lru_cache

from varve.domain.language.names import UPPER
from varve.domain.language.stopwords import STOP_WORDS, STOP_WORDS_BY_STEMMER
from varve.domain.language.tokens import fold, words, written_words

MAX_CACHED_WORDS = 65_536
MAX_NAME_WORDS = 3
"""A text of more capitalized words is a heading."""
_CAPITALIZED = re.compile(rf"\b[{UPPER}][^\W\d_{UPPER}]+")
_WORD = re.compile(r"[^\W\d_]+")
_ENDS = frozenset('.:!?…¿¡"“«(*•–—-')
"""Marks before the first word of a sentence."""


def split_words(text: str) -> list[str]:
    """Return the folded words of a text; a name that is a stop word stays as written."""
    found = words(text)
    names = find_names(text)
    if not names:
        return found
    written = written_words(text)
    if len(written) != len(found):
        return found
    pairs = zip(written, found, strict=True)
    return [as_is if as_is in names else word for as_is, word in pairs]


def find_names(text: str) -> set[str]:
    """Return the stop words that a text writes as names."""
    names: set[str] = set()
    for found in _CAPITALIZED.finditer(text):
        word = found[0]
        if fold(word) not in STOP_WORDS or word in names:
            continue
        if _is_name(word, text[: found.start()].rstrip(), text):
            names.add(word)
    return names


def _is_name(word: str, before: str, text: str) -> bool:
    """Return whether a capitalized stop word is a name.

    At the beginning of a sentence it is one if the rest is in another language.
    """
    if not before or before[-1] in _ENDS:
        return _is_of_other_language(word, text)
    return before.rsplit(maxsplit=1)[-1][0].islower()


def _is_of_other_language(word: str, text: str) -> bool:
    """Return whether no other word of a text is a stop word of the word's languages.

    A text of capitalized words alone is a name.
    """
    own = _find_languages(fold(word))
    others = 0
    has_grammar = False
    shares_language = False
    is_all_capital = True
    for found in _WORD.finditer(text):
        other = found[0]
        if other == word:
            continue
        others += 1
        languages = _find_languages(fold(other))
        has_grammar = has_grammar or bool(languages)
        is_all_capital = is_all_capital and other[0].isupper()
        shares_language = shares_language or not own.isdisjoint(languages)
        if shares_language and not is_all_capital:
            return False
    if is_all_capital:
        return others < MAX_NAME_WORDS and not text.isupper()
    return has_grammar


@lru_cache(maxsize=MAX_CACHED_WORDS)
def _find_languages(word: str) -> frozenset[str]:
    """Return the languages of which a word is a stop word."""
    if word not in STOP_WORDS:
        return frozenset()
    return frozenset(
        language
        for language, listed in STOP_WORDS_BY_STEMMER.items()
        if word in listed
    )
