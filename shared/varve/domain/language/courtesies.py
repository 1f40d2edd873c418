"""Messages that only greet, thank or acknowledge, in the words of all languages."""

import re
import unicodedata
from collections.abc import Collection
from functools import cache

from varve.domain.language.languages import installed_languages
from varve.domain.language.timemarks import tells_time
from varve.domain.language.tokens import bare_words, fold

MAX_CHARACTERS = 200
"""A longer message is read as one that tells something."""

_LAST_WORD = re.compile(r",? ([^\W\d_][^\W\d]*)(?=\s*(?:[,.!?]|$))")
"""The word before a mark or the end, which may be a name."""
_OF_EMOJI = frozenset({"So", "Sk", "Mn", "Me", "Cf"})


def is_courtesy(text: str, names: Collection[str] = ()) -> bool:
    """Return whether a message only greets, thanks or acknowledges: "Got it, thanks Dana!".

    `names` are those of the speakers, who may be addressed, as others may with a capital
    letter behind a greeting or thanks. A message of nothing but emoji is one too; other
    symbols alone are none.
    """
    if len(text) > MAX_CHARACTERS:
        return False
    if _is_emoji(text):
        return True
    said = bare_words(fold(_LAST_WORD.sub(_leave_out_addressed, text)))
    addressed = bare_words(fold(" ".join(names)))
    rest = " ".join(word for word in said if word not in addressed)
    return bool(rest) and _build_phrases().fullmatch(f"{rest} ") is not None


def _is_emoji(text: str) -> bool:
    """Return whether a text has pictures and nothing else."""
    categories = {
        unicodedata.category(one) for one in text if one not in " \n"
    }
    return "So" in categories and categories <= _OF_EMOJI


def _leave_out_addressed(found: re.Match[str]) -> str:
    """Return nothing for the name of the one greeted; another word as it is.

    A day is no name: "Hi, Thursday" answers a question.
    """
    name = found[1]
    if not name[0].isupper() or tells_time(name):
        return found[0]
    before = fold(found.string[: found.start()])
    return "" if _build_greetings().search(before) else found[0]


@cache
def _build_greetings() -> re.Pattern[str]:
    """Compile the phrases that a name may follow, at the end of a text."""
    phrases: dict[str, None] = {}
    for language in installed_languages():
        phrases.update(dict.fromkeys(language.addressed))
    return re.compile(rf"(?:^|\W)(?:{'|'.join(phrases)})$")


@cache
def _build_phrases() -> re.Pattern[str]:
    """Compile the phrases of all languages, each followed by a space."""
    phrases: dict[str, None] = {}
    for language in installed_languages():
        phrases.update(dict.fromkeys(language.courtesies))
    longest_first = sorted(phrases, key=len, reverse=True)
    return re.compile(rf"(?:(?:{'|'.join(longest_first)}) )+")
