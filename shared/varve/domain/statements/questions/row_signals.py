"""The signals of what a question finds, which tell whether it answers."""

import math
from collections.abc import Iterable, Mapping
from functools import lru_cache

from varve.domain.language.tokens import written_words
from varve.domain.statements.pairs.other_matters import have_other_topics
from varve.domain.statements.pairs.superseding import (
    measure_likeness,
    relate,
    tells_of_others,
)
from varve.domain.statements.questions.asked_weights import MANY_OF_ROWS
from varve.domain.statements.questions.asking import Asking, Found
from varve.domain.statements.texts.cues import (
    MAX_CACHED_TEXTS,
    MOST_PRESENT,
    Cues,
    read_cues,
)
from varve.domain.statements.texts.wording import read_wording

LEAST_SHARE = 1e-3
FIRST_PLACES = 3
SHORT_WORDS = 10
"""A text of so many words says one thing, in the words that name it."""
MOST_WORDS = 40
OF_NUMBERS = frozenset({"contact", "price"})
"""Topics of which a question likely asks for a number."""


def measure_row(asking: Asking, found: Found) -> dict[str, float]:
    """Return the signals of what was found."""
    question = asking.cues
    cues = read_cues(found.text)
    wording = read_wording(found.text)
    is_users = float(not found.is_assistant)
    place = measure_place(found)
    share = place["share"]
    near = max(0.0, found.cosine)
    telling = wording.telling * is_users
    unrelated = float(not relate(question, cues))
    likeness = measure_likeness(question, cues)["likeness"]
    has_number = bool(cues.particulars.numbers)
    has_date = bool(cues.particulars.dates)
    is_past = float(asking.is_past)
    signals = {
        **place,
        "first": float(found.place == 0),
        "among first": float(found.place < FIRST_PLACES),
        "near": near,
        "fact": float(found.is_fact),
        "telling": telling,
        "changing": wording.changing * is_users,
        "likeness": likeness,
        "unrelated": unrelated,
        "own": float(cues.has("own")),
        "asks": float(cues.asks),
        "question": float(cues.particulars.asks),
        "name": float(cues.tells_name),
        "number": float(has_number),
        "date": float(has_date),
        "persons": min(2, len(cues.persons)) / 2,
        "present": min(MOST_PRESENT, cues.present) / MOST_PRESENT,
        "others": float(_tells_others(question, cues)),
        "asks help": float(cues.has("asks_help")),
        "crowd": asking.crowd,
        "crowd share": asking.crowd * share,
        "crowd near": asking.crowd * near,
        "crowd likeness": asking.crowd * likeness,
        "crowd telling": asking.crowd * telling,
        "crowd unrelated": asking.crowd * unrelated,
        "past": is_past,
        "past share": is_past * share,
        "past changing": is_past * wording.changing * is_users,
        "past unrelated": is_past * unrelated,
        "many": asking.many,
    }
    signals |= _measure_words(asking, cues)
    signals |= _measure_kind(asking, found, cues)
    return signals | measure_many(asking, signals, MANY_OF_ROWS)


def measure_place(found: Found) -> dict[str, float]:
    """Return the signals of the place that search gave to what was found."""
    return {
        "bias": 1.0,
        "share": math.log(max(LEAST_SHARE, found.share)),
        "assistant": float(found.is_assistant),
    }


def _measure_words(asking: Asking, told: Cues) -> dict[str, float]:
    """Return how many of the question's telling words a text has, and how many it lacks.

    It lacks those that another text found has.
    """
    words = asking.words
    count = words.count(told)
    lacks = (words.most - count) / words.size
    return {
        "covers": count / words.size,
        "lacks": lacks,
        "lacks all": float(not count and words.most > 0),
        "past lacks": asking.is_past * lacks,
    }


def _measure_kind(
    asking: Asking, found: Found, told: Cues
) -> dict[str, float]:
    """Return whether a text is short, of another matter, or has no value as is asked for."""
    question = asking.cues
    foreign = float(have_other_topics(question, told))
    size = count_words(found.text)
    is_users = float(not found.is_assistant)
    short = is_users * (size <= SHORT_WORDS)
    covers = asking.words.count(told) / asking.words.size
    numbers = told.particulars.numbers
    has_time = bool(numbers or told.particulars.dates)
    closed = float(not asking.is_open)
    return {
        "foreign": foreign,
        "short": short,
        "short covers": short * covers,
        "short foreign": short * foreign,
        "no time": float("schedule" in question.topics and not has_time),
        "no number": float(bool(question.topics & OF_NUMBERS) and not numbers),
        "less near": asking.nearest - found.cosine,
        "closed": closed,
        "closed ending": closed * told.has("ending"),
        "length": is_users * min(size, MOST_WORDS) / MOST_WORDS,
    }


def measure_many(
    asking: Asking, signals: Mapping[str, float], names: Iterable[str]
) -> dict[str, float]:
    """Return signals times how many own matters were found."""
    return {f"many {name}": asking.many * signals[name] for name in names}


def _tells_others(question: Cues, told: Cues) -> bool:
    """Return whether a text tells of others, and the question asks for the speaker."""
    if not question.has("own") or question.persons:
        return False
    return told.begins_with_other or tells_of_others(question, told)


@lru_cache(maxsize=MAX_CACHED_TEXTS)
def count_words(text: str) -> int:
    """Return how many words a text has."""
    return len(written_words(text))
