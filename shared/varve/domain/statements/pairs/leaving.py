"""Whether a later text leaves as it is what a question, or a fact, is about.

A message of many sentences changes by one of them. A question about another one is still
answered by the message.
"""

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

from varve.domain.statements.pairs.events import leaves_asked_event
from varve.domain.statements.pairs.other_matters import tells_day_alone
from varve.domain.statements.pairs.superseding import is_barred, leaves
from varve.domain.statements.texts.cues import Cues, read_cues
from varve.domain.statements.texts.particulars import (
    collect_stems,
    list_any_matter,
)
from varve.domain.statements.texts.parts import split_parts

LEAST_PARTS = 3
"""A message of fewer parts is changed as a whole, unless its clauses tell them apart."""


def leaves_asked(asked: Cues, earlier: str, later: Cues) -> bool:
    """Return whether the later text leaves what is asked of the earlier one as it is.

    Of a message of several parts it changes those that are most akin to it, and leaves a
    question, or a fact, that is more akin to the other parts.
    """
    if leaves(asked, earlier, later):
        return True
    before = read_cues(earlier)
    if leaves_asked_event(asked, before, later):
        return True
    if tells_day_alone(asked, before, later):
        return True
    parts = [read_cues(part) for part in split_parts(earlier)]
    if len(parts) < LEAST_PARTS:
        return False
    changed = _find_changed(parts, later)
    if not changed:
        return False
    others = [part for part in parts if part not in changed]
    matter = _Kinship.of(asked)
    of_changed = matter.measure_most([*changed, later])
    return of_changed < matter.measure_most(others)


def leaves_rest(earlier: str, later: Cues) -> bool:
    """Return whether the later text leaves a part of a message of several parts as it is."""
    parts = split_parts(earlier)
    if len(parts) < LEAST_PARTS:
        return False
    return any(leaves_asked(read_cues(one), earlier, later) for one in parts)


def _find_changed(parts: Sequence[Cues], later: Cues) -> list[Cues]:
    """Return the parts that a later text most likely changes; none, if none is akin to it.

    Words that are told of any matter, as "week", make no kin.
    """
    matter = _Kinship.of(later, list_any_matter())
    kinship = [matter.measure_kinship(part) for part in parts]
    for most in sorted(set(kinship) - {0}, reverse=True):
        akin = [
            part
            for part, kin in zip(parts, kinship, strict=True)
            if kin == most and not is_barred(part, later)
        ]
        if akin:
            return akin
    return []


@dataclass(frozen=True, slots=True)
class _Kinship:
    """What a text is about: the stems of its telling words, its dates and topics."""

    stems: Set[str]
    dates: frozenset[str]
    topics: Set[str]

    @classmethod
    def of(cls, told: Cues, passed_over: Set[str] = frozenset()) -> "_Kinship":
        """Return a text's matter, without the words that are passed over."""
        particulars = told.particulars
        stems = collect_stems(particulars.telling) - passed_over
        return cls(stems, frozenset(particulars.dates), told.topics)

    def measure_kinship(self, told: Cues) -> int:
        """Return how many topics, telling words and dates another text shares with it."""
        count = len(self.topics & told.topics)
        for word in told.particulars.telling:
            count += not word.stems.isdisjoint(self.stems)
        return count + len(self.dates.intersection(told.particulars.dates))

    def measure_most(self, told: Iterable[Cues]) -> int:
        """Return the most that one of several texts shares with it."""
        return max(map(self.measure_kinship, told), default=0)
