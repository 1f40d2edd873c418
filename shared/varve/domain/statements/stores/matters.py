"""The matters of a store's statements, with what no question changes kept with its columns."""

from dataclasses import replace

from varve.domain.search.columns import Columns
from varve.domain.statements.pairs.matters import split_matters
from varve.domain.statements.stores.paired import StoreStatements
from varve.domain.statements.texts.statement import Statement

Matter = tuple[int, int]
"""A row, and the place from 0 of one of its matters."""


class StoreMatters:
    """The statements of a store's columns, each split into its matters."""

    def __init__(self, columns: Columns) -> None:
        self.statements = columns.derive(StoreStatements)
        self._matters: dict[int, list[Statement]] = {}

    def list_matters(self, row: int) -> list[Matter]:
        """Return the matters of a row, in their order; the assistant's words are one."""
        return [(row, place) for place in range(len(self._read_all(row)))]

    def read(self, matter: Matter) -> Statement:
        """Return one matter as a statement, with the vector of its whole message."""
        row, place = matter
        return self._read_all(row)[place]

    def read_whole(self, matter: Matter) -> Statement:
        """Return the message of a matter as a statement."""
        return self.statements.read(matter[0])

    def may_supersede(self, matter: Matter) -> bool:
        """Return whether a matter is none of a mere passage of a long message."""
        return self.statements.may_supersede(matter[0])

    def is_later(self, matter: Matter, other: Matter) -> bool:
        """Return whether `other` is of a later message of the same speaker and user."""
        return self.statements.is_later(matter[0], other[0])

    def _read_all(self, row: int) -> list[Statement]:
        if row not in self._matters:
            self._matters[row] = self._split(row)
        return self._matters[row]

    def _split(self, row: int) -> list[Statement]:
        statement = self.statements.read(row)
        if not self.statements.is_told(row):
            return [statement]
        matters = split_matters(statement.text)
        if len(matters) == 1:
            return [statement]
        # The triples of a message do not show which matter states them.
        return [replace(statement, text=one, messages=()) for one in matters]
