"""Whether a statement bears on a prompt by what both are about, in any language.

Likeness of vectors alone depends on the language of a prompt. A prompt about the
speaker's own state, and a statement about the same topic or in the same words, need no
likeness.
"""

from varve.domain.statements.cues import read_cues
from varve.domain.statements.particulars import count_shared

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
    if asked.has("own") and (shared or asked.topics & told.topics):
        return True
    if shared < MIN_SHARE * len(asked.particulars.telling):
        return False
    is_of_topic = asked.asks and bool(asked.topics & told.topics)
    return shared >= MIN_SHARED or (shared > 0 and is_of_topic)
