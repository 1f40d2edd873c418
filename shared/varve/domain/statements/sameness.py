"""The one rule by which two records say the same statement: by their sources, else by meaning.

To take two statements for one loses words; to take one for two shows it twice. The rule
prefers the second error.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from varve.domain.language.tokens import fold
from varve.domain.record import Vector
from varve.domain.statements.particulars import (
    find_difference,
    read_particulars,
)

SAME_COSINE = 0.92
"""The least cosine of two sentences that say the same."""

MessageKey = tuple[str | None, str]
"""The conversation id and the message id of one message."""


@dataclass(frozen=True, slots=True)
class Saying:
    """One record's or triple's words, and what tells it apart from others.

    - `day`: the local day on which it was said, such as `2026-03-02`; it gives "last
      Friday" its meaning.
    - `messages`: those that say it; none for a summary.
    - `whole`: the words are all that the messages say. A brief turn has it.
    - `value`: the object of a triple, "" for words.
    - `user`: whose memory it is. Two users' sayings are never one statement.
    """

    text: str
    vector: Vector = field(compare=False, repr=False)
    day: str = ""
    messages: frozenset[MessageKey] = frozenset()
    whole: bool = False
    value: str = ""
    user: str | None = None


def same_statement(one: Saying, other: Saying) -> bool:
    """Return whether two sayings are one statement: by their sources, else by meaning."""
    if one.user != other.user:
        return False
    if have_same_source(one, other):
        return True
    cosine = float(np.dot(one.vector, other.vector))
    same_day = one.day == other.day
    return mean_the_same(one.text, other.text, cosine, same_day=same_day)


def have_same_source(one: Saying, other: Saying) -> bool:
    """Return whether the same messages make both sayings one statement.

    They do if one saying has all words of the messages, as a brief turn has. They do if
    one is a triple whose value stands in the other's words. Two facts of one message are
    two statements.
    """
    if one.messages.isdisjoint(other.messages):
        return False
    if one.whole or other.whole:
        return True
    return _tells_value(one, other) or _tells_value(other, one)


def _tells_value(triple: Saying, words: Saying) -> bool:
    return bool(triple.value) and fold(triple.value) in fold(words.text)


def mean_the_same(
    one: str, other: str, cosine: float, *, same_day: bool = True
) -> bool:
    """Return whether two sentences with vectors of this cosine say the same.

    The cosine must be at least `SAME_COSINE`. They must agree in numbers, dates, names,
    negations and conditions, and only one may add words. Without `same_day`, two
    sentences about "yesterday" speak of different days.
    """
    if cosine < SAME_COSINE:
        return False
    return tell_difference(one, other, same_day=same_day) is None


def tell_difference(
    one: str, other: str, *, same_day: bool = True
) -> str | None:
    """Return what tells two similar sentences apart, such as "negation"; None: nothing.

    The answers are those of `find_difference`. Meaning is not compared.
    """
    first = read_particulars(one)
    second = read_particulars(other)
    if not same_day and (first.bound or second.bound):
        return "date"
    return find_difference(first, second)


def find_same_by_meaning(
    texts: Sequence[str], vectors: Sequence[Vector], days: Sequence[str]
) -> list[int]:
    """Return for each sentence the index of the first one that says the same.

    A sentence that says something new has its own index. The vectors have unit length.
    """
    if not texts:
        return []
    matrix = np.asarray(vectors, np.float32)
    near = matrix @ matrix.T >= SAME_COSINE
    first_of: list[int] = []
    for at, text in enumerate(texts):
        first = at
        for earlier in np.flatnonzero(near[at, :at]).tolist():
            is_first = first_of[earlier] == earlier
            same_day = days[earlier] == days[at]
            if not is_first:
                continue
            if (
                tell_difference(texts[earlier], text, same_day=same_day)
                is None
            ):
                first = earlier
                break
        first_of.append(first)
    return first_of
