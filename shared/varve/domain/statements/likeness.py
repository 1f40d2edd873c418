"""How much a statement is what a few words name."""

from varve.domain.language.stems import stem_all, stems
from varve.domain.language.stopwords import COURTESIES, STOP_WORDS
from varve.domain.language.tokens import fold, words, written_words

LEAST_LIKENESS = 0.7
"""The least likeness at which words name a statement, from 0 to 1."""
_LEAST_ROOT = 6
"""Two words of one root begin with so many same letters."""
_MOST_ENDING = 3


def telling_words(text: str) -> list[str]:
    """Return the folded words that carry meaning, each once, without a possessive's "s"."""
    passed_over = STOP_WORDS | COURTESIES
    return list(
        dict.fromkeys(word for word in words(text) if word not in passed_over)
    )


def keep_telling(text: str) -> str:
    """Return the words of a text that carry meaning, as written."""
    passed_over = STOP_WORDS | COURTESIES
    kept = [one for one in written_words(text) if fold(one) not in passed_over]
    return " ".join(kept)


def word_likeness(query: str, text: str) -> float:
    """Return the share of the query's telling words that the text has in some form."""
    asked = telling_words(query)
    if not asked:
        return 0.0
    written = words(text)
    held = stem_all(written)
    found = sum(
        not held.isdisjoint(stems(word))
        or any(_share_root(word, other) for other in written)
        for word in asked
    )
    return found / len(asked)


def _share_root(word: str, other: str) -> bool:
    """Return whether two words differ in their endings alone: "allergy" and "allergic"."""
    plain = (word.rstrip("s"), other.rstrip("s"))
    shorter, longer = sorted(plain, key=len)
    root = shorter[:-1]
    if len(root) < _LEAST_ROOT or not longer.startswith(root):
        return False
    return len(longer) - len(root) <= _MOST_ENDING
