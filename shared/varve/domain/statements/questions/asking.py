"""What a question asks of the statements that it found, and what it found."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from varve.domain.statements.pairs.matters import split_matters
from varve.domain.statements.questions.asked_words import AskedWords
from varve.domain.statements.texts.cues import Cues, read_cues

CROWD_UNIT = 10
"""Among fewer statements than these no more stands beside the one asked for."""
OWN_PLACES = 20
"""So many rows found show whether there are many own statements."""
VALUED_UNIT = 4
"""Among fewer values of one's own most of what was found is of the matter asked for."""
LEAST_TALK = 4
"""Fewer statements are no talk."""
MOST_OF_FEW = 0.4
"""Where `many` is greater, what was found tells of more than one matter."""
LEAST_OF_ONE = 0.5
"""The least of `few` where what was found passes for one matter."""
MOST_MIXED = 1
"""Where more messages tell several matters each, memory is of more than one."""
OF_ELSEWHERE = 1.0
"""By so much less a text supersedes that seems to tell of another matter than the earlier one,
where all that was found tells of one.
"""
MANY_TOLD = 10
"""So many statements of persons are no first try."""
MOST_OF_TALK = 0.75
"""Where so great a share of what persons said states their own matters, it is no talk."""
FEW_STATED, MOST_STATED = 0.5, 0.65
"""Shares of own statements in a memory of talk as well, and in one of hardly anything else."""
SCARCE, ENOUGH = 5, 7
"""So few statements of persons are hardly a memory, and so many are one."""
BY_PLACE = 0.7
"""How much the place that search gave counts in the latter. It is set by hand, for the cases of
the fit stand among talk.
"""


@dataclass(frozen=True, slots=True)
class Asking:
    """A question's cues, and of how many statements of persons it asks.

    `words` compares what was found with the question's own words. `is_past`: it asks for
    what held before. `valued` counts the matters found that state a value of a person's own, and
    `stated` is the share of own statements in what persons said there. `is_open`:
    it asks who, where or how much, not whether something is so. `is_of_event`: it asks for
    what was done once, and one of the first statements found tells that. `nearest` is the
    greatest likeness of what was found to the question. `is_bare`: it is a word alone, as a name.
    `mixed` counts the messages found that tell more than one matter. `text` is the question as
    asked.
    """

    cues: Cues
    count: int
    words: AskedWords
    is_past: bool = False
    valued: int = 0
    is_open: bool = False
    is_of_event: bool = False
    nearest: float = 0.0
    stated: float = 0.0
    is_bare: bool = False
    mixed: int = 0
    text: str = ""

    @property
    def by_place(self) -> float:
        """How much a row's place tells, beside the fitted weights, whether it answers.

        The weights tell what a person states from requests and chatter, which they do not
        in a memory of nothing but statements. The place tells little where nothing has a word
        of the question.
        """
        if self.is_past or not self.words.most:
            return 0.0
        return BY_PLACE * self.plainness

    @property
    def scarcity(self) -> float:
        """How far persons told hardly anything, from 0 to 1.

        In a first try two to five statements stand alone, each of its own matter.
        """
        return 1 - _place_between(SCARCE, ENOUGH, self.count)

    @property
    def plainness(self) -> float:
        """How far what was found is hardly anything but statements, from 0 to 1."""
        return _place_between(FEW_STATED, MOST_STATED, self.stated)

    @property
    def crowd(self) -> float:
        """How many other statements there are to mistake for the one asked for, 0 for few."""
        return math.log(max(1.0, self.count / CROWD_UNIT))

    @property
    def many(self) -> float:
        """How many values of one's own what was found states, 0 for few.

        Among requests and chatter, what a person states is likely the answer; in a memory
        of nothing but statements that shows nothing.
        """
        return math.log(max(1.0, self.valued / VALUED_UNIT))

    @property
    def few(self) -> float:
        """How far what was found tells of one matter among talk, from 0 to 1."""
        if self.count < LEAST_TALK or not self.is_of_talk:
            return 0.0
        few = max(0.0, 1 - self.many / MOST_OF_FEW)
        return few if self.tells_much else few * (1 - self.plainness)

    @property
    def tells_much(self) -> bool:
        """Whether persons told more than the statements of a first try."""
        return self.count >= MANY_TOLD

    @property
    def is_of_talk(self) -> bool:
        """Whether what was found has requests and chatter as well as statements."""
        return self.stated < MOST_OF_TALK

    @property
    def is_of_one_matter(self) -> bool:
        """Whether what was found tells of one matter among talk, as far as it shows.

        Then a later text has no other matter to change, in whatever words it tells it. The
        first few statements are each of their own.
        """
        if not self.is_of_state or self.scarcity or self.mixed > MOST_MIXED:
            return False
        return self.few >= LEAST_OF_ONE

    @property
    def is_of_state(self) -> bool:
        """Whether it asks for what holds now, and not for what was done or held before."""
        return self.cues.asks and not self.is_past and not self.is_of_event

    @property
    def doubt(self) -> float:
        """By how much less a text supersedes that seems to tell of another matter.

        Infinite: it does not. Where what was found tells of one matter it may tell a change of
        it in other words.
        """
        if self.is_past or not self.few:
            return math.inf
        return OF_ELSEWHERE / self.few


@dataclass(frozen=True, slots=True)
class Found:
    """A statement that a question found, or another row without one.

    `share` is its score as a share of the best one, `place` its place from 0, `cosine` its
    likeness to the question. `is_fact`: a fact tells it too. `is_assistant`: the assistant
    said it.
    """

    text: str
    share: float
    place: int
    cosine: float
    is_fact: bool = False
    is_assistant: bool = False


def _place_between(low: float, high: float, value: float) -> float:
    """Return how far a value lies from `low` to `high`: 0 up to `low`, 1 from `high`."""
    return min(1.0, max(0.0, (value - low) / (high - low)))


def list_first_said(found: Iterable[Found]) -> list[str]:
    """Return what persons said among the first rows found.

    Of the first ones alone, so that the order does not depend on how many are wanted.
    """
    first = islice(found, OWN_PLACES)
    return [one.text for one in first if not one.is_assistant]


def measure_stated(said: Sequence[str]) -> float:
    """Return which share of what persons said states their own matters, from 0 to 1."""
    return sum(map(_states_own, said)) / max(1, len(said))


def count_valued(said: Iterable[str]) -> int:
    """Return how many matters of what persons said state a value of their own."""
    matters = chain.from_iterable(map(split_matters, said))
    return sum(map(_states_value, matters))


def count_mixed(said: Iterable[str]) -> int:
    """Return how many messages tell more than one matter."""
    return sum(len(split_matters(text)) > 1 for text in said)


def _states_value(text: str) -> bool:
    told = read_cues(text)
    has_value = told.tells_name or bool(told.particulars.numbers)
    return has_value and _states_own(text)


def _states_own(text: str) -> bool:
    told = read_cues(text)
    if told.asks or told.has("asks_help"):
        return False
    return told.has("own") or bool(told.persons)
