"""A question's judgement of the statements that it found in one store."""

import math
from collections.abc import Collection, Mapping
from functools import cached_property
from itertools import islice

from varve.domain.statements.pairs.corrected_values import (
    corrects_another_value,
    corrects_day,
)
from varve.domain.statements.pairs.leaving import leaves_asked
from varve.domain.statements.pairs.superseding import (
    relate,
    share_words,
    tells_of_others,
)
from varve.domain.statements.questions.asked import (
    score_order,
    score_pair,
    score_row,
)
from varve.domain.statements.questions.asking import Asking, Found
from varve.domain.statements.questions.likely import NEAR_FIRST, answers
from varve.domain.statements.questions.pair_signals import (
    Rival,
    Rivals,
    compare_rival,
)
from varve.domain.statements.stores.listed import leaves_others
from varve.domain.statements.stores.paired import StoreStatements
from varve.domain.statements.stores.told_values import ToldValues

JUDGED_PLACES = 25
"""So many places at the beginning of an answer are compared with each other."""
LEAST_GONE = 1e-9
LEAST_CHANCE = 1e-30
LEAST_SUPERSEDING = -1.1
"""The least score of a pair whose earlier statement no longer holds, among few."""
LEAST_DOUBTED = -2.1
"""The same of one that a block marks: its reader sees both statements, and their days."""
LEAST_OF_PAST = -8.0
"""The same where the question asks about the past: all pairs have scores lower by `past`."""
OF_UNASKED = 4.0
"""What has a word of an earlier statement, and like that one nothing of a question, answers it
by so much less than what has to do with it. A case tells of one matter, so it is set by hand.
"""
MANY_CARE = 1.0
"""How much more it must score where what was found tells many own matters (`Asking.many`),
unless no other row found is likelier to answer than its earlier statement.
"""
CROWD_CARE = 0.5
"""How much more a pair must score for each unit of the crowd."""


class AskedStatements:
    """How likely each of the rows found answers a question, and still holds.

    `found` has the rows of the statements found, and of what is no statement, such as the
    assistant's words, best first; those of statements are in `told`. `rows` are those of
    statements that are compared with each other. `values` has what their messages state.
    `by_line`: a statement is marked on less evidence, for the lines of a context.
    """

    def __init__(
        self,
        asking: Asking,
        store: StoreStatements,
        found: Mapping[int, Found],
        told: Collection[int],
        values: ToldValues,
        *,
        by_line: bool = False,
    ) -> None:
        self.asking = asking
        self._by_line = by_line
        self.store = store
        self.found = found
        self._values = values
        self._odds = {
            row: score_row(asking, one) for row, one in found.items()
        }
        every = (row for row in found if row in told)
        self.rows = tuple(islice(every, JUDGED_PLACES))
        self._pairs: dict[tuple[int, int], float] = {}
        self._named: dict[int, list[int]] = {}
        self._rivals: dict[int, dict[int, Rival]] = {}
        self._unasked = frozenset(
            row
            for row in self.rows
            if not relate(asking.cues, store.read(row).cues)
        )
        if asking.words.finds_related and not asking.is_past:
            for row in filter(self._changes_unasked, self.rows):
                self._odds[row] -= OF_UNASKED
        self._greatest = max(self._odds.values(), default=0.0)
        self._answers = {
            row: _sigmoid(score_order(asking, found[row], odds))
            for row, odds in self._odds.items()
        }

    def find_least(self, row: int, other: int) -> float:
        """Return the least score of a pair whose earlier statement no longer holds."""
        if self.asking.is_past:
            return LEAST_OF_PAST + self.care
        if self._by_line and not self._tells_of_others(row, other):
            return LEAST_DOUBTED + self.care
        least = LEAST_SUPERSEDING + self.care
        if self._by_line or self._odds[row] == self._greatest:
            return least
        return least + MANY_CARE * self.asking.many

    def _tells_of_others(self, row: int, other: int) -> bool:
        """Return whether an earlier statement tells of persons, and a later one of none of them."""
        read = self.store.read
        return tells_of_others(read(other).cues, read(row).cues)

    @property
    def care(self) -> float:
        """How much higher a pair scores among many statements, to be as sure as among few."""
        return CROWD_CARE * self.asking.crowd

    def compares(self, row: int, other: int) -> bool:
        """Return whether the question judges these two statements."""
        return row in self.rows and other in self.rows

    def score_pair(self, row: int, other: int) -> float:
        """Return how likely `other`, a later statement, supersedes `row`, as a logit."""
        pair = (row, other)
        if pair not in self._pairs:
            self._pairs[pair] = self._compute_pair(row, other)
        return self._pairs[pair]

    def _compute_pair(self, row: int, other: int) -> float:
        store = self.store
        if not store.may_supersede(other) or self._leaves(row, other):
            return -math.inf
        earlier = store.read(row)
        later = store.read(other)
        odds = self._odds[other]
        rivals = self.find_rivals(row, other)
        return score_pair(self.asking, earlier, later, odds, rivals)

    def find_rivals(self, row: int, other: int) -> Rivals:
        """Return what a later statement may supersede: `row`, which it may, and what else."""
        every = self._compare_rivals(other)
        return Rivals(
            own=every[row],
            others=[rival for one, rival in every.items() if one != row],
            share=self.found[row].share - self.found[other].share,
        )

    def _compare_rivals(self, row: int) -> dict[int, Rival]:
        """Return the earlier statements that a statement may change, by row."""
        if row not in self._rivals:
            read = self.store.read
            self._rivals[row] = {
                one: compare_rival(read(one), read(row))
                for one in self.find_earlier(row)
                if not self.changes_another(one, row)
            }
        return self._rivals[row]

    def _leaves(self, row: int, other: int) -> bool:
        """Return whether a later statement leaves as it is what a question asks of an earlier one."""
        earlier = self.store.read(row)
        later = self.store.read(other)
        return (
            leaves_asked(self.asking.cues, earlier.text, later.cues)
            or self.changes_another(row, other)
            or self._tells_apart(row, other)
            or self._changes_beside(row, other)
            or self.store.tells_other_thing(row, other)
            or self._leaves_held_values(row, other)
        )

    def _changes_beside(self, row: int, other: int) -> bool:
        """Return whether a later statement changes another matter, which one of its words names.

        "I stopped playing tennis, my knee hurts" ends "I play tennis", and no appointment with
        the dentist. What no other statement tells may be a change of this one in other words.
        """
        if not self.store.tells_other_matter(row, other):
            return False
        return any(one != row for one in self._find_named(other))

    def changes_another(self, row: int, other: int) -> bool:
        """Return whether a later statement changes another one than this earlier one.

        "I sold the Ibiza" has a word of "My car is an Ibiza", and nothing of "I work at
        Globex" or of a question for work. Asked about the past every pair is scored.
        """
        later = self.store.read(other).cues
        if self.asking.is_past or later.has("correcting"):
            return False
        if other not in self._unasked:
            return False
        if relate(self.store.read(row).cues, later):
            return False
        return bool(self._find_named(other))

    def _tells_apart(self, row: int, other: int) -> bool:
        """Return whether both tell other attributes; asked about the past every pair is scored."""
        if self.asking.is_past:
            return False
        return self.store.tells_apart(self._values, row, other)

    def _leaves_held_values(self, row: int, other: int) -> bool:
        """Return whether a later statement ends some values alone, and not those asked for."""
        asked = self.asking.cues
        return leaves_others(self._values, asked, self.store, row, other)

    def _find_named(self, row: int) -> list[int]:
        """Return the earlier statements of which a statement has a telling word."""
        if row not in self._named:
            told = self.store.read(row).cues
            self._named[row] = [
                one
                for one in self.find_earlier(row)
                if share_words(self.store.read(one).cues, told)
            ]
        return self._named[row]

    def _changes_unasked(self, row: int) -> bool:
        """Return whether a statement has a word of an unasked one, and none of the question."""
        if row not in self._unasked:
            return False
        changed = [*self._find_named(row), *self._find_corrected(row)]
        return not self._unasked.isdisjoint(changed)

    def _find_corrected(self, row: int) -> list[int]:
        """Return the earlier rows with a day that a row may correct."""
        read = self.store.read
        later = read(row)
        if not corrects_day(later.cues):
            return []
        return [
            one
            for one in self.find_earlier(row)
            if not corrects_another_value(read(one).text, later.text)
        ]

    def find_later(self, row: int) -> list[int]:
        """Return the later ones of the statements that the question found."""
        if row not in self.rows:
            return []
        return [
            other for other in self.rows if self.store.is_later(row, other)
        ]

    def find_earlier(self, row: int) -> list[int]:
        """Return the earlier ones of the statements that the question found."""
        if row not in self.rows:
            return []
        return [one for one in self.rows if self.store.is_later(one, row)]

    @cached_property
    def chances(self) -> dict[int, float]:
        """The logarithm of the chance that each row found is the answer (`weigh`)."""
        return {row: self.weigh(row) for row in self.found}

    @cached_property
    def likely(self) -> frozenset[int]:
        """The row with the greatest chance, and those near it; empty: nothing likely answers."""
        if not self.chances:
            return frozenset()
        first = max(self.chances, key=self.chances.__getitem__)
        chances = list(self.chances.values())
        if not answers(self.asking, self.found[first], chances):
            return frozenset()
        least = self.chances[first] + math.log(NEAR_FIRST)
        return frozenset(
            row for row, chance in self.chances.items() if chance >= least
        )

    def weigh(self, row: int) -> float:
        """Return the natural logarithm of the chance that a statement, or row, is the answer.

        Asked about the present, or an event, it answers or supersedes what answers, and
        nothing later supersedes it; asked about the past it answers and something does.
        """
        holds = math.prod(
            _sigmoid(-self.score_pair(row, other))
            for other in self.find_later(row)
        )
        answers = max(LEAST_CHANCE, self._answers[row])
        if self.asking.is_past:
            return math.log(answers * max(LEAST_GONE, 1 - holds))
        answers += sum(
            self._answers[one] * _sigmoid(self.score_pair(one, row))
            for one in self.find_earlier(row)
        )
        return math.log(max(LEAST_CHANCE, answers * holds))


def _sigmoid(odds: float) -> float:
    """Return the probability of a logit."""
    if odds < 0:
        return math.exp(odds) / (1 + math.exp(odds))
    return 1 / (1 + math.exp(-odds))
