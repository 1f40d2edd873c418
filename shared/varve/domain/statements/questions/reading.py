"""What the cross-encoder reads, beside the signals, where a question asks for what holds.

Of plain statements it knows less than the signals, so it reads talk alone.
"""

from varve.domain.language.languages import installed_language
from varve.domain.language.tokens import words
from varve.domain.statements.encoder.cross_encoder import (
    LANGUAGES,
    read_pair,
    read_statement,
)
from varve.domain.statements.questions.asking import Asking

LEAST_READ = -3.0
"""No pair of a lesser score is read, for that takes some 20 ms."""
LEAST_READ_OF_ANSWERS = -9.0
"""The same of a pair whose earlier statement reads as an answer, and whose later one may be one."""
MAY_ANSWER = -2.0
"""What is read of a statement that may answer adds more than this to its odds."""
MAX_ROWS_READ = 8
"""So many of the statements that likeliest answer are read, which takes some 15 ms each."""
PAIR_BIAS, OF_PAIR = 5.0, 2.0
"""What is read of a pair counts `OF_PAIR` times, and `PAIR_BIAS` is added: the signals are less
sure than what is read.
"""
OF_ROW = 1.5
"""What is read of a statement counts so many times."""
LEAST_STOP_WORDS = 0.2
"""Texts of a language have at least this share of its stop words."""


def read_pair_odds(asking: Asking, earlier: str, later: str) -> float:
    """Return how much likelier than by its signals alone a pair supersedes.

    0 for a language that the cross-encoder does not read.
    """
    if not _reads(asking) or not _can_read(earlier, later):
        return 0.0
    read = read_pair(asking.text, earlier, later)
    return PAIR_BIAS + OF_PAIR * read


def read_row_odds(asking: Asking, text: str) -> float:
    """Return how much likelier than by its signals alone a statement answers, likewise."""
    if not _reads(asking) or not _can_read(text):
        return 0.0
    return OF_ROW * read_statement(asking.text, text)


def _reads(asking: Asking) -> bool:
    """Return whether a question asks for what holds, in talk that is more than a first try."""
    if asking.is_of_one_matter:
        return True
    return asking.is_of_state and asking.is_of_talk and asking.tells_much


def _can_read(*texts: str) -> bool:
    """Return whether texts are in a language of the cross-encoder, by their stop words."""
    said = [word for text in texts for word in words(text)]
    most = max(
        installed_language(code).words.count_stop_words(said)
        for code in LANGUAGES
    )
    return most >= LEAST_STOP_WORDS * len(said)
