"""Words by which a sentence speaks of a condition, an order, a degree or the past.

A word of several languages means what it means in the first one: "se" is "if" in Portuguese
and no such word in Spanish. In a later language it counts where the sentence shows that
language.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from varve.domain.language.languages import Language, installed_languages
from varve.domain.language.stopwords import united
from varve.domain.language.tokens import fold


def find_qualifiers(written: Sequence[str]) -> frozenset[str]:
    """Return the folded qualifiers among a sentence's words as they are written.

    An accent that a language writes makes another word: "sí" and "sé" are no "si" and
    "se".
    """
    folded = frozenset(map(fold, written))
    found = _every() & folded
    if not found.isdisjoint(_without_accents()):
        found -= _without_accents() - _list_plain(written)
    return frozenset(
        word for word in found if _counts(word, folded, _marks_of_shared())
    )


def _counts(
    word: str, folded: frozenset[str], shared: Mapping[str, frozenset[str]]
) -> bool:
    return word not in shared or not shared[word].isdisjoint(folded)


def _list_plain(written: Iterable[str]) -> frozenset[str]:
    """Return the words that are written without an accent."""
    plain = (word.casefold() for word in written)
    return frozenset(word for word in plain if word == fold(word))


@cache
def _every() -> frozenset[str]:
    return united(installed_languages(), "qualifiers")


@cache
def _without_accents() -> frozenset[str]:
    return united(installed_languages(), "only_without_accents")


@cache
def _marks_of_shared() -> Mapping[str, frozenset[str]]:
    """Return the words that show a later language, by its qualifiers of another meaning."""
    marks: dict[str, frozenset[str]] = {}
    plain: set[str] = set()
    known: set[str] = set()
    for language in installed_languages():
        qualifiers = language.words.qualifiers
        for word in qualifiers & plain - known:
            marks[word] = marks.get(word, frozenset()) | _list_marks(language)
        known |= qualifiers - marks.keys()
        plain |= language.words.stop_words - qualifiers
    return marks


def _list_marks(language: Language) -> frozenset[str]:
    return language.words.marks | language.words.changes
