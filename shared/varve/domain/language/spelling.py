"""Words written in haste: "dont" without its apostrophe, "alergico" without its accent."""

import re
from functools import cache

from varve.domain.language.languages import installed_languages
from varve.domain.language.tokens import fold

_APOSTROPHE = "'"


def restore_apostrophes(text: str) -> str:
    """Return the text with the apostrophes that its words lack: "don't", "I'm".

    What may be another word is restored only where words beside it show that it is none:
    "its fixed", not "its colour".
    """
    return _without_apostrophes().sub(_restore, text)


def restore_accents(text: str) -> str:
    """Return the text with the accents that its words lack, by the same rule.

    A word with a capital may be a name.
    """
    return _without_accents().sub(_restore, text)


def restore_subject(text: str) -> str:
    """Return the text with the "I" that it leaves out at its beginning: "moved to Oslo"."""
    for unsaid, pattern in _unsaid():
        found = pattern.match(text)
        if found:
            lead, verb = found["lead"], found["verb"]
            rest = text[found.end() :]
            return f"{lead}{unsaid} {verb[0].lower()}{verb[1:]}{rest}"
    return text


@cache
def _unsaid() -> list[tuple[str, re.Pattern[str]]]:
    """Return what messages leave out at their beginning, before the words that show it."""
    found = []
    for language in installed_languages():
        greetings = "|".join(language.questions.greeting)
        lead = rf"(?P<lead>(?:(?:{greetings})[,.!:]* +)*)"
        for unsaid, verb in language.unsaid.items():
            pattern = re.compile(rf"\s*{lead}(?P<verb>{verb})", re.IGNORECASE)
            found.append((unsaid, pattern))
    return found


def _restore(found: re.Match[str]) -> str:
    """Return the right spelling of a word, in the case in which it is written."""
    written = found[0]
    spelt = _spellings()[written.casefold()]
    if written.isupper() and len(written) > 1:
        return spelt.upper()
    if written[0].isupper():
        return spelt[0].upper() + spelt[1:]
    return spelt


@cache
def _spellings() -> dict[str, str]:
    """Return the right spellings of all languages by those written in haste."""
    every: set[str] = set()
    for language in installed_languages():
        every |= language.words.respelt | language.respelt.keys()
    return {_write_hastily(spelt): spelt for spelt in every}


@cache
def _without_apostrophes() -> re.Pattern[str]:
    return re.compile(_join_places(has_apostrophe=True), re.IGNORECASE)


@cache
def _without_accents() -> re.Pattern[str]:
    return re.compile(_join_places(has_apostrophe=False))


def _join_places(*, has_apostrophe: bool) -> str:
    """Return the pattern of words written in haste, each where it is no other word."""
    patterns: list[str] = []
    for language in installed_languages():
        places = dict(language.respelt)
        for spelt in sorted(language.words.respelt):
            places[spelt] = _write_hastily(spelt)
        for spelt, place in places.items():
            if (_APOSTROPHE in spelt) is has_apostrophe:
                patterns.append(place)
    every = "|".join(patterns)
    return rf"(?<![\w'-])(?:{every})(?![\w'-])"


def _write_hastily(spelt: str) -> str:
    return fold(spelt).replace(_APOSTROPHE, "")
