"""Which words before a colon name a speaker, as in "Dana: I moved to Porto"."""

import re

from varve.domain.language.stopwords import NO_TOPICS
from varve.domain.language.tokens import fold

_ROLES = "assistant user system tool agent bot human unknown"
_HEADINGS = (
    "note notes nota address email phone password reminder update question answer "
    "summary subject error warning"
)
_ANYBODY = "nobody everybody everyone someone somebody"
NO_PERSON = frozenset(f"{_ROLES} {_HEADINGS} {_ANYBODY}".split())
"""Words before a colon that name no person."""

_MAX_NAME_WORDS = 3
_MAX_LOWER_WORDS = 2
_SMALL_NAME = re.compile(r"[^\W\d_][\w.'’-]*")


def is_name(text: str) -> bool:
    """Return whether the words are written as a name: "Dana", "Ana de Vries"."""
    first = text[:1]
    is_capital = first.isalpha() and not first.islower()
    return is_capital and len(text.split()) <= _MAX_NAME_WORDS


def is_small_name(text: str) -> bool:
    """Return whether words that begin a line may be a name in lower case: "dana", "ana ruiz".

    A word that everyday sentences have, such as "today", is none.
    """
    words = text.split()
    if not 1 <= len(words) <= _MAX_LOWER_WORDS:
        return False
    return all(map(_is_small_name_word, words))


def _is_small_name_word(word: str) -> bool:
    folded = fold(word)
    is_everyday = folded in NO_TOPICS or folded in NO_PERSON
    return not is_everyday and _SMALL_NAME.fullmatch(word) is not None
