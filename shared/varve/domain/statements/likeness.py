"""How much a statement is what a few words name."""

from varve.domain.language.stems import stem_all, stems
from varve.domain.language.stopwords import COURTESIES, STOP_WORDS
from varve.domain.language.tokens import words

LEAST_LIKENESS = 0.7
"""The least likeness at which words name a statement, from 0 to 1."""


def telling_words(text: str) -> list[str]:
    """Return the folded words that carry meaning, each once, without a possessive's "s"."""
    passed_over = STOP_WORDS | COURTESIES
    return list(
        dict.fromkeys(word for word in words(text) if word not in passed_over)
    )


def word_likeness(query: str, text: str) -> float:
    """Return the share of the query's telling words that the text has in some form."""
    asked = telling_words(query)
    if not asked:
        return 0.0
    held = stem_all(words(text))
    found = sum(not held.isdisjoint(stems(word)) for word in asked)
    return found / len(asked)
