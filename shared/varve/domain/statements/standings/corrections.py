"""Which turns correct which statements of one store, as a whole or in part."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from varve.domain.search.columns import Columns
from varve.domain.search.lexical import Bools
from varve.domain.statements.stores.paired import StoreStatements
from varve.domain.statements.texts.cues import Cues
from varve.domain.statements.texts.parts import (
    asks_for_parts,
    find_corrected_parts,
    find_parts,
    split_parts,
)
from varve.domain.statements.texts.telling import (
    CORRECTION,
    list_corrected,
    read_corrected,
)


@dataclass(frozen=True, slots=True)
class PartCorrection:
    """The row that corrects some parts of a statement, by their numbers."""

    parts: frozenset[int]
    row: int


@dataclass(frozen=True, slots=True)
class Corrections:
    """The corrections of a store's statements, by the row of what they correct.

    `whole` has the last correction of each statement, `partial` those of single parts.
    """

    store: StoreStatements
    whole: dict[int, int] = field(default_factory=dict)
    partial: dict[int, list[PartCorrection]] = field(default_factory=dict)

    def list_rows(self) -> set[int]:
        """Return the rows of the corrections that no other one corrects."""
        rows = set(self.whole.values())
        for corrections in self.partial.values():
            rows.update(one.row for one in corrections)
        return rows - self.whole.keys()

    def find_partial(
        self, statement: int, parts: frozenset[int]
    ) -> int | None:
        """Return the row that corrects one of these parts of a statement."""
        for one in self.partial.get(statement, ()):
            if one.parts & parts:
                return one.row
        return None

    def find_part(self, statement: int, words: str) -> int | None:
        """Return the row that corrects the part from which words were drawn."""
        if statement not in self.partial:
            return None
        parts = find_parts(self.store.read(statement).text, words)
        return self.find_partial(statement, parts)

    def find_all_asked(self, question: Cues) -> dict[int, int]:
        """Return the corrections of the parts that a question asks for, by statement."""
        found: dict[int, int] = {}
        for statement in self.partial:
            row = self.find_asked(statement, question)
            if row is not None:
                found[statement] = row
        return found

    def find_asked(self, statement: int, question: Cues) -> int | None:
        """Return the row that corrects the part of a statement that a question asks for."""
        text = self.store.read(statement).text
        for one in self.partial.get(statement, ()):
            said = self.store.read(one.row).text
            if asks_for_parts(question, text, one.parts, said):
                return one.row
        return None

    def corrects(self, statement: int, row: int) -> bool:
        """Return whether a row corrects a statement or a part of it."""
        is_whole = self.whole.get(statement) == row
        return is_whole or self.corrects_part(statement, row)

    def corrects_part(self, statement: int, row: int) -> bool:
        """Return whether a row corrects a part of a statement alone."""
        return any(one.row == row for one in self.partial.get(statement, ()))

    def list_parts(self, statement: int) -> frozenset[int]:
        """Return the corrected parts of a statement that is not corrected as a whole."""
        if statement in self.whole:
            return frozenset()
        corrections = self.partial.get(statement, ())
        return frozenset().union(*(one.parts for one in corrections))

    def add(
        self, statement: int, row: int, parts: frozenset[int], count: int
    ) -> None:
        """Add the correction of these parts of a statement that has `count`.

        What is corrected already stays so: the last correction of it is corrected.
        """
        known = self.find_partial(statement, parts)
        if statement in self.whole:
            self._replace(statement, row)
        elif len(parts) == count:
            self.whole[statement] = row
            for one in self.partial.get(statement, ()):
                self._replace(one.row, row)
        elif known is not None:
            self._replace(known, row)
        else:
            self._add_part(statement, PartCorrection(parts, row), count)

    def _add_part(
        self, statement: int, correction: PartCorrection, count: int
    ) -> None:
        self.partial.setdefault(statement, []).append(correction)
        if len(self.list_parts(statement)) == count:
            self.whole[statement] = correction.row

    def _replace(self, row: int, later: int) -> None:
        """Let a row correct the last one of a chain. Corrections are later in time."""
        while row in self.whole:
            row = self.whole[row]
        if row != later:
            self.whole[row] = later


class StoreCorrections:
    """The turns of a store's columns that correct others.

    A correction of a fact corrects the part of its turn that the fact was drawn from, one
    of a turn the parts that it is about.
    """

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._store = columns.derive(StoreStatements)

    def find(self, admitted: Bools | None) -> Corrections:
        """Return the corrections that are admitted; None admits all.

        The correction of a statement that is corrected already corrects the last one of
        its chain, so that one statement is left.
        """
        found = Corrections(self._store)
        for statement, row, parts in self._named:
            if admitted is None or admitted[row]:
                found.add(statement, row, parts, self.count_parts(statement))
        return found

    def count_parts(self, statement: int) -> int:
        """Return how many parts a statement has."""
        return len(split_parts(self._store.read(statement).text))

    @cached_property
    def lost(self) -> dict[str, int]:
        """The last correction of each record that has expired, by the record's id."""
        found: dict[str, int] = {}
        for row in self._correcting:
            for id_ in list_corrected(self._columns.sources[row]):
                if id_ not in self._columns.row_by_id:
                    found[id_] = row
        return found

    @cached_property
    def _named(self) -> list[tuple[int, int, frozenset[int]]]:
        """The corrected statements, their corrections and parts, the last one last."""
        return list(self._read_named())

    def _read_named(self) -> Iterator[tuple[int, int, frozenset[int]]]:
        for row in self._correcting:
            named = self._find_corrected(row)
            if named is None:
                continue
            statement = self._store.find_statement(named)
            if statement is not None:
                yield statement, row, self._find_parts(named, statement, row)

    def _find_parts(
        self, named: int, statement: int, row: int
    ) -> frozenset[int]:
        """Return the parts of a statement that a row corrects by naming its fact or turn.

        Of a turn they are those that the row is about.
        """
        text = self._store.read(statement).text
        if self._store.is_fact(named):
            return find_parts(text, self._columns.contents[named])
        return find_corrected_parts(text, self._store.read(row).text)

    def _find_corrected(self, row: int) -> int | None:
        """Return the row that a correction names."""
        row_by_id = self._columns.row_by_id
        for message in self._columns.sources[row]:
            named = row_by_id.get(read_corrected(message) or "")
            if named is not None:
                return named
        return None

    @cached_property
    def _correcting(self) -> list[int]:
        """The turns that correct others, the last one last."""
        columns = self._columns
        names = columns.conversations.names
        codes = [
            at for at, name in enumerate(names) if name.startswith(CORRECTION)
        ]
        if not codes:
            return []
        is_telling = np.isin(columns.conversations.of, codes)
        rows = np.flatnonzero(is_telling & columns.is_turn)
        order = np.argsort(columns.event_times[rows], kind="stable")
        correcting: list[int] = rows[order].tolist()
        return correcting
