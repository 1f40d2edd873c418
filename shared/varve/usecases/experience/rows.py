"""Rows of the experience store: read them, and send them to the writer."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from varve.domain.calendar import Grain, Period
from varve.domain.experience.history import History
from varve.domain.identity import Scope
from varve.domain.ledger import LedgerChanges, expiry_key
from varve.domain.record import Record, Store
from varve.messages.write import (
    DeleteRecords,
    WriteRecords,
    send_deletion,
    send_in_bounds,
)
from varve.ports.records import MemoryReader
from varve.usecases.embedders import embed_records
from varve.usecases.session import Session


def year_of(at: datetime, zone: ZoneInfo) -> str:
    """Return the label of the year whose period has experience of this instant."""
    return Period.of(at, Grain.YEARLY, zone).label


def send_rows(session: Session, records: Sequence[Record]) -> None:
    """Embed rows and send them to the writer of the experience store. Raises Retryable."""
    if not records:
        return
    embedder = session.embedder
    whole = WriteRecords(
        session.scope,
        Store.EXPERIENCE,
        embedder.model,
        embed_records(records, embedder),
        ledger=_note_forgetting(session),
    )
    send_in_bounds(whole, queue=session.queues.write, objects=session.objects)


def _note_forgetting(session: Session) -> LedgerChanges:
    """Return a note that calls the next nightly cleanup, if the workspace forgets."""
    if not session.config.experience.forgets:
        return LedgerChanges()
    tomorrow = session.now + timedelta(days=1)
    note = expiry_key(tomorrow, session.scope, Grain.YEARLY)
    return LedgerChanges(expiries=(note,))


def delete_rows(session: Session, ids: Sequence[str]) -> None:
    """Send the deletion of rows to the writer. Raises Retryable."""
    if ids:
        message = DeleteRecords(
            session.scope, Store.EXPERIENCE, tuple(sorted(ids))
        )
        send_deletion(
            message, queue=session.queues.write, objects=session.objects
        )


def read_history(scope: Scope, *, reader: MemoryReader) -> History:
    """Return an agent's experience; its views are computed on first use."""
    return History(read_rows(scope, reader=reader))


def read_rows(scope: Scope, *, reader: MemoryReader) -> list[Record]:
    """Return all rows of an agent's experience, by year."""
    rows: list[Record] = []
    for year in sorted(reader.periods(scope, Store.EXPERIENCE)):
        rows += reader.in_period(scope, Store.EXPERIENCE, year)
    return rows


def read_past(session: Session) -> History:
    """Return the agent's experience as committed at the time of the call."""
    reader = session.records.at(session.scope, [Store.EXPERIENCE])
    return read_history(session.scope, reader=reader)
