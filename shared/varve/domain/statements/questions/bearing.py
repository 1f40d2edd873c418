"""Whether a statement bears on a prompt by what both are about, in any language.

Likeness of vectors alone depends on the language of a prompt. A prompt about the
speaker's own state, and a statement about the same topic or in the same words, need no
likeness.
"""

import re
from functools import cache

from varve.domain.language.phrases import fold_apostrophes
from varve.domain.statements.texts.cues import Cues, join_phrases, read_cues
from varve.domain.statements.texts.particulars import count_shared

MIN_SHARED = 2
"""So many of the prompt's telling words show that a statement bears on it."""
MIN_SHARE = 0.6
"""The least share of them."""


def bears_on(prompt: str, words: str) -> bool:
    """Return whether a statement's words bear on a prompt.

    They do if the prompt asks for the speaker's own state and both share a topic or a
    word. They also do if the statement has most of the prompt's telling words.
    """
    asked = read_cues(prompt)
    told = read_cues(words)
    if asked.has("asks_help") or told.asks:
        return False
    shared = count_shared(asked.particulars, told.particulars)
    if asks_for_own(asked) and (shared or asked.topics & told.topics):
        return True
    if shared < MIN_SHARE * len(asked.particulars.telling):
        return False
    is_of_topic = asked.asks and bool(asked.topics & told.topics)
    return shared >= MIN_SHARED or (shared > 0 and is_of_topic)


def concerns(prompt: str, words: str) -> bool:
    """Return whether a statement that a later one ended is about what a prompt asks for.

    Search has paired both. One common word or topic is enough.
    """
    asked = read_cues(prompt)
    told = read_cues(words)
    if not asked.asks or asked.has("asks_help"):
        return False
    shared = count_shared(asked.particulars, told.particulars)
    return shared > 0 or bool(asked.topics & told.topics)


def goes_on_from(words: str) -> bool:
    """Return whether a statement tells a change of what an earlier one named.

    "It's fixed now" names nothing itself.
    """
    told = read_cues(words)
    return told.is_strong and len(told.particulars.telling) <= 1


def seeks_own(asked: Cues) -> bool:
    """Return whether a question asks for the speaker's state, or for what memory knows.

    "Can you recommend me a book?" asks for help instead.
    """
    return asked.asks and asks_for_own(asked) and not asked.has("asks_help")


def seeks_own_state(asked: Cues) -> bool:
    """Return whether a question names the speaker or their people.

    "Do you remember Ana?" and "Does Dana still go bouldering?" do not.
    """
    return seeks_own(asked) and (_names_own(asked) or _has_own_people(asked))


def is_of_own(question: str) -> bool:
    """Return whether a question is about the speaker or their people."""
    asked = read_cues(question)
    return asked.has("own") or seeks_own_state(asked)


def asks_for_own(asked: Cues) -> bool:
    """Return whether a prompt asks for the speaker's state, or for what memory knows.

    "Who is my husband?", "¿Sigo con Pablo?" and "¿Qué sabemos de Ana?" do.
    """
    if _names_own(asked):
        return True
    if not asked.asks:
        return False
    if _has_own_people(asked):
        return True
    return asked.has("confirming") or asked.has("asks_memory")


def _names_own(asked: Cues) -> bool:
    """Return whether a text names its speaker, by a verb alone too: "¿Qué ciudades visité?"."""
    if asked.has("own"):
        return True
    return asked.asks and asked.has("happening") and not asked.tells_name


def _has_own_people(asked: Cues) -> bool:
    return any(map(_compile_own().match, map(fold_apostrophes, asked.persons)))


@cache
def _compile_own() -> re.Pattern[str]:
    """Return the words before one's own people: "my", "nuestra"."""
    words = join_phrases(lambda language: language.forgetting.own)
    return re.compile(rf"(?:{words})\b")
