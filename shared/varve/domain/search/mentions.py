"""Which texts mention a person, thing or topic."""

from collections.abc import Iterable, Set

from varve.domain.language.named_words import split_words
from varve.domain.language.stems import stem_all, stems


def has_mentions(text: str, mentions: Iterable[Iterable[str]]) -> bool:
    """Return whether a text has all words of one phrase of each group, in some form."""
    held = stem_all(split_words(text))
    return all(_has_any(phrases, held) for phrases in mentions)


def _has_any(phrases: Iterable[str], held: Set[str]) -> bool:
    return any(_has_words(phrase, held) for phrase in phrases)


def _has_words(phrase: str, held: Set[str]) -> bool:
    return all(
        not held.isdisjoint(stems(word)) for word in split_words(phrase)
    )
