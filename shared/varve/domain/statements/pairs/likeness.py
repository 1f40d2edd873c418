"""How much a statement is what a few words name."""

from functools import cache

from varve.domain.language.languages import installed_languages
from varve.domain.language.named_words import find_names
from varve.domain.language.stems import stem_all, stems
from varve.domain.language.stopwords import COURTESIES, STOP_WORDS, united
from varve.domain.language.tokens import fold, written_words
from varve.domain.statements.texts.particulars import is_date_word

LEAST_LIKENESS = 0.7
"""The least likeness at which words name a statement, from 0 to 1."""
_LEAST_ROOT = 6
"""Two words of one root begin with so many same letters."""
_MOST_ENDING = 3
_PASSED_OVER = STOP_WORDS | COURTESIES


def telling_words(text: str) -> list[str]:
    """Return the folded words that carry meaning, each once, without a possessive's "s"."""
    return list(dict.fromkeys(map(fold, _list_telling(text))))


def keep_telling(text: str) -> str:
    """Return the words of a text that carry meaning, as written."""
    return " ".join(_list_telling(text))


def word_likeness(query: str, text: str) -> float:
    """Return the share of the query's telling words that the text has in some form."""
    asked = {fold(word): word for word in _list_telling(query)}
    if not asked:
        return 0.0
    told = {fold(word): word for word in _list_telling(text)}
    # "Will" begins a sentence as a name or not: a query for a name has both.
    written = set(written_words(text))
    told |= {
        plain: word
        for plain, word in asked.items()
        if word[0].isupper() and word in written
    }
    found = sum(
        plain in told or any(is_same_word(word, one) for one in told.values())
        for plain, word in asked.items()
    )
    return found / len(asked)


def is_same_word(word: str, other: str) -> bool:
    """Return whether two words, as written, are forms of one or of one root.

    "Carlos" is another name than "Carla", and "lunes" no form of "Luna".
    """
    one, two = fold(word), fold(other)
    if one == two:
        return True
    if is_date_word(one) != is_date_word(two):
        return False
    if word[0].isupper() and other[0].isupper():
        return one.rstrip("s") == two.rstrip("s")
    return not stem_all([one]).isdisjoint(stems(two)) or _share_root(one, two)


def _list_telling(text: str) -> list[str]:
    written = written_words(text)
    names = find_names(text)
    return [
        word
        for before, word in zip(("", *written), written, strict=False)
        if word in names
        or fold(word) not in _PASSED_OVER
        or _is_thing(fold(before), fold(word))
    ]


def _is_thing(before: str, word: str) -> bool:
    """Return whether a word is a thing behind a determiner of its language: "my son".

    In another language it may carry no meaning.
    """
    return any(
        before in determiners and word not in empty
        for determiners, empty in _list_determiners()
    )


@cache
def _list_determiners() -> list[tuple[frozenset[str], frozenset[str]]]:
    """Return each language's words before a thing, with its words without meaning.

    "A" is such a word in English and none in Spanish: it shows no language.
    """
    found = []
    for language in installed_languages():
        given = language.forgetting
        others = united(
            (one for one in installed_languages() if one is not language),
            "stop_words",
        )
        determiners = {
            *given.own,
            *language.changes.theirs,
            *given.articles,
        } - others
        empty = language.words.stop_words | language.words.courtesies
        found.append((frozenset(determiners), empty))
    return found


def _share_root(word: str, other: str) -> bool:
    """Return whether two words differ in their endings alone: "allergy" and "allergic"."""
    plain = (word.rstrip("s"), other.rstrip("s"))
    shorter, longer = sorted(plain, key=len)
    root = shorter[:-1]
    if len(root) < _LEAST_ROOT or not longer.startswith(root):
        return False
    return len(longer) - len(root) <= _MOST_ENDING
