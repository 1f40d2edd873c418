"""What corrections say of a period's records: what is told in whose place."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from varve.domain.record import EmbeddedRecord, Record
from varve.domain.search.columns import columns_of
from varve.domain.statements.standing import Standings
from varve.domain.statements.telling import list_corrected

_NO_VECTOR = np.zeros(1, np.float32)
"""Which statement a correction corrects depends on no vector."""


@dataclass(frozen=True, slots=True)
class Corrected:
    """What is told instead of records, corrections among it, and what is not told."""

    told: tuple[Record, ...]
    replaced: tuple[Record, ...] = ()


def correct_records(
    records: Sequence[Record], corrections: Iterable[Record]
) -> Corrected:
    """Return what to tell of records, as a search understands their corrections.

    `corrections` are the facts and turns of such conversations, said at any time. A
    correction of a correction counts, and the last one of a statement.
    """
    found = _find_naming(records, corrections)
    if not found:
        return Corrected(tuple(records))
    every = {one.id: one for one in (*records, *found)}
    untold = _find_untold(found, every.values())
    told = [one for one in every.values() if one.id not in untold]
    replaced = [one for one in every.values() if one.id in untold]
    return Corrected(tuple(told), tuple(replaced))


def _find_untold(
    corrections: Iterable[Record], records: Iterable[Record]
) -> set[str]:
    """Return the ids of the records that are corrected, and of replaced corrections."""
    columns = columns_of(EmbeddedRecord(one, _NO_VECTOR) for one in records)
    standings = Standings(columns)
    names = columns.conversations
    last = {names.name(row) for row in standings.corrections.values()}
    untold = {one.id for one in corrections if one.conversation_id not in last}
    for row, id_ in enumerate(columns.ids):
        if standings.store.find_statement(row) in standings.corrections:
            untold.add(id_)
    return untold


def _find_naming(
    records: Iterable[Record], corrections: Iterable[Record]
) -> list[Record]:
    """Return the corrections of the records, and corrections of these."""
    ids = {one.id for one in records}
    waiting = list(corrections)
    found: list[Record] = []
    while True:
        naming = [one for one in waiting if not ids.isdisjoint(_named(one))]
        if not naming:
            return found
        found += naming
        ids = {one.id for one in naming}
        waiting = [one for one in waiting if one.id not in ids]


def _named(record: Record) -> set[str]:
    return set(list_corrected(record.source_ids))
