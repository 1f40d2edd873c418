"""Which line of a summary likely supersedes an earlier one, as turns supersede each other."""

from collections.abc import Sequence

from varve.domain.calendar import noon_of
from varve.domain.language.stems import stem_all
from varve.domain.language.stopwords import CHANGES
from varve.domain.record import EmbeddedRecord, MemoryType, Record, Vector
from varve.domain.search.columns import columns_of
from varve.domain.source_lines import SourceLine
from varve.domain.statements.standings.standings import Standings
from varve.domain.statements.standings.unasked import judge_unasked
from varve.domain.statements.texts.particulars import (
    collect_stems,
    read_particulars,
)

MAX_COMPARED = 1_000
"""The most lines that are compared; of more, the last ones."""
LEAST_ODDS = 0.9
"""The least log odds of a pair; a less sure one would push other lines out of a selection."""


def find_successions(
    lines: Sequence[SourceLine], vectors: Sequence[Vector]
) -> list[tuple[int, int]]:
    """Return the indexes of each line that a later one likely supersedes, and of that one.

    Both share a telling word that is no word of change: "Ticket PAY-1182" and "Correction,
    the ticket is PAY-1128". The lines are in the order of time.
    """
    start = max(0, len(lines) - MAX_COMPARED)
    records = [
        _build_record(str(start + number), line)
        for number, line in enumerate(lines[start:])
    ]
    columns = columns_of(
        EmbeddedRecord(record, vector)
        for record, vector in zip(records, vectors[start:], strict=True)
    )
    judged = judge_unasked(Standings(columns), range(len(records)))
    found: list[tuple[int, int]] = []
    for row, standing in judged.items():
        earlier, later = int(columns.ids[row]), int(standing.successor or 0)
        is_sure = earlier < later and standing.odds >= LEAST_ODDS
        if is_sure and _share_word(lines[earlier], lines[later]):
            found.append((earlier, later))
    return sorted(found)


def _build_record(id_: str, line: SourceLine) -> Record:
    """Return a line as a turn; those of one day are one conversation."""
    said_at = noon_of(line.day)
    return Record(
        id=id_,
        memory_type=MemoryType.TURN,
        content=line.said,
        period=line.day,
        event_time=said_at,
        created_at=said_at,
        source_ids=(id_.zfill(6),),
        conversation_id=line.day,
        about=line.speaker or None,
    )


def _share_word(earlier: SourceLine, later: SourceLine) -> bool:
    told = [
        collect_stems(read_particulars(line.sentence).telling)
        for line in (earlier, later)
    ]
    return bool(frozenset.intersection(*map(frozenset, told)) - _CHANGING)


_CHANGING = stem_all(CHANGES)
