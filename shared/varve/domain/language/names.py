"""Patterns for names as texts write them, from the words of all languages."""

from varve.domain.language.languages import installed_languages

UPPER = (
    "A-ZÀ-ÖØ-ÞĀĂĄĆĈĊČĎĐĒĔĖĘĚĜĞĠĢĤĦĨĪĬĮİĴĶĹĻĽĿŁŃŅŇŌŎŐŒŔŖŘŚŜŞŠŢŤŦŨŪŬŮŰŲŴŶŸŹŻŽ"
)
"""The capital letters, for a class of characters."""


def _collect(field: str) -> list[str]:
    words: list[str] = []
    for language in installed_languages():
        words += getattr(language.names, field)
    return words


_NOT_NAMES = "|".join(_collect("not_names"))
_PARTICLES = "|".join(_collect("particles"))
_NO_CHOICE = "".join(f"(?! {word} )" for word in _collect("or_"))
_CAPITAL = rf"(?!(?:{_NOT_NAMES})\b(?!-))[{UPPER}][\w&-]*(?:['.](?!s\b)\w+)*"
_TITLED = r"(?:(?:Mrs?|Ms|Dra?|Prof|Sra?|Srta|St[ae]?)\. )?"
_JOINED = rf"(?:(?:{_PARTICLES}) )?"
NAME = rf"(?-i:(?>{_TITLED}{_CAPITAL}(?: {_JOINED}{_CAPITAL}){{0,3}}))(?![\w'-]){_NO_CHOICE}"
"""One to four capitalized words, with particles between them, after a title such as "Mr."."""

FIRST_NAME = (
    rf"(?-i:(?>{_TITLED}{_CAPITAL}(?: {_CAPITAL})?))(?=$|[ ,.;:!?)]|'s )"
)
"""One or two capitalized words."""

GIVEN_NAME = rf"(?-i:(?>{_CAPITAL}))(?=$|[,.;:!?)])"
"""One capitalized word, and no other word after it."""
