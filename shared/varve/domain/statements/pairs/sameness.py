"""The rules by which two records say the same statement: by their sources, else by meaning.

To take two statements for one loses words; to take one for two shows it twice. The rules
prefer the second error.
"""

from dataclasses import dataclass, field

from varve.domain.language.tokens import fold
from varve.domain.record import Vector
from varve.domain.search.row import MessageKey
from varve.domain.statements.pairs.named_days import names_day
from varve.domain.statements.texts.particulars import (
    find_difference,
    read_particulars,
)

SAME_COSINE = 0.92
"""The least cosine of two sentences that say the same."""


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
    if names_value(other.text, one.value):
        return True
    return names_value(one.text, other.value)


def names_value(text: str, value: str) -> bool:
    """Return whether a text contains a value as written, apart from case and accents.

    A day of the year may be written in any way: "3 de mayo" is "3 May".
    """
    if not value:
        return False
    return fold(value) in fold(text) or names_day(text, value)


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
