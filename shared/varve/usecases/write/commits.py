"""Commits: the only code that changes a store.

Each type of write message has one function. One commit is made per store and batch, and
the ledger changes after it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby
from operator import attrgetter
from typing import Any

from varve.domain.calendar import Grain, Period
from varve.domain.embedding import EmbeddingMismatch, require_same_model
from varve.domain.identity import Scope
from varve.domain.ledger import LedgerChanges, lessons_key, month_of
from varve.domain.record import EmbeddedRecord, Store, StoreName, Written
from varve.messages.erasure import (
    ErasedMessage,
    EraseProfiles,
    EraseRecords,
    EraseTriples,
)
from varve.messages.moves import CompactStore, MoveStore
from varve.messages.notes import IndexNote
from varve.messages.write import (
    DeleteRecords,
    ExpirePeriods,
    WriteMessage,
    WriteProfile,
    WriteRecords,
    WriteTriples,
    commit_key,
)
from varve.ports.graph import GraphWriter
from varve.ports.knowledge import ProfileWriter
from varve.ports.locks import Locks
from varve.ports.meter import Meter
from varve.ports.models import Embedder
from varve.ports.objects import Objects
from varve.ports.queues import Delivery
from varve.ports.records import MemoryReader, MemoryWriter
from varve.ports.transfer import VectorWriter
from varve.usecases.embedders import embed_records, embedder_for
from varve.usecases.erasure import tombstones
from varve.usecases.erasure.sweep import sweep_payloads
from varve.usecases.ledger import Ledger, build_marks
from varve.usecases.notes import read_note_rows
from varve.usecases.summaries.outdated import list_outdated
from varve.usecases.transfer.staging import Staging, sweep


@dataclass(slots=True)
class WriteOutcome:
    """Deliveries to return to the queue, and counts of written and deleted data."""

    returned: list[Delivery] = field(default_factory=list)
    records: int = 0
    operations: int = 0
    attributes: int = 0
    expired: int = 0
    erased: int = 0
    moved: int = 0


@dataclass(frozen=True, slots=True)
class WriterSession:
    """Everything that changes stores, of every agent; only this module takes one.

    `embedder` returns a workspace's embedder. The writer needs it for records whose
    vectors are not of their store's model, and the `reader` for the days of corrected
    records. `locks` give each store one writer where no queue does. `meter` counts what
    the writes use.
    """

    records: MemoryWriter
    reader: MemoryReader
    graph: GraphWriter
    profiles: ProfileWriter
    ledger: Ledger
    vectors: VectorWriter
    embedder: Callable[[str], Embedder]
    objects: Objects
    locks: Locks
    meter: Meter = field(default_factory=Meter)


def apply_messages(
    messages: Sequence[WriteMessage],
    session: WriterSession,
    outcome: WriteOutcome,
) -> None:
    """Make one commit for each run of messages of one type for one store, in order.

    The ledger changes after the commit, so that a mark stands for what readers can see.
    """
    for _, run in groupby(messages, key=commit_key):
        batch = list(run)
        apply_batch = _APPLY[type(batch[0])]
        apply_batch(batch, session, outcome)


def _write_records(
    batch: Sequence[WriteRecords],
    session: WriterSession,
    outcome: WriteOutcome,
) -> None:
    allowed = _drop_barred_records(batch, session)
    if allowed:
        outcome.records += _upsert(allowed, session)


def _expire_periods(
    batch: Sequence[ExpirePeriods],
    session: WriterSession,
    outcome: WriteOutcome,
) -> None:
    outcome.expired += sum(_expire(message, session) for message in batch)


def _delete_records(
    batch: Sequence[DeleteRecords],
    session: WriterSession,
    outcome: WriteOutcome,
) -> None:
    first = batch[0]
    deleted = session.records.delete(first.scope, first.grain, _all_ids(batch))
    outcome.expired += deleted


def _write_triples(
    batch: Sequence[WriteTriples],
    session: WriterSession,
    outcome: WriteOutcome,
) -> None:
    scope = batch[0].scope
    operations = list(chain.from_iterable(one.operations for one in batch))
    barred = tombstones.load(scope, objects=session.objects)
    allowed = [one for one in operations if not barred.bars_operation(one)]
    if len(allowed) < len(operations):
        sweep_payloads(scope, barred, objects=session.objects)
    outcome.operations += session.graph.apply(scope, allowed)


def _write_profiles(
    batch: Sequence[WriteProfile],
    session: WriterSession,
    outcome: WriteOutcome,
) -> None:
    scope = batch[0].scope
    entries = list(chain.from_iterable(one.entries for one in batch))
    barred = tombstones.load(scope, objects=session.objects)
    allowed = [entry for entry in entries if not barred.bars_entry(entry)]
    if len(allowed) < len(entries):
        sweep_payloads(scope, barred, objects=session.objects)
    user_of = attrgetter("user_id")
    for user_id, own in groupby(sorted(allowed, key=user_of), user_of):
        outcome.attributes += session.profiles.apply(scope, user_id, list(own))


def _erase_records(
    batch: Sequence[EraseRecords],
    session: WriterSession,
    outcome: WriteOutcome,
) -> None:
    outcome.erased += sum(_erase(message, session) for message in batch)


def _erase_triples(
    batch: Sequence[EraseTriples],
    session: WriterSession,
    outcome: WriteOutcome,
) -> None:
    outcome.erased += session.graph.erase(batch[0].scope, _all_ids(batch))


def _erase_profiles(
    batch: Sequence[EraseProfiles],
    session: WriterSession,
    outcome: WriteOutcome,
) -> None:
    outcome.erased += session.profiles.erase(batch[0].scope, _all_ids(batch))


def _move_store(
    batch: Sequence[MoveStore], session: WriterSession, outcome: WriteOutcome
) -> None:
    outcome.moved += sum(_move(message, session) for message in batch)


def _compact_store(
    batch: Sequence[CompactStore],
    session: WriterSession,
    _outcome: WriteOutcome,
) -> None:
    session.records.compact(batch[0].scope, batch[0].grain)


def _index_notes(
    batch: Sequence[IndexNote], session: WriterSession, outcome: WriteOutcome
) -> None:
    """Bring the records of notes up to date with the notes as they are now."""
    scope = batch[0].scope
    records, stale = read_note_rows(batch, session.objects)
    if records:
        embedder = session.embedder(scope.workspace)
        embedded = embed_records(records, embedder)
        written = _put(scope, Store.NOTES, embedded, embedder.model, session)
        outcome.records += written.changed
    if stale:
        session.records.delete(scope, Store.NOTES, stale)


def _skip(
    batch: object, session: WriterSession, outcome: WriteOutcome
) -> None:
    """Write nothing: the bodies of these messages have been erased."""


_APPLY: Mapping[type, Callable[[Any, WriterSession, WriteOutcome], None]] = {
    WriteRecords: _write_records,
    ExpirePeriods: _expire_periods,
    DeleteRecords: _delete_records,
    WriteTriples: _write_triples,
    WriteProfile: _write_profiles,
    EraseRecords: _erase_records,
    EraseTriples: _erase_triples,
    EraseProfiles: _erase_profiles,
    MoveStore: _move_store,
    CompactStore: _compact_store,
    IndexNote: _index_notes,
    ErasedMessage: _skip,
}


def _all_ids(
    batch: Sequence[DeleteRecords | EraseTriples | EraseProfiles],
) -> list[str]:
    return list(chain.from_iterable(message.ids for message in batch))


def _drop_barred_records(
    messages: Sequence[WriteRecords], session: WriterSession
) -> list[WriteRecords]:
    """Return the messages without records that were forgotten since they were sent.

    A message that loses a record settles no period: that of a summary of something
    forgotten stays due.
    """
    scope = messages[0].scope
    session.records.expect(scope, messages[0].grain)
    barred = tombstones.load(scope, objects=session.objects)
    if not barred:
        return list(messages)
    allowed: list[WriteRecords] = []
    held_back = False
    for message in messages:
        records = tuple(
            e for e in message.records if not barred.bars_record(e.record)
        )
        kept = replace(message, records=records)
        if len(records) < len(message.records):
            held_back = True
            kept = replace(kept, ledger=replace(message.ledger, settles=()))
        if records:
            allowed.append(kept)
    if held_back:
        # The claim checks of the dropped records must not keep them either.
        sweep_payloads(scope, barred, objects=session.objects)
    return allowed


def _upsert(messages: Sequence[WriteRecords], session: WriterSession) -> int:
    """Write the records and mark the periods above them; return how many changed."""
    scope = messages[0].scope
    grain = messages[0].grain
    records = list(
        chain.from_iterable(message.records for message in messages)
    )
    written = _put(scope, grain, records, messages[0].model, session)
    parents: list[Period] = []
    for message in messages:
        parents += list_outdated(message, session.reader)
    said = sorted(one.fingerprint for one in records)
    changes = build_marks(scope, parents, *said, version=written.version)
    if grain is Store.EXPERIENCE and records:
        month = month_of(max(one.record.created_at for one in records))
        changes += LedgerChanges(expiries=(lessons_key(month, scope),))
    # Change the ledger even if no record changed: the delivery before this one may have
    # ended between commit and mark.
    for message in messages:
        changes += message.ledger
    session.ledger.change(changes)
    return written.changed


def _erase(message: EraseRecords, session: WriterSession) -> int:
    """Replace the summaries that keep a rest, then delete the others; count both.

    Neither leaves a byte of the old summaries. A rest that has been forgotten since is not
    written: the erasure that bars it finds the old summary and deletes it.
    """
    scope = message.scope
    changed = [*message.ids, *(one.record.id for one in message.remade)]
    # Before the deletion as well: a writer that dies after it would leave nothing due.
    session.ledger.mark(scope, message.due(), *changed)
    barred = tombstones.load(scope, objects=session.objects)
    remade = [
        one for one in message.remade if not barred.bars_record(one.record)
    ]
    if remade:
        _put(scope, message.grain, remade, message.model, session)
    # Staged vectors of a move may be of erased records; the move computes them again.
    sweep(scope, objects=session.objects)
    deleted = session.records.delete(
        scope, message.grain, message.ids, message.known_by
    )
    session.ledger.mark(scope, message.due(), *changed)
    return deleted + len(remade)


def _put(
    scope: Scope,
    grain: StoreName,
    records: Sequence[EmbeddedRecord],
    model: str,
    session: WriterSession,
) -> Written:
    """Upsert records, embedding them again if their vectors are of another model.

    That happens while a store moves to another model. Raises EmbeddingMismatch: the
    workspace does not know the store's model.
    """
    try:
        return session.records.upsert(scope, grain, records, model)
    except EmbeddingMismatch as mismatch:
        embedder = embedder_for(mismatch, session.embedder(scope.workspace))
    embedded = embed_records([one.record for one in records], embedder)
    return session.records.upsert(scope, grain, embedded, embedder.model)


def _move(message: MoveStore, session: WriterSession) -> int:
    """Move a store to its workspace's embedding model; return how many records moved.

    Raises Misconfigured: the workspace has another model than the message names.
    """
    scope = message.scope
    embedder = session.embedder(scope.workspace)
    require_same_model(
        f"{scope}/{message.grain}", message.model, embedder.model
    )
    staging = Staging(scope, embedder, session.objects)
    moved = session.vectors.move(
        scope, message.grain, message.model, staging.vectors
    )
    staging.clear()
    return moved


def _expire(message: ExpirePeriods, session: WriterSession) -> int:
    """Delete expired periods; return how many records that were.

    Periods that something was written to since cleanup looked wait for its next pass.
    """
    waiting: set[str] = set()
    if not message.force:
        waiting = _not_up_to_date(message, session.ledger)
    labels = [label for label in message.labels if label not in waiting]
    deleted = 0
    if labels:
        deleted = session.records.delete_periods(
            message.scope, message.grain, labels
        )
    changes = message.ledger
    if waiting:
        # The notes that call for cleanup stay for the periods that wait.
        changes = LedgerChanges(expiries=changes.expiries)
    session.ledger.change(changes)
    return deleted


def _not_up_to_date(message: ExpirePeriods, ledger: Ledger) -> set[str]:
    """Return the labels whose own summary or parent's summary is due."""
    if not isinstance(message.grain, Grain):
        return set()  # nothing summarizes the experience store
    due = ledger.pending(message.scope)
    waiting: set[str] = set()
    for label in message.labels:
        period = Period(message.grain, label)
        if period in due or period.parent() in due:
            waiting.add(label)
    return waiting
