"""The turns that others name as superseded, of stores of any size.

Search reads the same names from a store's columns, and finds likely successors besides
(`standings.py`). Those depend on the question, so that no table and no page has them.
"""

from collections.abc import Iterable

import numpy as np

from varve.domain.record import EmbeddedRecord, MemoryType, Record
from varve.domain.search.columns import columns_of
from varve.domain.statements.standings.standings import Standings
from varve.domain.statements.texts.telling import find_turn_id

_NO_VECTOR = np.zeros(1, np.float32)
"""What a correction or a link names depends on no vector."""


class NamedSuccessors:
    """What corrections and links of turns say of the facts and turns of an agent.

    `records` are the turns that name others, the records that they name, and the turns of
    these facts.
    """

    def __init__(self, records: Iterable[Record]) -> None:
        columns = columns_of(
            EmbeddedRecord(one, _NO_VECTOR) for one in records
        )
        self._ids = columns.ids
        self._rows = {id_: row for row, id_ in enumerate(columns.ids)}
        self._standings = Standings(columns, careful=True)

    def find(self, record: Record) -> str | None:
        """Return the id of the turn that says what holds instead of a fact or turn.

        That is the last one of a chain. None: no turn names it as superseded.
        """
        turn = self._rows.get(find_turn_id(record))
        if turn is None:
            return None
        is_fact = record.memory_type is MemoryType.FACT
        successors = self._standings.find_successors([turn])
        if turn not in successors:
            if not is_fact:
                return None
            row = self._standings.find_part_correction(turn, record.content)
            if row is None:
                return None
            return self._ids[self._standings.find_last(row, successors)]
        part = record.content if is_fact else None
        if not self._standings.takes(part, turn, successors[turn].row):
            return None
        return self._ids[self._standings.find_last(turn, successors)]
