"""The rows of an answer about the present, each with its standing."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from varve.domain.search.columns import Columns
from varve.domain.search.lexical import Floats
from varve.domain.search.ranking import Ranked
from varve.domain.statements.pairs.restating import list_values
from varve.domain.statements.pairs.superseding import split_clauses
from varve.domain.statements.standings.standing import Standing, Successor
from varve.domain.statements.standings.standings import Standings
from varve.domain.statements.texts.cues import read_cues

BEHIND = 0.5
"""The factor of the score of a superseded statement."""
ECHO_BEHIND = 0.3
"""The factor of the score of an echo of the assistant."""
JUST_BEHIND = 0.97
"""The factor of the score of a statement that is likely superseded."""
SURE = 1.2
"""The least logit of a pair whose later statement takes the earlier one's place."""


def describe(
    statement: int | None,
    item: Ranked,
    successors: dict[int, Successor],
    standings: Standings,
) -> Standing:
    """Return how a row of an answer stands, as the statement that it tells does.

    What the assistant said stands as the statement whose value it repeats.
    """
    if statement is None:
        statement = _find_repeated(item.number, successors, standings)
    if statement is None:
        return Standing(current=True, confirmed=item.row.time)
    confirmed = max(item.row.time, standings.find_confirmed(statement))
    successor = successors.get(statement)
    if successor is None or not standings.concerns(
        item.number, statement, successor.row
    ):
        return Standing(current=True, confirmed=confirmed)
    last = standings.find_last(statement, successors)
    care = standings.judged.care if standings.judged else 0.0
    return Standing(
        current=False,
        confirmed=confirmed,
        successor=standings.columns.ids[last],
        is_corrected=statement in standings.corrections,
        odds=successor.score - care,
    )


def _find_repeated(
    row: int, successors: Mapping[int, Successor], standings: Standings
) -> int | None:
    """Return the superseded statement whose value an answer of the assistant repeats.

    None: it answers none, or repeats what the question or the successor tells as well, or
    a part of the statement that holds.
    """
    store = standings.store
    answered = store.find_answered(row)
    if answered is None or answered not in successors:
        return None
    successor = successors[answered].row
    later = store.read(successor).cues
    known = [later, standings.question or later]
    repeated = list_values(store.read(row).cues).difference(
        *map(list_values, known)
    )
    for part in split_clauses(store.read(answered).text):
        if repeated.isdisjoint(list_values(read_cues(part))):
            continue
        if standings.takes(part, answered, successor):
            return answered
    return None


def build_item(
    row: int, item: Ranked, columns: Columns, question: Floats
) -> Ranked:
    """Return a row that the search did not find, for the sake of an item that it found.

    `question` is the question's vector.
    """
    (record,) = columns.read_rows(np.array([row]))
    return Ranked(
        row=record,
        grain=item.grain,
        score=0.0,
        vector=float(columns.vectors[row] @ question),
        keyword=0.0,
        recency=item.recency,
        columns=columns,
        number=row,
        standing=Standing(current=True, confirmed=record.time),
        is_near=item.is_near,
        answers=item.answers,
        agent=item.agent,
    )


class PresentAnswer:
    """The rows of an answer about the present, with their scores so far."""

    def __init__(
        self,
        standings: Standings,
        successors: dict[int, Successor],
        question: Floats,
        tellers: Mapping[int, int],
    ) -> None:
        self._standings = standings
        self._successors = successors
        self._question = question
        self._tellers = tellers
        self._items: dict[int, Ranked] = {}
        self._lifted: dict[int, float] = {}

    def add(self, item: Ranked, statement: int | None) -> None:
        """Add a row, and give its place to the statement that should have it."""
        standing = describe(statement, item, self._successors, self._standings)
        if statement is None:
            factor = 1.0 if standing.current else BEHIND
            self._items[item.number] = replace(
                item, score=item.score * factor, standing=standing
            )
            return
        is_echo = self._standings.store.is_assistant(item.number)
        score = item.score
        is_behind = not standing.current and self._gives_place(statement)
        if is_echo or is_behind:
            last = self._standings.find_last(statement, self._successors)
            self._lift(last, item)
            score *= self._get_factor(statement, is_echo=is_echo)
        self._items[item.number] = replace(
            item, score=score, standing=standing
        )

    def _gives_place(self, statement: int) -> bool:
        """Return whether a superseded statement gives its place to its successor.

        Where the question judges, it has already put the likelier one first, unless the
        pair alone is sure.
        """
        if self._standings.judged is None:
            return True
        successor = self._successors.get(statement)
        return successor is None or successor.score >= SURE

    def _get_factor(self, statement: int, *, is_echo: bool) -> float:
        """Return the factor of a row that gives its place to another one."""
        if is_echo:
            return ECHO_BEHIND
        successor = self._successors.get(statement)
        if successor is None or successor.is_named:
            return BEHIND
        return JUST_BEHIND

    def _lift(self, row: int, item: Ranked) -> None:
        """Let the row that tells a statement have at least the score of the item."""
        teller = self._tellers.get(row, row)
        if not self._standings.store.is_assistant(teller):
            row = teller
        self._lifted[row] = max(self._lifted.get(row, 0.0), item.score)
        if row not in self._items:
            self._items[row] = build_item(
                row, item, self._standings.columns, self._question
            )

    def sort(self) -> list[Ranked]:
        """Return the rows by their scores."""
        for row, score in self._lifted.items():
            item = self._items[row]
            if score > item.score:
                self._items[row] = replace(item, score=score)
        return sorted(self._items.values(), key=lambda item: -item.score)
