"""What an agent's phrase asks for: it searches for "user's rent" where its user says "my rent"."""

import re
from functools import cache

from varve.domain.language.languages import installed_languages
from varve.domain.language.tokens import words
from varve.domain.statements.texts.cues import (
    join_phrases,
    read_cues,
    restore_question_mark,
)

LEAST_WORDS, MOST_WORDS = 2, 8
"""A word alone is a name or a topic, and more words than these are rarely a phrase."""
_SENTENCE = re.compile(r"[?¿!…:;,\n]|\.(?:\s|$)")


def restore_question(text: str, *, is_of_user: bool = False) -> str:
    """Return the question that a search's text stands for, with its mark, else the text.

    "user's current rent" is "my current rent?". `is_of_user`: one user's memory is searched, and
    there "plumber cost" asks for that user's.
    """
    if not _is_phrase(text):
        return restore_question_mark(text)
    own = _name_own(text)
    asks = is_of_user or _possessive().match(own)
    if not asks or _states(own):
        return restore_question_mark(text)
    return f"{own}?"


def _is_phrase(text: str) -> bool:
    """Return whether a text has a few words, and no mark of a sentence."""
    if _SENTENCE.search(text):
        return False
    return LEAST_WORDS <= len(words(text)) <= MOST_WORDS


def _states(text: str) -> bool:
    """Return whether a text tells a state or a change, as "my dog is Rex" does."""
    told = read_cues(text)
    return told.tells_change or told.present > 0


def _name_own(text: str) -> str:
    """Return a phrase in the words of its user, if it names the user."""
    for my, pattern in _user_patterns():
        found = pattern.search(text)
        if found:
            rest = f"{text[: found.start()]} {text[found.end() :]}"
            return " ".join([my, *rest.split()])
    return text


@cache
def _possessive() -> re.Pattern[str]:
    """Return the words of all languages for one's own things."""
    mine = join_phrases(lambda language: language.questions.my)
    return re.compile(rf"(?i)(?:{mine})\s")


@cache
def _user_patterns() -> list[tuple[str, re.Pattern[str]]]:
    """Return the user's word for "my" in each language, with how phrases name the user."""
    every = [language.questions for language in installed_languages()]
    return [
        (
            one.my[0],
            re.compile(rf"(?i)(?<!\w)(?:{'|'.join(one.of_user)})(?!\w)"),
        )
        for one in every
        if one.my
    ]
