"""Messages that only greet, thank or acknowledge, in the words of all languages."""

import re
from collections.abc import Collection
from functools import cache

from varve.domain.language.languages import installed_languages
from varve.domain.language.tokens import fold

MAX_CHARACTERS = 200
"""A longer message is read as one that tells something."""

_WORDS = re.compile(r"[^\W_]+")


def is_courtesy(text: str, names: Collection[str] = ()) -> bool:
    """Return whether a message only greets, thanks or acknowledges: "Got it, thanks Dana!".

    `names` are those of the speakers, who may be addressed. Symbols alone are no courtesy.
    """
    if len(text) > MAX_CHARACTERS:
        return False
    said = _WORDS.findall(fold(text))
    addressed = _WORDS.findall(fold(" ".join(names)))
    rest = " ".join(word for word in said if word not in addressed)
    return bool(rest) and _build_phrases().fullmatch(f"{rest} ") is not None


@cache
def _build_phrases() -> re.Pattern[str]:
    """Compile the phrases of all languages, each followed by a space."""
    phrases: dict[str, None] = {}
    for language in installed_languages():
        phrases.update(dict.fromkeys(language.courtesies))
    longest_first = sorted(phrases, key=len, reverse=True)
    return re.compile(rf"(?:(?:{'|'.join(longest_first)}) )+")
