"""Write: the only code that changes a store. One commit per store and batch."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from varve.domain.calendar import Grain, Period
from varve.domain.embedding import EmbeddingMismatch, require_same_model
from varve.domain.erasure import Tombstones
from varve.domain.errors import Misconfigured, Rejected, Retryable
from varve.domain.identity import Scope
from varve.domain.ledger import LedgerChanges, lessons_key, month_of
from varve.domain.record import EmbeddedRecord, Store, StoreName, Written
from varve.messages.erasure import (
    ErasedMessage,
    EraseProfiles,
    EraseRecords,
    EraseTriples,
)
from varve.messages.moves import MoveStore
from varve.messages.write import (
    DeleteRecords,
    ExpirePeriods,
    WriteMessage,
    WriteProfile,
    WriteRecords,
    WriteTriples,
    read_write,
)
from varve.ports.graph import GraphWriter
from varve.ports.knowledge import ProfileWriter
from varve.ports.models import Embedder
from varve.ports.objects import Objects
from varve.ports.queues import DeadLetters, Delivery
from varve.ports.records import MemoryWriter
from varve.ports.transfer import VectorWriter
from varve.usecases.deliver import by_group, until_failure
from varve.usecases.embedders import embedder_for
from varve.usecases.erasure import tombstones
from varve.usecases.erasure.sweep import sweep_payloads
from varve.usecases.ledger import Ledger, marking
from varve.usecases.transfer.staging import Staging, sweep

MAX_WAITING = 100
"""Messages that `DirectWrites` holds in memory at most."""

Pending = list[tuple[Delivery, WriteMessage]]


@dataclass(slots=True)
class WriteOutcome:
    """Deliveries to return to the queue, and how much was new or is gone."""

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

    `embedder` returns a workspace's embedder, for records whose vectors are of a model
    that their store has left.
    """

    records: MemoryWriter
    graph: GraphWriter
    profiles: ProfileWriter
    ledger: Ledger
    vectors: VectorWriter
    embedder: Callable[[str], Embedder]
    objects: Objects


def write(
    session: WriterSession, deliveries: Sequence[Delivery], dead_letters: DeadLetters
) -> WriteOutcome:
    """Write a FIFO batch, group by group.

    In each group everything up to its first unreadable payload is committed together;
    the first failure and all later ones of the group are returned. A message that can
    never succeed goes to the dead letters with its reason and its group goes on.
    """
    outcome = WriteOutcome()
    for group in by_group(deliveries):
        pending, returned = _read_group(group, session.objects, dead_letters)
        outcome.returned += _commit(pending, session, dead_letters, outcome) + returned
    session.records.finish()
    return outcome


def write_now(session: WriterSession, deliveries: Sequence[Delivery]) -> None:
    """Write messages whose sender waits for them.

    Raises Rejected, Misconfigured, Retryable.
    """
    try:
        for group in by_group(deliveries):
            messages = [read_write(one, objects=session.objects) for one in group]
            _apply(messages, session, WriteOutcome())
    finally:
        session.records.finish()


class DirectWrites:
    """The write queue of a process without SQS: `flush` writes what was sent.

    Messages sent together share commits. A hundred that wait are written early, to
    bound memory. `open_writer` opens the writer on first use.
    """

    def __init__(self, open_writer: Callable[[], WriterSession]) -> None:
        self._open_writer = open_writer
        self._sent: list[Delivery] = []

    def send(self, body: str, *, group: str, deduplication_id: str) -> None:
        """Hold the message until the next flush. Raises what `flush` raises."""
        self._sent.append(Delivery(id=deduplication_id, body=body, group=group))
        if len(self._sent) >= MAX_WAITING:
            self.flush()

    def flush(self) -> None:
        """Write everything sent. Raises Rejected, Misconfigured, Retryable: send again."""
        sent = self._sent
        self._sent = []
        if sent:
            write_now(self._open_writer(), sent)


def _read_group(
    group: Sequence[Delivery], objects: Objects, dead_letters: DeadLetters
) -> tuple[Pending, list[Delivery]]:
    """The group's readable messages, and what is to be returned from its first failure on."""
    pending: Pending = []

    def read(delivery: Delivery) -> None:
        pending.append((delivery, read_write(delivery, objects=objects)))

    returned = until_failure(group, read, dead_letters=dead_letters)
    return pending, returned


def _commit(
    pending: Pending,
    session: WriterSession,
    dead_letters: DeadLetters,
    outcome: WriteOutcome,
) -> list[Delivery]:
    """Commit all at once; where one of them is at fault, one by one. Those to be returned."""
    messages = {delivery.id: message for delivery, message in pending}

    def one_by_one(delivery: Delivery) -> None:
        _apply([messages[delivery.id]], session, outcome)

    def fail(_: Delivery) -> None:
        raise failure

    try:
        _apply(list(messages.values()), session, outcome)
    except (Rejected, Misconfigured):
        return until_failure(
            [d for d, _ in pending], one_by_one, dead_letters=dead_letters
        )
    except Retryable as error:
        failure = error
        return until_failure([d for d, _ in pending], fail, dead_letters=dead_letters)
    return []


def _apply(
    messages: Sequence[WriteMessage], session: WriterSession, outcome: WriteOutcome
) -> None:
    """One commit for each run of messages of one sort for one store, in their order.

    The ledger follows the commit: a mark that is there stands for what can be read.
    """
    for _, run in groupby(messages, key=_store):
        batch = list(run)
        match batch[0]:
            case WriteRecords():
                written = _unbarred(
                    [m for m in batch if isinstance(m, WriteRecords)], session
                )
                outcome.records += _upsert(written, session) if written else 0
            case ExpirePeriods():
                outcome.expired += _expire(
                    [m for m in batch if isinstance(m, ExpirePeriods)], session
                )
            case DeleteRecords(scope, grain):
                ids = [
                    id_ for m in batch if isinstance(m, DeleteRecords) for id_ in m.ids
                ]
                outcome.expired += session.records.delete(scope, grain, ids)
            case WriteTriples(scope):
                operations = [
                    o
                    for m in batch
                    if isinstance(m, WriteTriples)
                    for o in m.operations
                ]
                barred = tombstones.load(scope, objects=session.objects)
                kept = [o for o in operations if not barred.bars_operation(o)]
                _drop_payloads(scope, barred, len(kept) < len(operations), session)
                outcome.operations += session.graph.apply(scope, kept)
            case WriteProfile(scope, user_id):
                entries = [
                    e for m in batch if isinstance(m, WriteProfile) for e in m.entries
                ]
                barred = tombstones.load(scope, objects=session.objects)
                stated = [e for e in entries if not barred.bars_entry(e)]
                _drop_payloads(scope, barred, len(stated) < len(entries), session)
                outcome.attributes += session.profiles.apply(scope, user_id, stated)
            case EraseRecords():
                outcome.erased += sum(
                    _erase(m, session) for m in batch if isinstance(m, EraseRecords)
                )
            case EraseTriples(scope):
                ids = [
                    id_ for m in batch if isinstance(m, EraseTriples) for id_ in m.ids
                ]
                outcome.erased += session.graph.erase(scope, ids)
            case EraseProfiles(scope):
                ids = [
                    id_ for m in batch if isinstance(m, EraseProfiles) for id_ in m.ids
                ]
                outcome.erased += session.profiles.erase(scope, ids)
            case MoveStore():
                outcome.moved += sum(
                    _move(m, session) for m in batch if isinstance(m, MoveStore)
                )


def _store(message: WriteMessage) -> tuple[object, ...]:
    """What messages must share to be one commit; a forged body may differ from its group."""
    if isinstance(message, ErasedMessage):
        return (ErasedMessage,)
    if isinstance(message, WriteTriples | EraseTriples | EraseProfiles):
        return (type(message), message.scope)
    if isinstance(message, WriteProfile):
        return (WriteProfile, message.scope, message.user_id)
    model = message.model if isinstance(message, WriteRecords) else None
    return (type(message), message.scope, message.grain, model)


def _upsert(messages: Sequence[WriteRecords], session: WriterSession) -> int:
    scope, grain = messages[0].scope, messages[0].grain
    records = [embedded for message in messages for embedded in message.records]
    written = _put(scope, grain, records, messages[0].model, session)
    parents = [
        parent
        for message in messages
        for label in {embedded.record.period for embedded in message.records}
        if isinstance(grain, Grain)
        and (parent := Period(grain, label).parent())
        and parent.label not in message.ready
    ]
    said = sorted(embedded.record.fingerprint for embedded in records)
    changes = marking(scope, parents, *said, version=written.version)
    if grain is Store.EXPERIENCE and records:
        month = month_of(max(embedded.record.created_at for embedded in records))
        changes += LedgerChanges(expiries=(lessons_key(month, scope),))
    # Even where nothing changed: the delivery before may have ended between commit and mark.
    session.ledger.change(sum((message.ledger for message in messages), changes))
    return written.changed


def _unbarred(
    messages: Sequence[WriteRecords], session: WriterSession
) -> list[WriteRecords]:
    """The messages without what has been forgotten since they were sent.

    A summary of something forgotten is not written and settles nothing: its period stays due.
    """
    scope, kept = messages[0].scope, []
    session.records.expect(scope, messages[0].grain)
    barred = tombstones.load(scope, objects=session.objects)
    if not barred:
        return list(messages)
    for message in messages:
        records = tuple(e for e in message.records if not barred.bars_record(e.record))
        if records:
            kept.append(replace(message, records=records))
    dropped = sum(len(m.records) for m in kept) < sum(len(m.records) for m in messages)
    _drop_payloads(scope, barred, dropped, session)
    return kept


def _drop_payloads(
    scope: Scope, barred: Tombstones, dropped: bool, session: WriterSession
) -> None:
    """Where something was held back, its claim check must not keep it either."""
    if dropped:
        sweep_payloads(scope, barred, objects=session.objects)


def _erase(message: EraseRecords, session: WriterSession) -> int:
    """Put what is left of summaries in their place, then delete: both leave no byte of what was there.

    What is left but of somebody forgotten since is not put: the passes that look for either find the summary.
    """
    barred = tombstones.load(message.scope, objects=session.objects)
    remade = [e for e in message.remade if not barred.bars_record(e.record)]
    if remade:
        _put(message.scope, message.grain, remade, message.model, session)
    # Vectors that wait for a move may be of what is erased; they are made again.
    sweep(message.scope, objects=session.objects)
    deleted = session.records.delete(
        message.scope, message.grain, message.ids, message.known_by
    )
    session.ledger.mark(
        message.scope,
        message.due(),
        *message.ids,
        *(e.record.id for e in message.remade),
    )
    return deleted + len(remade)


def _put(
    scope: Scope,
    grain: StoreName,
    records: Sequence[EmbeddedRecord],
    model: str,
    session: WriterSession,
) -> Written:
    """Upsert; what comes with vectors of another model than its store's, as a move begins or ends, is
    embedded anew where the workspace knows the store's."""
    try:
        return session.records.upsert(scope, grain, records, model)
    except EmbeddingMismatch as mismatch:
        embedder = embedder_for(mismatch, session.embedder(scope.workspace))
    vectors = embedder.embed([embedded.record.content for embedded in records])
    anew = [
        EmbeddedRecord(e.record, vector)
        for e, vector in zip(records, vectors, strict=True)
    ]
    return session.records.upsert(scope, grain, anew, embedder.model)


def _move(message: MoveStore, session: WriterSession) -> int:
    """Put a store under the model that its workspace has now. Raises Misconfigured: it has another."""
    scope, store = message.scope, f"{message.scope}/{message.grain}"
    embedder = session.embedder(scope.workspace)
    require_same_model(store, message.model, embedder.model)
    staging = Staging(scope, embedder, session.objects)
    moved = session.vectors.move(scope, message.grain, message.model, staging.vectors)
    staging.clear()
    return moved


def _expire(messages: Sequence[ExpirePeriods], session: WriterSession) -> int:
    """Delete what cleanup found, but for what something has come to since: that waits for the next pass."""
    deleted = 0
    for message in messages:
        waiting = set() if message.force else _waiting(message, session.ledger)
        labels = [label for label in message.labels if label not in waiting]
        if labels:
            deleted += session.records.delete_periods(
                message.scope, message.grain, labels
            )
        # The notes that call for cleanup stay with what waits.
        session.ledger.change(
            LedgerChanges(expiries=message.ledger.expiries)
            if waiting
            else message.ledger
        )
    return deleted


def _waiting(message: ExpirePeriods, ledger: Ledger) -> set[str]:
    """Those of the labels whose own summary, or that of the period above, is not up to date."""
    if not isinstance(message.grain, Grain):
        return set()  # experience is summed up nowhere
    own, due = message.grain, ledger.pending(message.scope)
    periods = (Period(own, label) for label in message.labels)
    return {period.label for period in periods if {period, period.parent()} & due}
