"""What agents learn from what they did: rows to the writer, and the past as it stands."""

from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from varve.domain.calendar import Grain, Period
from varve.domain.experience.history import History
from varve.domain.experience.links import links_of_report
from varve.domain.experience.rows import Report, report_record
from varve.domain.identity import Scope
from varve.domain.record import EmbeddedRecord, Record, Store
from varve.messages.write import (
    WriteRecords,
    WriteTriples,
    records_in_bounds,
    send_records,
    send_triples,
)
from varve.ports.models import Embedder
from varve.ports.objects import Objects
from varve.ports.queues import Queue
from varve.ports.records import MemoryReader


def year_of(at: datetime, zone: ZoneInfo) -> str:
    """The label of the year that experience of this instant is kept under."""
    return Period.of(at, Grain.YEARLY, zone).label


def send_rows(
    records: Sequence[Record],
    scope: Scope,
    *,
    embedder: Embedder,
    queue: Queue,
    objects: Objects,
) -> None:
    """Embed rows and make them durable on the write queue, in the group of the experience store."""
    if not records:
        return
    vectors = embedder.embed([record.content for record in records])
    embedded = tuple(
        EmbeddedRecord(r, v) for r, v in zip(records, vectors, strict=True)
    )
    for piece in records_in_bounds(
        WriteRecords(scope, Store.EXPERIENCE, embedder.model, embedded)
    ):
        send_records(piece, queue=queue, objects=objects)


def send_report(
    report: Report,
    scope: Scope,
    zone: ZoneInfo,
    *,
    embedder: Embedder,
    queue: Queue,
    objects: Objects,
) -> None:
    """A report's row, and the links it states of an episode.

    Which episode of a conversation is meant is known when all is read, for its episodes may come later.
    """
    row = report_record(report, year_of(report.at, zone))
    send_rows([row], scope, embedder=embedder, queue=queue, objects=objects)
    links = tuple(links_of_report(report, report.target))
    if links and report.names_episode:
        send_triples(WriteTriples(scope, links), queue=queue, objects=objects)


def read_history(scope: Scope, *, reader: MemoryReader) -> History:
    """All rows of an agent's experience, folded when asked for."""
    return History(read_rows(scope, reader=reader))


def read_rows(scope: Scope, *, reader: MemoryReader) -> list[Record]:
    """All rows of an agent's experience, by year."""
    years = sorted(reader.periods(scope, Store.EXPERIENCE))
    return [
        row for year in years for row in reader.in_period(scope, Store.EXPERIENCE, year)
    ]
