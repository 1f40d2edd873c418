"""Where in a message a request to forget may stand, and the thing that it means all about."""

import re
from collections.abc import Iterator
from enum import StrEnum
from functools import cache

from varve.domain.language.forgetting_words import ForgettingWords
from varve.domain.language.languages import installed_languages
from varve.domain.language.phrases import any_of
from varve.domain.language.timemarks import tells_time
from varve.domain.language.tokens import fold


class Naming(StrEnum):
    """How a request names what it is about."""

    OWN = "own"
    CLAUSE = "clause"
    STATEMENT = "statement"
    ANY = "any"
    PERSON = "person"
    TOLD = "told"
    SELF = "self"


def list_request_patterns() -> Iterator[str]:
    """Yield the patterns of the words that ask to forget, in all languages."""
    for language in installed_languages():
        yield from language.forgetting.asks
        yield from language.forgetting.erases
        yield from language.forgetting.erased
        yield from language.forgetting.myself


def may_ask(text: str) -> bool:
    """Return whether a text has a word that asks to forget."""
    return _compile_hint().search(fold(text)) is not None


def begin_politely(given: ForgettingWords) -> str:
    """Return the pattern of what may stand before a language's requests: "please"."""
    return rf"\W*(?:{any_of(given.polite)}\b[,.!:]* )*"


def end_trailing(given: ForgettingWords) -> str:
    """Return the pattern of what may stand behind a language's requests: "for good"."""
    return rf"(?:,? {any_of(given.trailing)}\b)*"


class Passives:
    """A language's requests that something be deleted."""

    def __init__(self, given: ForgettingWords) -> None:
        polite = begin_politely(given)
        erased = rf"(?P<erases>{any_of(given.erased)})\b"
        memory = rf"(?P<told>(?!))?(?P<memory> {any_of(given.memory)})?"
        trailing = end_trailing(given)
        self._patterns = [
            re.compile(
                polite
                + passive.replace("{erased}", erased)
                + memory
                + rf"{trailing}\W*"
            )
            for passive in given.passives
        ]

    def match(self, text: str) -> re.Match[str] | None:
        """Return the request that a folded text is, with its groups as any other has them."""
        found = (pattern.fullmatch(text) for pattern in self._patterns)
        return next(filter(None, found), None)


class Matters:
    """What a language's requests mean everything about: "the therapist thing"."""

    def __init__(self, given: ForgettingWords) -> None:
        trailing = end_trailing(given)
        self._patterns = [
            re.compile(rf"{matter}{trailing}\W*") for matter in given.matters
        ]

    def find(self, body: str, sentence: str) -> str:
        """Return what a request's folded body names so, else "".

        In a sentence of a time it may be a plan: "forget the Monday thing".
        "The PIN of the alarm" is the "alarm PIN".
        """
        for pattern in self._patterns:
            found = pattern.fullmatch(body)
            if found and not tells_time(sentence):
                named = found.groupdict()
                return " ".join(
                    filter(None, (named.get("of"), named["matter"]))
                )
        return ""


@cache
def _compile_hint() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(list_request_patterns())})")
