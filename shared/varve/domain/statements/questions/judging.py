"""A question's judgement of the matters of the statements that it found in one store."""

import math
from collections.abc import Collection, Mapping
from functools import cached_property
from itertools import islice

from varve.domain.statements.pairs.corrected_values import (
    corrects_another_value,
    corrects_day,
)
from varve.domain.statements.pairs.leaving import leaves_asked
from varve.domain.statements.pairs.other_matters import tells_other_matter
from varve.domain.statements.pairs.other_things import changes_other_thing
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
from varve.domain.statements.questions.reading import (
    LEAST_READ,
    LEAST_READ_OF_ANSWERS,
    MAX_ROWS_READ,
    MAY_ANSWER,
    read_pair_odds,
    read_row_odds,
)
from varve.domain.statements.stores.listed import leaves_others, tells_apart
from varve.domain.statements.stores.matters import Matter, StoreMatters
from varve.domain.statements.stores.told_values import ToldValues

JUDGED_PLACES = 25
"""So many matters at the beginning of an answer are compared with each other."""
LEAST_GONE = 1e-9
LEAST_CHANCE = 1e-30
LEAST_SUPERSEDING = -1.1
"""The least score of a pair whose earlier statement no longer holds, among few."""
LEAST_DOUBTED = -2.1
"""The same of one that a block marks: its reader sees both statements, and their days."""
MOST_READ = 6.0
"""What is read makes no pair surer, so that what a successor replaced stands before mere talk."""
LEAST_OF_PAST = -8.0
"""The same where the question asks about the past: all pairs have scores lower by `past`."""
OF_UNASKED = 4.0
"""What has a word of an earlier statement, and like that one nothing of a question, answers it
by so much less than what has to do with it. A case tells of one matter, so it is set by hand.
"""
MANY_CARE = 1.0
"""How much more it must score where what was found states many values (`Asking.many`),
unless no other one found is likelier to answer than its earlier statement.
"""
OF_FIRST = 1.5
"""How much less it must score where the later statement stands first, and what was found tells
of one matter: what answers likeliest is likely what took the place of an earlier answer.
"""
CROWD_CARE = 0.5
"""How much more a pair must score for each unit of the crowd."""
SCARCE_CARE = 1.0
"""How much more it must score where persons told hardly anything."""


class AskedMatters:
    """How likely each of the matters found answers a question, and still holds.

    `found` has the matters of the statements found, and what is no statement, such as the
    assistant's words, best first; those of statements are in `told`. `matters` are those of
    statements that are compared with each other. `values` has what their messages state.
    `by_line`: a statement is marked on less evidence, for the lines of a context.
    """

    def __init__(
        self,
        asking: Asking,
        store: StoreMatters,
        found: Mapping[Matter, Found],
        told: Collection[Matter],
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
            matter: score_row(asking, one) for matter, one in found.items()
        }
        every = (matter for matter in found if matter in told)
        self.matters = tuple(islice(every, JUDGED_PLACES))
        self._compared = frozenset(self.matters)
        self._pairs: dict[tuple[Matter, Matter], float] = {}
        self._named: dict[Matter, list[Matter]] = {}
        self._rivals: dict[Matter, dict[Matter, Rival]] = {}
        self._unasked = frozenset(
            matter
            for matter in self.matters
            if not relate(asking.cues, store.read(matter).cues)
        )
        self._read = self._read_likeliest()
        for matter, read in self._read.items():
            self._odds[matter] += read
        if self._puts_unasked_behind():
            for matter in filter(self._changes_unasked, self.matters):
                self._odds[matter] -= OF_UNASKED
        self._greatest = max(self._odds.values(), default=0.0)
        self._answers = {
            matter: _sigmoid(score_order(asking, found[matter], odds))
            for matter, odds in self._odds.items()
        }

    def _read_likeliest(self) -> dict[Matter, float]:
        """Return what is read of the statements that likeliest answer."""
        likeliest = sorted(self.matters, key=self._odds.__getitem__)
        return {
            matter: read_row_odds(self.asking, self.store.read(matter).text)
            for matter in likeliest[-MAX_ROWS_READ:]
        }

    def _puts_unasked_behind(self) -> bool:
        """Return whether a change of what is not asked for answers less likely."""
        asking = self.asking
        if asking.is_past or asking.is_of_one_matter:
            return False
        return asking.words.finds_related

    def find_answering(self, matter: Matter) -> float:
        """Return the chance that a matter found answers the question, from 0 to 1."""
        return self._answers[matter]

    def find_least(self, matter: Matter, other: Matter) -> float:
        """Return the least score of a pair whose earlier statement no longer holds."""
        if self.asking.is_past:
            return LEAST_OF_PAST + self.care
        less = OF_FIRST * self.asking.few * (other == self.first)
        return self._find_least_of_any(matter, other) - less

    def _find_least_of_any(self, matter: Matter, other: Matter) -> float:
        """Return the same, whichever statement stands first."""
        care = self.care + SCARCE_CARE * self.asking.scarcity
        if self._by_line and not self._tells_of_others(matter, other):
            return LEAST_DOUBTED + care
        least = LEAST_SUPERSEDING + care
        if self._by_line or self._odds[matter] == self._greatest:
            return least
        return least + MANY_CARE * self.asking.many

    def _tells_of_others(self, matter: Matter, other: Matter) -> bool:
        """Return whether an earlier statement tells of persons, and a later one of none of them."""
        read = self.store.read
        return tells_of_others(read(other).cues, read(matter).cues)

    @property
    def care(self) -> float:
        """How much higher a pair scores among many statements, to be as sure as among few."""
        return CROWD_CARE * self.asking.crowd

    def is_compared(self, matter: Matter) -> bool:
        """Return whether the question compares a matter with others."""
        return matter in self._compared

    def score_pair(self, matter: Matter, other: Matter) -> float:
        """Return how likely `other`, a later statement, supersedes `matter`, as a logit."""
        pair = (matter, other)
        if pair not in self._pairs:
            self._pairs[pair] = self._compute_pair(matter, other)
        return self._pairs[pair]

    def _compute_pair(self, matter: Matter, other: Matter) -> float:
        store = self.store
        if not store.may_supersede(other) or self._leaves(matter, other):
            return -math.inf
        earlier = store.read(matter)
        later = store.read(other)
        odds = self._odds[other]
        rivals = self.find_rivals(matter, other)
        score = score_pair(self.asking, earlier, later, odds, rivals)
        if score < self._find_least_read(matter, other):
            return score
        read = read_pair_odds(self.asking, earlier.text, later.text)
        if earlier.cues.has("harming"):
            read = min(0.0, read)  # what is read ends no allergy
        return score + min(read, max(0.0, MOST_READ - score))

    def _find_least_read(self, matter: Matter, other: Matter) -> float:
        """Return the least score of a pair that is read, by what was read of its statements."""
        answers = self._read.get(matter, 0.0) > 0
        may_answer = self._read.get(other, 0.0) > MAY_ANSWER
        return LEAST_READ_OF_ANSWERS if answers and may_answer else LEAST_READ

    def find_rivals(self, matter: Matter, other: Matter) -> Rivals:
        """Return what a later statement may supersede: `matter`, which it may, and what else."""
        every = self._compare_rivals(other)
        return Rivals(
            own=every[matter],
            others=[rival for one, rival in every.items() if one != matter],
            share=self.found[matter].share - self.found[other].share,
        )

    def _compare_rivals(self, matter: Matter) -> dict[Matter, Rival]:
        """Return the earlier matters that one may change, with what they have in common."""
        if matter not in self._rivals:
            read = self.store.read
            self._rivals[matter] = {
                one: compare_rival(read(one), read(matter))
                for one in self.find_earlier(matter)
                if not self.changes_another(one, matter)
            }
        return self._rivals[matter]

    def _leaves(self, matter: Matter, other: Matter) -> bool:
        """Return whether a later statement leaves as it is what a question asks of an earlier one."""
        if self.asking.is_of_one_matter:
            return False
        earlier = self.store.read(matter)
        later = self.store.read(other)
        whole = self.store.read_whole(matter).text
        return (
            leaves_asked(self.asking.cues, whole, later.cues)
            or self.changes_another(matter, other)
            or self._tells_apart(matter, other)
            or self._changes_beside(matter, other)
            or changes_other_thing(earlier.text, later.text)
            or self._leaves_held_values(matter, other)
        )

    def _changes_beside(self, matter: Matter, other: Matter) -> bool:
        """Return whether a later statement changes another matter, which one of its words names.

        "I stopped playing tennis, my knee hurts" ends "I play tennis", and no appointment with
        the dentist. What no other statement tells may be a change of this one in other words.
        """
        read = self.store.read
        if not tells_other_matter(read(matter).cues, read(other).text):
            return False
        return any(one != matter for one in self._find_named(other))

    def changes_another(self, matter: Matter, other: Matter) -> bool:
        """Return whether a later statement changes another one than this earlier one.

        "I sold the Ibiza" has a word of "My car is an Ibiza", and nothing of "I work at
        Globex" or of a question for work. Asked about the past every pair is scored.
        """
        later = self.store.read(other).cues
        asking = self.asking
        if asking.is_past or asking.is_of_one_matter:
            return False
        if later.has("correcting"):
            return False
        if other not in self._unasked:
            return False
        if relate(self.store.read(matter).cues, later):
            return False
        return bool(self._find_named(other))

    def _tells_apart(self, matter: Matter, other: Matter) -> bool:
        """Return whether both tell other attributes; asked about the past every pair is scored."""
        if self.asking.is_past:
            return False
        read = self.store.read
        return tells_apart(self._values, read(matter), read(other))

    def _leaves_held_values(self, matter: Matter, other: Matter) -> bool:
        """Return whether a later statement ends some values alone, and not those asked for."""
        asked = self.asking.cues
        read = self.store.read
        return leaves_others(self._values, asked, read(matter), read(other))

    def _find_named(self, matter: Matter) -> list[Matter]:
        """Return the earlier statements of which a statement has a telling word."""
        if matter not in self._named:
            told = self.store.read(matter).cues
            self._named[matter] = [
                one
                for one in self.find_earlier(matter)
                if share_words(self.store.read(one).cues, told)
            ]
        return self._named[matter]

    def _changes_unasked(self, matter: Matter) -> bool:
        """Return whether a statement has a word of an unasked one, and none of the question."""
        if matter not in self._unasked:
            return False
        changed = [*self._find_named(matter), *self._find_corrected(matter)]
        return not self._unasked.isdisjoint(changed)

    def _find_corrected(self, matter: Matter) -> list[Matter]:
        """Return the earlier matters with a day that one may correct."""
        read = self.store.read
        later = read(matter)
        if not corrects_day(later.cues):
            return []
        return [
            one
            for one in self.find_earlier(matter)
            if not corrects_another_value(read(one).text, later.text)
        ]

    def find_later(self, matter: Matter) -> list[Matter]:
        """Return the later ones of the statements that the question found."""
        if matter not in self._compared:
            return []
        return [
            other
            for other in self.matters
            if self.store.is_later(matter, other)
        ]

    def find_earlier(self, matter: Matter) -> list[Matter]:
        """Return the earlier ones of the statements that the question found."""
        if matter not in self._compared:
            return []
        return [
            one for one in self.matters if self.store.is_later(one, matter)
        ]

    @cached_property
    def chances(self) -> dict[Matter, float]:
        """The logarithm of the chance that each one found is the answer (`weigh`)."""
        return {matter: self.weigh(matter) for matter in self.found}

    @cached_property
    def first(self) -> Matter:
        """What has the greatest chance to be the answer; something must be found."""
        return max(self.chances, key=self.chances.__getitem__)

    @cached_property
    def likely(self) -> frozenset[Matter]:
        """The one with the greatest chance, and those near it; empty: nothing likely answers."""
        if not self.chances:
            return frozenset()
        first = self.first
        chances = list(self.chances.values())
        if not answers(self.asking, self.found[first], chances):
            return frozenset()
        least = self.chances[first] + math.log(NEAR_FIRST)
        return frozenset(
            matter
            for matter, chance in self.chances.items()
            if chance >= least
        )

    def weigh(self, matter: Matter) -> float:
        """Return the natural logarithm of the chance that a matter, or a reply, is the answer.

        Asked about the present, or an event, it answers or supersedes what answers, and
        nothing later supersedes it; asked about the past it answers and something does.
        """
        holds = math.prod(
            _sigmoid(-self.score_pair(matter, other))
            for other in self.find_later(matter)
        )
        answers = max(LEAST_CHANCE, self._answers[matter])
        if self.asking.is_past:
            return math.log(answers * max(LEAST_GONE, 1 - holds))
        answers += sum(
            self._answers[one] * _sigmoid(self.score_pair(one, matter))
            for one in self.find_earlier(matter)
        )
        return math.log(max(LEAST_CHANCE, answers * holds))


def _sigmoid(odds: float) -> float:
    """Return the probability of a logit."""
    if odds < 0:
        return math.exp(odds) / (1 + math.exp(odds))
    return 1 / (1 + math.exp(-odds))
