"""What agents learn from what they did: rows to the writer, and the past as it stands."""

from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from varve.domain.calendar import Grain, Period
from varve.domain.experience.history import History
from varve.domain.identity import Scope
from varve.domain.record import EmbeddedRecord, Record, Store
from varve.messages.write import (
    DeleteRecords,
    WriteRecords,
    records_in_bounds,
    send_deletion,
    send_records,
)
from varve.ports.records import MemoryReader
from varve.usecases.session import Session


def year_of(at: datetime, zone: ZoneInfo) -> str:
    """The label of the year that experience of this instant is kept under."""
    return Period.of(at, Grain.YEARLY, zone).label


def send_rows(session: Session, records: Sequence[Record]) -> None:
    """Embed rows and send them to the writer of the experience store. Raises Retryable."""
    if not records:
        return
    embedder = session.embedder
    vectors = embedder.embed([record.content for record in records])
    embedded = tuple(
        EmbeddedRecord(record, vector)
        for record, vector in zip(records, vectors, strict=True)
    )
    whole = WriteRecords(session.scope, Store.EXPERIENCE, embedder.model, embedded)
    for piece in records_in_bounds(whole):
        send_records(piece, queue=session.queues.write, objects=session.objects)


def delete_rows(session: Session, ids: Sequence[str]) -> None:
    """Send the deletion of rows to the writer. Raises Retryable."""
    if ids:
        message = DeleteRecords(session.scope, Store.EXPERIENCE, tuple(sorted(ids)))
        send_deletion(message, queue=session.queues.write, objects=session.objects)


def read_history(scope: Scope, *, reader: MemoryReader) -> History:
    """All rows of an agent's experience, folded when asked for."""
    return History(read_rows(scope, reader=reader))


def read_rows(scope: Scope, *, reader: MemoryReader) -> list[Record]:
    """All rows of an agent's experience, by year."""
    years = sorted(reader.periods(scope, Store.EXPERIENCE))
    return [
        row for year in years for row in reader.in_period(scope, Store.EXPERIENCE, year)
    ]


def read_past(session: Session) -> History:
    """Return the agent's experience as committed now, folded when asked for."""
    reader = session.records.at(session.scope, [Store.EXPERIENCE])
    return read_history(session.scope, reader=reader)
