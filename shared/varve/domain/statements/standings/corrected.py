"""What corrections say of a period's records: what is told in whose place."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from varve.domain.record import EmbeddedRecord, Record
from varve.domain.search.columns import columns_of
from varve.domain.statements.standings.standings import Standings
from varve.domain.statements.texts.telling import list_corrected

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
    judged = _judge(found, every.values())
    told = [
        _tell_rest(one, judged.rests)
        for one in every.values()
        if one.id not in judged.untold
    ]
    replaced = [one for one in every.values() if one.id in judged.untold]
    return Corrected(tuple(told), tuple(replaced))


def _tell_rest(record: Record, rests: Mapping[str, str]) -> Record:
    """Return a record without its corrected parts."""
    rest = rests.get(record.id)
    return record if rest is None else replace(record, content=rest)


@dataclass(frozen=True, slots=True)
class _Judged:
    """The ids of records that are not told, and what is left of others, by id."""

    untold: set[str]
    rests: dict[str, str]


def _judge(
    corrections: Iterable[Record], records: Iterable[Record]
) -> _Judged:
    """Find the records that are corrected, in part or not, and replaced corrections."""
    columns = columns_of(EmbeddedRecord(one, _NO_VECTOR) for one in records)
    standings = Standings(columns)
    names = columns.conversations
    last = {names.name(row) for row in standings.every_correction.list_rows()}
    untold = {one.id for one in corrections if one.conversation_id not in last}
    rests: dict[str, str] = {}
    for row, id_ in enumerate(columns.ids):
        statement = standings.store.find_statement(row)
        if statement in standings.corrections or _is_corrected_part(
            standings, row, statement
        ):
            untold.add(id_)
        rest = standings.find_rest(row)
        if rest is not None:
            rests[id_] = rest
    return _Judged(untold, rests)


def _is_corrected_part(
    standings: Standings, row: int, statement: int | None
) -> bool:
    """Return whether a row tells a corrected part of another row's statement."""
    if statement is None or row == statement:
        return False
    words = standings.columns.contents[row]
    return standings.find_part_correction(statement, words) is not None


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
