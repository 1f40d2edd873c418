"""The matters of a message: sentences that tell of several things are judged by themselves.

"Carol moves in with us in October. Felix's teacher is Miss Okafor." tells two matters, and
changes a rent by neither.
"""

from functools import lru_cache

from varve.domain.statements.pairs.superseding import relate
from varve.domain.statements.texts.cues import (
    MAX_CACHED_TEXTS,
    Cues,
    read_cues,
)
from varve.domain.statements.texts.parts import goes_on, split_sentences

LEAST_WORDS = 4
"""A sentence of fewer words goes on with what was said before."""


@lru_cache(maxsize=MAX_CACHED_TEXTS)
def split_matters(text: str) -> tuple[str, ...]:
    """Return the matters of a message, each one sentence or several that belong together.

    A request belongs to what was said before it, and so does a sentence without a value.
    """
    matters: list[str] = []
    for sentence in split_sentences(text):
        if matters and not _tells_apart(matters[-1], sentence):
            matters[-1] += f" {sentence}"
        else:
            matters.append(sentence)
    return tuple(matters) or (text,)


def _tells_apart(before: str, sentence: str) -> bool:
    """Return whether a sentence has nothing to do with what was said just before it."""
    if goes_on(sentence) or len(sentence.split()) < LEAST_WORDS:
        return False
    said = read_cues(before)
    told = read_cues(sentence)
    if not (_has_value(said) and _states_value(told)):
        return False
    return not relate(said, told)


def _states_value(told: Cues) -> bool:
    """Return whether a text gives a value and asks for nothing."""
    asks = told.particulars.asks or told.has("asks_help")
    return _has_value(told) and not asks


def _has_value(told: Cues) -> bool:
    given = told.particulars
    return told.tells_name or bool(given.numbers or given.dates)
