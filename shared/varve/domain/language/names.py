"""Patterns for names as texts write them, from the words of all languages."""

from varve.domain.language.languages import installed_languages

UPPER = (
    "A-ZÀ-ÖØ-ÞĀĂĄĆĈĊČĎĐĒĔĖĘĚĜĞĠĢĤĦĨĪĬĮİĴĶĹĻĽĿŁŃŅŇŌŎŐŒŔŖŘŚŜŞŠŢŤŦŨŪŬŮŰŲŴŶŸŹŻŽ"
)
"""The capital letters, for a class of characters."""


def collect_name_words(field: str) -> list[str]:
    """Return the words of a field of `NameWords`, of all languages."""
    words: list[str] = []
    for language in installed_languages():
        words += getattr(language.names, field)
    return words


_NOT_NAMES = "|".join(collect_name_words("not_names"))
PARTICLES = "|".join(collect_name_words("particles"))
"""The words within a name or before an owner, such as "of" and "de"."""
_NO_CHOICE = "".join(f"(?! {word} )" for word in collect_name_words("or_"))
_CAPITAL = rf"(?!(?:{_NOT_NAMES})\b(?!-))[{UPPER}][\w&-]*(?:['.](?!s\b)\w+)*"
_TITLED = r"(?:(?:Mrs?|Ms|Dra?|Prof|Sra?|Srta|St[ae]?)\. )?"
_JOINED = rf"(?:(?:{PARTICLES}) )?"
NAME = rf"(?-i:(?>{_TITLED}{_CAPITAL}(?: {_JOINED}{_CAPITAL}){{0,3}}))(?![\w'-]){_NO_CHOICE}"
"""One to four capitalized words, with particles between them, after a title such as "Mr."."""

FIRST_NAME = (
    rf"(?-i:(?>{_TITLED}{_CAPITAL}(?: {_CAPITAL})?))(?=$|[ ,.;:!?)]|'s )"
)
"""One or two capitalized words."""

GIVEN_NAME = rf"(?-i:(?>{_CAPITAL}))(?=$|[,.;:!?)])"
"""One capitalized word, and no other word after it."""
