"""What users ask of themselves: "What do I do for a living?" asks for `works_as`.

The words are those by which users ask to forget the same: "forget what I do for a living".
"""

from collections.abc import Iterator
from functools import cache

from varve.domain.language.tokens import fold
from varve.domain.rules import LANGUAGE_READERS

_MARKS = " ¿?¡!.,"


def find_asked_predicate(question: str) -> str | None:
    """Return the predicate of the user's own attribute that a question asks for, if any."""
    asked = " ".join(fold(question).replace("’", "'").split()).strip(_MARKS)
    known = _read_told()
    found = (known.get(one) for one in _list_tellings(asked))
    return next(filter(None, found), None)


def _list_tellings(asked: str) -> Iterator[str]:
    """Yield a folded question as it is, and in the order of words of a statement."""
    yield asked
    for reader in LANGUAGE_READERS:
        for pattern, told in reader.language.inversions:
            found = pattern.fullmatch(asked)
            if found:
                yield found.expand(told)


@cache
def _read_told() -> dict[str, str]:
    """Return the predicates of all languages by the folded words that name them."""
    return {
        fold(words): predicate
        for reader in LANGUAGE_READERS
        for words, predicate in reader.language.forgettable.items()
    }
