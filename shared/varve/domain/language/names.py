"""Patterns for names as texts write them, from the words of all languages."""

from varve.domain.language.languages import installed_languages

UPPER = "A-ZÀ-ÖØ-ÞĀĂĄĆĈĊČĎĐĒĔĖĘĚĜĞĠĢĤĦĨĪĬĮİĴĶĹĻĽĿŁŃŅŇŌŎŐŒŔŖŘŚŜŞŠŢŤŦŨŪŬŮŰŲŴŶŸŹŻŽ"
"""The capital letters, for a class of characters."""


def _any(field: str) -> str:
    words: list[str] = []
    for language in installed_languages():
        words += getattr(language.names, field)
    return "|".join(words)


_CAPITAL = rf"(?!(?:{_any('not_names')})\b(?!-))[{UPPER}][\w&-]*(?:['.](?!s\b)\w+)*"
_JOINED = rf"(?:(?:{_any('particles')}) )?"
_NO_CHOICE = "".join(f"(?! {word} )" for word in _any("or_").split("|"))
NAME = rf"(?-i:(?>{_CAPITAL}(?: {_JOINED}{_CAPITAL}){{0,3}}))(?![\w'-]){_NO_CHOICE}"
"""One to four capitalized words, with particles between them."""

FIRST_NAME = rf"(?-i:(?>{_CAPITAL}(?: {_CAPITAL})?))(?=$|[ ,.;:!?)]|'s )"
"""One or two capitalized words."""
