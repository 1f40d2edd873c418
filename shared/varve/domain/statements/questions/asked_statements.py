"""A question's judgement of the statements that it found, by their matters.

A statement answers a question by the likeliest of its matters that are most akin to it, and a
later one supersedes it by the likeliest of its own: what else both tell says nothing of what
is asked for.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from varve.domain.search.columns import Columns
from varve.domain.statements.questions.asking import Asking, Found
from varve.domain.statements.questions.judging import AskedMatters
from varve.domain.statements.stores.matters import Matter, StoreMatters
from varve.domain.statements.stores.told_values import ToldValues
from varve.domain.statements.texts.parts import measure_kinship


class AskedStatements:
    """How likely each of the rows found answers a question, and still holds.

    The parameters are those of `AskedMatters`, by row.
    """

    def __init__(
        self,
        asking: Asking,
        columns: Columns,
        found: Mapping[int, Found],
        told: Collection[int],
        values: ToldValues,
        *,
        by_line: bool = False,
    ) -> None:
        self.store = columns.derive(StoreMatters)
        self._matters = {row: self.store.list_matters(row) for row in found}
        every = {
            matter: replace(found[row], text=self.store.read(matter).text)
            for row, matters in self._matters.items()
            for matter in matters
        }
        self.judged = AskedMatters(
            asking,
            self.store,
            every,
            {matter for matter in every if matter[0] in told},
            values,
            by_line=by_line,
        )
        self._asked = {
            row: self._list_asked(matters)
            for row, matters in self._matters.items()
        }
        self._compared = {
            row
            for row, matters in self._matters.items()
            if all(map(self.judged.is_compared, matters))
        }
        self._pairs: dict[tuple[int, int], tuple[Matter, Matter]] = {}

    def _list_asked(self, matters: Sequence[Matter]) -> Sequence[Matter]:
        """Return the matters of a row that are most akin to the question; all, if none is."""
        if len(matters) == 1:
            return matters
        asked = self.judged.asking.cues
        kinship = {
            matter: measure_kinship(asked, [self.store.read(matter).text])
            for matter in matters
        }
        most = max(kinship.values())
        return [matter for matter, kin in kinship.items() if kin == most]

    @property
    def care(self) -> float:
        """How much higher a pair scores among many statements, to be as sure as among few."""
        return self.judged.care

    @cached_property
    def chances(self) -> dict[int, float]:
        """The logarithm of the chance that each row found is the answer."""
        chances = self.judged.chances
        return {
            row: max(chances[matter] for matter in matters)
            for row, matters in self._asked.items()
        }

    @cached_property
    def likely(self) -> frozenset[int]:
        """The row with the greatest chance, and those near it; empty: nothing likely answers."""
        return frozenset(row for row, _ in self.judged.likely)

    def compares(self, row: int, other: int) -> bool:
        """Return whether the question judges these two statements."""
        return row in self._compared and other in self._compared

    def find_later(self, row: int) -> list[int]:
        """Return the later ones of the statements that the question found."""
        later = self.judged.find_later((row, 0))
        rows = dict.fromkeys(other for other, _ in later)
        return [other for other in rows if other in self._compared]

    def score_pair(self, row: int, other: int) -> float:
        """Return how likely `other`, a later statement, supersedes `row`, as a logit."""
        return self.judged.score_pair(*self._find_pair(row, other))

    def find_least(self, row: int, other: int) -> float:
        """Return the least score of a pair whose earlier statement no longer holds."""
        return self.judged.find_least(*self._find_pair(row, other))

    def _find_pair(self, row: int, other: int) -> tuple[Matter, Matter]:
        """Return the matter of a row that answers likeliest, and what likeliest supersedes it."""
        pair = (row, other)
        if pair not in self._pairs:
            matter = max(self._asked[row], key=self.judged.find_answering)
            later = max(
                self._matters[other],
                key=lambda one: self.judged.score_pair(matter, one),
            )
            self._pairs[pair] = (matter, later)
        return self._pairs[pair]
