"""Standings that no question changes: by corrections, links and clear pairs."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from varve.domain.search.columns import Columns
from varve.domain.search.query import Filter
from varve.domain.search.ranking import Ranked, find_place
from varve.domain.statements.pairs.leaving import leaves_rest
from varve.domain.statements.standings.held import tell_held
from varve.domain.statements.standings.standing import Standing, Successor
from varve.domain.statements.standings.standings import CLEAR, Standings
from varve.domain.statements.stores.paired import find_admitted
from varve.domain.statements.stores.told_values import ToldValues
from varve.domain.statements.texts.cues import read_cues
from varve.domain.statements.texts.particulars import count_shared
from varve.domain.statements.texts.parts import asks_for_parts, find_parts
from varve.domain.statements.texts.persons import Persons

UNDOUBTED = 1.5
"""The least score of a pair that is told in an answer about something else."""


class KnownStandings:
    """The standings of one store's rows, as every answer tells them.

    A statement is superseded if a correction or a link names it, or if its pair with a
    later one scores at least `UNDOUBTED`. Where several persons speak with each other, no
    pair is clear. What lies outside `visible` supersedes nothing, and nothing supersedes
    the part of a statement that alone a `question` asks for. `told` has the values that the
    messages of the columns state.
    """

    def __init__(
        self,
        columns: Columns,
        visible: Filter,
        told: ToldValues,
        question: str = "",
    ) -> None:
        self._standings = Standings(
            columns,
            find_admitted(columns, visible),
            told=told,
        )
        self._question = read_cues(question) if question else None
        self._successors: dict[int, Successor] = {}

    def describe(self, row: int) -> Standing:
        """Return how the statement of a row stands."""
        standings = self._standings
        time = standings.columns.event_times.item(row)
        statement = standings.store.find_statement(row)
        if statement is None:
            return Standing(current=True, confirmed=time)
        superseded = self.find_superseded(row)
        if superseded is not None:
            return superseded
        confirmed = max(time, standings.find_confirmed(statement))
        return Standing(current=True, confirmed=confirmed)

    def find_superseded(self, row: int) -> Standing | None:
        """Return the standing of a superseded row; None: its statement holds."""
        standings = self._standings
        statement = standings.store.find_statement(row)
        if statement is None:
            return None
        successor = self._find_corrected_part(row, statement)
        successor = successor or self._find_clear(row, statement)
        if successor is None:
            return None
        last = standings.find_last(successor.row, self._successors)
        time = standings.columns.event_times.item(row)
        return Standing(
            current=False,
            confirmed=max(time, standings.find_confirmed(statement)),
            successor=standings.columns.ids[last],
            is_corrected=standings.every_correction.corrects(
                statement, successor.row
            ),
            odds=successor.score,
        )

    def _find_corrected_part(
        self, row: int, statement: int
    ) -> Successor | None:
        """Return the correction of a row's part; of a statement, that of the part asked for."""
        standings = self._standings
        found: int | None = None
        if row != statement:
            words = standings.columns.contents[row]
            found = standings.find_part_correction(statement, words)
        elif self._question is not None:
            found = standings.every_correction.find_asked(row, self._question)
        return None if found is None else Successor(found, np.inf)

    def is_corrected_part(self, row: int) -> bool:
        """Return whether a row tells a corrected part of another row's statement."""
        statement = self._standings.store.find_statement(row)
        if statement is None or row == statement:
            return False
        return self._find_corrected_part(row, statement) is not None

    def find_rest(self, row: int) -> str | None:
        """Return the content of a statement's row without its corrected parts or ended values.

        None: none of them is corrected, and no value ended beside others.
        """
        rest = self._standings.find_rest(row)
        return self._find_held(row) if rest is None else rest

    def _find_held(self, row: int) -> str | None:
        """Return a row's content with the values that hold alone; None: none of them ended."""
        standings = self._standings
        statement = standings.store.find_statement(row)
        if statement is None:
            return None
        said = standings.store.read(row)
        is_fact = standings.store.is_fact(row)
        held = tell_held(
            said.text,
            None if is_fact else said.speaker,
            standings.store.list_messages(statement),
            standings.told,
        )
        if held is None:
            return None
        return standings.columns.contents[row].removesuffix(said.text) + held

    def _find_clear(self, row: int, statement: int) -> Successor | None:
        """Return the successor of a row that leaves no doubt; None: it holds."""
        standings = self._standings
        found = standings.find_successors([statement])
        self._successors |= found
        successor = found.get(statement)
        if (
            successor is None
            or not self._is_clear(statement, successor)
            or self._leaves(statement, successor)
        ):
            successor = self._find_ending(statement)
        if successor is None:
            return None
        self._successors[statement] = successor
        if not standings.concerns(row, statement, successor.row):
            return None
        if self._question is None and row == statement:
            is_left = self._leaves_rest(statement, successor)
        else:
            is_left = self._leaves(statement, successor)
        return None if is_left else successor

    def find_end(self, row: int) -> str | None:
        """Return the id of what ends a row's statement, as the triples show; None: nothing."""
        statement = self._standings.store.find_statement(row)
        if statement is None:
            return None
        ending = self._find_ending(statement)
        return self._standings.columns.ids[ending.row] if ending else None

    def _find_ending(self, statement: int) -> Successor | None:
        """Return the nearest later statement that ends the values of one.

        Each value may have an end of its own: that of what the question asks for comes first.
        """
        standings = self._standings
        later = standings.list_later(statement)
        # Whether anything is later shows without the triples.
        if not later or not standings.told.have_any(
            standings.store.list_messages(statement)
        ):
            return None
        first: Successor | None = None
        for row in later:
            if not self._ends(statement, row):
                continue
            successor = Successor(row, CLEAR)
            if not self._leaves(statement, successor):
                return successor
            first = first or successor
        return first

    def _ends(self, statement: int, later: int) -> bool:
        """Return whether the triples show an end, of a topic, word or predicate of both."""
        standings = self._standings
        store = standings.store
        if standings.every_correction.corrects_part(statement, later):
            return False
        earlier = standings.store.list_messages(statement)
        ending = standings.store.list_messages(later)
        if not standings.told.end_all(
            earlier, ending
        ) and not self._asks_for_ended(statement, later):
            return False
        before = store.read(statement).cues
        after = store.read(later).cues
        if before.topics & after.topics:
            return True
        if count_shared(before.particulars, after.particulars):
            return True
        return bool(
            standings.told.have_same_slot(
                earlier, ending, tells_change=after.tells_change
            )
        )

    def _asks_for_ended(self, statement: int, later: int) -> bool:
        """Return whether the question asks for the part of a statement that a later one ends."""
        if self._question is None:
            return False
        store = self._standings.store
        ended = self._standings.told.list_ended(
            store.list_messages(statement), store.list_messages(later)
        )
        text = store.read(statement).text
        parts = [find_parts(text, words) for words in ended]
        return bool(parts) and asks_for_parts(
            self._question,
            text,
            frozenset().union(*parts),
            store.read(later).text,
        )

    def _leaves(self, statement: int, successor: Successor) -> bool:
        """Return whether a successor leaves as it is what the question asks for."""
        return self._standings.leaves(statement, successor.row, self._question)

    def _leaves_rest(self, statement: int, successor: Successor) -> bool:
        """Return whether a message holds in part: nothing names it as superseded."""
        if successor.is_named:
            return False
        store = self._standings.store
        later = store.read(successor.row).cues
        return leaves_rest(store.read(statement).text, later)

    def _is_clear(self, statement: int, successor: Successor) -> bool:
        if successor.is_named:
            return True
        if successor.score < UNDOUBTED:
            return False
        if not self._standings.store.is_nearest(statement, successor.row):
            return False
        return self._speaks_alone(successor.row)

    def _speaks_alone(self, row: int) -> bool:
        """Return whether one person alone speaks in the memory of a row's user."""
        standings = self._standings
        user = standings.columns.users.of.item(row)
        return len(standings.columns.derive(Persons).find_of(user)) == 1


def mark_known(
    settled: Sequence[Ranked], known: KnownStandings
) -> list[Ranked]:
    """Mark what is superseded although the question is not about it; the order stays."""
    marked: list[Ranked] = []
    for item in settled:
        if item.standing is None or item.standing.current:
            standing = known.find_superseded(item.number)
            if standing is not None:
                item = replace(item, standing=standing)
        marked.append(item)
    return marked


def put_successors_first(
    settled: Sequence[Ranked], known: KnownStandings
) -> list[Ranked]:
    """Return the rows with what has ended, as the triples show, behind its successor.

    The successor takes the place of the earlier row, which follows it. A pair that is
    likely only moves nothing.
    """
    placed = list(settled)
    for item in settled:
        if item.standing is None or item.standing.current:
            continue
        successor = _find_item(known.find_end(item.number), placed)
        if successor is None:
            continue
        at = find_place(item.id, placed)
        if find_place(successor.id, placed) > at:
            placed.remove(successor)
            placed.insert(at, replace(successor, score=item.score))
    return placed


def _find_item(id_: str | None, placed: Sequence[Ranked]) -> Ranked | None:
    """Return the row that shows a record, or into which it was folded."""
    found = (one for one in placed if id_ in (one.id, *one.also_in))
    return next(found, None)


def tell_rests(
    settled: Sequence[Ranked], known: KnownStandings
) -> list[Ranked]:
    """Leave out of the statements that hold the parts that are corrected."""
    told: list[Ranked] = []
    for item in settled:
        rest = known.find_rest(item.number)
        if rest is not None and item.standing and item.standing.current:
            row = replace(item.row, content=rest, shown={})
            item = replace(item, row=row)
        told.append(item)
    return told
