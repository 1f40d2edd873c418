"""Words of texts, where a name that is also a stop word stays a word of its own.

"Will" and "Mia" are names if a text writes them as such, and words of grammar otherwise.
"""

import re
from functools import cache

from varve.domain.language.names import UPPER
from varve.domain.language.stopwords import STOP_WORDS, STOP_WORDS_BY_STEMMER
from varve.domain.language.tokens import fold, words, written_words

MAX_NAME_WORDS = 3
"""A text of more capitalized words is a heading."""
_CAPITALIZED = re.compile(rf"\b[{UPPER}][^\W\d_{UPPER}]+")
_BEGINNING = re.compile(r"(?:^|[.:!?…¿¡\"“«(\n•*–—-])\s*$")
_WORD_BEFORE = re.compile(r"(?:^|\s)(\S+)\s+$")


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
        if word not in names and fold(word) in STOP_WORDS:
            before = text[: found.start()]
            if _is_name(word, before, text):
                names.add(word)
    return names


def _is_name(word: str, before: str, text: str) -> bool:
    """Return whether a capitalized stop word is a name.

    At the beginning of a sentence it is one if the rest is in another language.
    """
    if _BEGINNING.search(before):
        return _is_of_other_language(word, text)
    previous = _WORD_BEFORE.search(before)
    return previous is not None and previous[1][0].islower()


def _is_of_other_language(word: str, text: str) -> bool:
    """Return whether no other word of a text is a stop word of the word's languages.

    A text of capitalized words alone is a name.
    """
    others = [one for one in written_words(text) if one != word]
    if all(one[0].isupper() for one in others):
        return len(others) < MAX_NAME_WORDS and not text.isupper()
    folded = [one for one in map(fold, others) if one in STOP_WORDS]
    own = _find_languages(fold(word))
    return bool(folded) and all(
        own.isdisjoint(_find_languages(one)) for one in folded
    )


@cache
def _find_languages(word: str) -> frozenset[str]:
    """Return the languages of which a word is a stop word."""
    return frozenset(
        language
        for language, listed in STOP_WORDS_BY_STEMMER.items()
        if word in listed
    )
