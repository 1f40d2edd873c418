"""Answers to questions about the present: current statements first, superseded ones marked.

A successor takes the place of what it supersedes. The assistant's echo of a statement
steps back behind it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from varve.domain.language.tokens import words
from varve.domain.search.columns import Columns
from varve.domain.search.lexical import Floats
from varve.domain.search.query import Filter
from varve.domain.search.ranking import Ranked
from varve.domain.statements.cues import read_cues
from varve.domain.statements.paired import StoreStatements
from varve.domain.statements.standing import Standing, Standings, Successor

BEHIND = 0.5
"""The factor of the score of a superseded statement, or of an echo."""
BESIDE = 0.75
"""The factor of the score of words that tell of a wish, of others or of what never came."""
UNRELATED = 0.7
"""The factor of the score of words that share nothing with a question about a person."""
ASKED_PLACES = 6
"""So many statements at the beginning of an answer count as asked for."""


def settle(
    ranked: Sequence[Ranked],
    columns: Columns,
    visible: Filter,
    text: str,
    question: Floats,
    *,
    about_present: bool,
) -> list[Ranked]:
    """Return the ranked rows with their standings, in the order of a present answer.

    All rows are of `columns`. `visible` passes the rows that the request may see; `text`
    is the question and `question` its vector. Without `about_present` the order stays.
    """
    store = columns.derive(StoreStatements)
    statements = {
        item.number: store.find_statement(item.number) for item in ranked
    }
    told = list(
        dict.fromkeys(row for row in statements.values() if row is not None)
    )
    cues = read_cues(text)
    standings = Standings(
        columns,
        # Statements of other users supersede none of the ranked ones.
        admitted=None if visible.until is None else columns.admitted(visible),
        asked=tuple(told[:ASKED_PLACES]) if about_present else (),
        question=cues,
        careful=not cues.has("own")
        and _is_among_persons(text, columns, visible),
    )
    successors = standings.find_successors(told)
    if not about_present:
        return [
            _mark(item, statements, successors, standings) for item in ranked
        ]
    answer = _Answer(
        standings, successors, question, _find_tellers(statements)
    )
    for item in ranked:
        answer.add(item, statements[item.number])
    return answer.sort()


def _is_among_persons(text: str, columns: Columns, visible: Filter) -> bool:
    """Return whether a question names one of several persons who speak with each other.

    They tell of each other's past. Weak pairs would reorder the answers: recall on
    LoCoMo fell from 81 to 62 percent.
    """
    asked = set(words(text))
    named = {
        code
        for word in asked
        for code in columns.speakers_by_word.get(word, ())
    }
    if not named:
        return False
    persons = columns.derive(StoreStatements).find_persons(visible)
    return bool(named & persons) and len(persons) > 1


def _find_tellers(statements: Mapping[int, int | None]) -> dict[int, int]:
    """Return for each statement the best row that tells it, such as its fact."""
    tellers: dict[int, int] = {}
    for row, statement in statements.items():
        if statement is not None:
            tellers.setdefault(statement, row)
    return tellers


def _mark(
    item: Ranked,
    statements: dict[int, int | None],
    successors: dict[int, Successor],
    standings: Standings,
) -> Ranked:
    statement = statements[item.number]
    return replace(
        item, standing=_describe(statement, item, successors, standings)
    )


def _describe(
    statement: int | None,
    item: Ranked,
    successors: dict[int, Successor],
    standings: Standings,
) -> Standing:
    successor = None if statement is None else successors.get(statement)
    if statement is None:
        return Standing(current=True, confirmed=item.row.time)
    confirmed = max(item.row.time, standings.find_confirmed(statement))
    is_current = Standing(current=True, confirmed=confirmed)
    if successor is None:
        return is_current
    if not standings.concerns(item.number, statement, successor.row):
        return is_current
    last = standings.find_last(statement, successors)
    return Standing(
        current=False,
        confirmed=confirmed,
        successor=standings.columns.ids[last],
        is_corrected=statement in standings.corrections,
    )


class _Answer:
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
        standing = _describe(
            statement, item, self._successors, self._standings
        )
        if statement is None:
            score = item.score * (
                UNRELATED if self._is_beside_words(item) else 1
            )
            self._items[item.number] = replace(
                item, score=score, standing=standing
            )
            return
        is_echo = self._standings.store.is_assistant(item.number)
        score = item.score
        if self._standings.is_beside(item.number):
            score *= BESIDE
        elif self._standings.is_unrelated(item.number):
            score *= UNRELATED
        if is_echo or not standing.current:
            last = self._standings.find_last(statement, self._successors)
            self._lift(last, item)
            score *= BEHIND
        self._items[item.number] = replace(
            item, score=score, standing=standing
        )

    def _is_beside_words(self, item: Ranked) -> bool:
        """Return whether words without a standing share nothing with the question."""
        is_said = self._standings.store.is_assistant(item.number)
        return is_said and self._standings.is_unrelated(item.number)

    def _lift(self, row: int, item: Ranked) -> None:
        """Let the row that tells a statement have at least the score of the item."""
        teller = self._tellers.get(row, row)
        if not self._standings.store.is_assistant(teller):
            row = teller
        self._lifted[row] = max(self._lifted.get(row, 0.0), item.score)
        if row not in self._items:
            self._items[row] = self._build(row, item)

    def _build(self, row: int, item: Ranked) -> Ranked:
        columns = self._standings.columns
        (record,) = columns.read_rows(np.array([row]))
        return Ranked(
            row=record,
            grain=item.grain,
            score=0.0,
            vector=float(columns.vectors[row] @ self._question),
            keyword=0.0,
            recency=item.recency,
            columns=columns,
            number=row,
            standing=Standing(current=True, confirmed=record.time),
            agent=item.agent,
        )

    def sort(self) -> list[Ranked]:
        """Return the rows by their scores."""
        for row, score in self._lifted.items():
            item = self._items[row]
            if score > item.score:
                self._items[row] = replace(item, score=score)
        return sorted(self._items.values(), key=lambda item: -item.score)
