"""The write queue's messages: encoding, decoding and validation."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import cast

from varve.domain import profile, triple
from varve.domain.calendar import Period
from varve.domain.errors import Rejected
from varve.domain.identity import Scope, reference
from varve.domain.ledger import NO_CHANGES, LedgerChanges
from varve.domain.profile import ProfileEntry
from varve.domain.record import (
    EmbeddedRecord,
    StoreName,
    calendar_of,
    store_name,
)
from varve.domain.triple import TripleOperation
from varve.messages.encoding import (
    ledger_as_json,
    ledger_from_json,
    record_as_json,
    record_from_json,
)
from varve.messages.erasure import (
    ERASURES,
    ErasedMessage,
    EraseMessage,
    EraseProfiles,
    EraseTriples,
    erasure_from_json,
)
from varve.messages.moves import CompactStore, MoveStore
from varve.messages.notes import IndexNote, index_from_json
from varve.messages.wire import (
    MAX_BODY_BYTES,
    Body,
    group_of,
    malformed,
    read_body,
    send_write,
)
from varve.ports.objects import Objects
from varve.ports.queues import Delivery, LocalQueue, Queue

FIELDS_BYTES = 900
"""About what the names, ids and times of a record take in a message."""
STATEMENT_BYTES = 400
"""About what an operation or a profile entry takes in a message."""


@dataclass(frozen=True, slots=True)
class WriteRecords:
    """Records for one grain's store, with the model that embedded them.

    `ready` has the labels of parent periods whose summaries already cover these records.
    """

    scope: Scope
    grain: StoreName
    model: str
    records: tuple[EmbeddedRecord, ...]
    ledger: LedgerChanges = NO_CHANGES
    correlation_id: str | None = None
    ready: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExpirePeriods:
    """Expired periods to delete from one grain's store."""

    scope: Scope
    grain: StoreName
    labels: tuple[str, ...]
    ledger: LedgerChanges = NO_CHANGES
    force: bool = False


@dataclass(frozen=True, slots=True)
class DeleteRecords:
    """Records to delete from one store, by id."""

    scope: Scope
    grain: StoreName
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WriteTriples:
    """Operations for one agent's graph."""

    scope: Scope
    operations: tuple[TripleOperation, ...]
    correlation_id: str | None = None


@dataclass(frozen=True, slots=True)
class WriteProfile:
    """Statements about one user of an agent."""

    scope: Scope
    user_id: str
    entries: tuple[ProfileEntry, ...]
    correlation_id: str | None = None


_Additions = WriteRecords | WriteTriples | WriteProfile
WriteMessage = (
    _Additions
    | ExpirePeriods
    | DeleteRecords
    | EraseMessage
    | ErasedMessage
    | MoveStore
    | CompactStore
    | IndexNote
)


def send_records(
    message: WriteRecords, *, queue: Queue, objects: Objects
) -> None:
    """Send records to the write queue, in the store's group. Raises Retryable."""
    if isinstance(queue, LocalQueue):
        size = sum(map(_estimate_bytes, message.records))
        _hand_over(message, message.grain, size, queue)
        return
    fields = {
        "grain": str(message.grain),
        "model": message.model,
        "records": [record_as_json(embedded) for embedded in message.records],
        **ledger_as_json(message.ledger),
        "correlationId": message.correlation_id,
    }
    if message.ready:
        fields["ready"] = list(message.ready)
    send_write("records", message.scope, message.grain, fields, queue, objects)


def _hand_over(
    message: WriteRecords | WriteTriples | WriteProfile,
    store: str,
    size: int,
    queue: LocalQueue,
) -> None:
    """Give a message to the writer of this process, in the store's group."""
    scope = message.scope
    group = group_of(scope.workspace, scope.agent, store)
    queue.hand_over(message, group=group, size=size)


def send_expiry(
    message: ExpirePeriods, *, queue: Queue, objects: Objects
) -> None:
    """Ask the writer to delete periods, in the store's group. Raises Retryable."""
    fields = {
        "grain": str(message.grain),
        "labels": list(message.labels),
        "force": message.force,
        **ledger_as_json(message.ledger),
    }
    send_write("expire", message.scope, message.grain, fields, queue, objects)


def send_deletion(
    message: DeleteRecords, *, queue: Queue, objects: Objects
) -> None:
    """Ask the writer to delete records, in the store's group. Raises Retryable."""
    fields = {"grain": str(message.grain), "ids": list(message.ids)}
    send_write("delete", message.scope, message.grain, fields, queue, objects)


def send_triples(
    message: WriteTriples, *, queue: Queue, objects: Objects
) -> None:
    """Send operations to the write queue, in the graph's group. Raises Retryable."""
    if isinstance(queue, LocalQueue):
        size = STATEMENT_BYTES * len(message.operations)
        _hand_over(message, "graph", size, queue)
        return
    operations = list(map(triple.operation_as_json, message.operations))
    fields = {
        "operations": operations,
        "correlationId": message.correlation_id,
    }
    send_write("triples", message.scope, "graph", fields, queue, objects)


def send_profile(
    message: WriteProfile, *, queue: Queue, objects: Objects
) -> None:
    """Send statements to the write queue, in the profiles' group. Raises Retryable."""
    if isinstance(queue, LocalQueue):
        size = STATEMENT_BYTES * len(message.entries)
        _hand_over(message, "profile", size, queue)
        return
    entries = list(map(profile.entry_as_json, message.entries))
    fields = {
        "userId": message.user_id,
        "entries": entries,
        "correlationId": message.correlation_id,
    }
    send_write("profile", message.scope, "profile", fields, queue, objects)


def read_write(delivery: Delivery, *, objects: Objects) -> WriteMessage:
    """Decode a delivery of the write queue. Raises Rejected: not valid; Retryable."""
    if delivery.message is not None:
        return cast(WriteMessage, delivery.message)
    body = read_body(delivery, objects, _WRITE_TYPES)
    if body["type"] == "erased":
        return ErasedMessage()
    decode = _DECODERS[body["type"]]
    try:
        scope = Scope(body["workspaceId"], body["agentId"])
        return decode(body, scope)
    except (
        KeyError,
        TypeError,
        ValueError,
        AttributeError,
        ArithmeticError,
    ) as error:
        raise malformed(error) from error


def _decode_records(body: Body, scope: Scope) -> WriteRecords:
    return WriteRecords(
        scope=scope,
        grain=store_name(body["grain"]),
        ledger=ledger_from_json(body, scope),
        records=tuple(map(record_from_json, body["records"])),
        ready=tuple(map(str, body.get("ready", ()))),
        model=str(body["model"]),
    )


def _decode_triples(body: Body, scope: Scope) -> WriteTriples:
    operations = map(triple.operation_from_json, body["operations"])
    return WriteTriples(scope, tuple(operations))


def _decode_profile(body: Body, scope: Scope) -> WriteProfile:
    """Return the message; every statement must be about the message's own user.

    A forged one would be stored under another user and escape that user's erasure.
    """
    user_id = reference(body["userId"], "userId")
    entries = tuple(map(profile.entry_from_json, body["entries"]))
    if any(entry.user_id != user_id for entry in entries):
        raise Rejected("entries", "are about another user than the message's")
    return WriteProfile(scope, user_id, entries)


def _decode_expiry(body: Body, scope: Scope) -> ExpirePeriods:
    grain = store_name(body["grain"])
    changes = ledger_from_json(body, scope)
    calendar = calendar_of(grain)
    periods = [Period.parse(label, calendar) for label in body["labels"]]
    return ExpirePeriods(
        scope=scope,
        grain=grain,
        labels=tuple(period.label for period in periods),
        ledger=changes,
        force=body["force"] is True,
    )


def _decode_deletion(body: Body, scope: Scope) -> DeleteRecords:
    grain = store_name(body["grain"])
    ids = tuple(map(str, body["ids"]))
    return DeleteRecords(scope, grain, ids)


def _decode_move(body: Body, scope: Scope) -> MoveStore:
    grain = store_name(body["grain"])
    return MoveStore(scope, grain, str(body["model"]))


def _decode_compaction(body: Body, scope: Scope) -> CompactStore:
    return CompactStore(scope, store_name(body["grain"]))


_DECODERS: Mapping[str, Callable[[Body, Scope], WriteMessage]] = {
    "records": _decode_records,
    "triples": _decode_triples,
    "profile": _decode_profile,
    "expire": _decode_expiry,
    "delete": _decode_deletion,
    "move": _decode_move,
    "compact": _decode_compaction,
    "note": index_from_json,
    **dict.fromkeys(ERASURES, erasure_from_json),
}
_WRITE_TYPES = {*_DECODERS, "erased"}


def records_in_bounds(
    message: WriteRecords, max_bytes: int = MAX_BODY_BYTES - 10_000
) -> Sequence[WriteRecords]:
    """Split a message into pieces of about `max_bytes`; one record is never split.

    The sizes are estimates: encoding the records for it would take as long as sending. A
    piece that is larger after all becomes a claim check.
    """
    pieces: list[list[EmbeddedRecord]] = [[]]
    size = 0
    for embedded in message.records:
        cost = _estimate_bytes(embedded)
        if pieces[-1] and size + cost > max_bytes:
            pieces.append([])
            size = 0
        pieces[-1].append(embedded)
        size += cost
    return [
        replace(message, records=tuple(piece)) for piece in pieces if piece
    ]


def send_in_bounds(
    message: WriteRecords, *, queue: Queue, objects: Objects
) -> None:
    """Send records in as many messages as their size needs. Raises Retryable."""
    for piece in records_in_bounds(message):
        send_records(piece, queue=queue, objects=objects)


def _estimate_bytes(embedded: EmbeddedRecord) -> int:
    """Return about how many bytes a record and its vector take in a message."""
    record = embedded.record
    lists = (
        record.source_ids,
        record.people,
        record.topics,
        record.open_questions,
        record.source_fingerprints,
    )
    texts = [record.content, record.key_facts, *chain.from_iterable(lists)]
    words = sum(len(text.encode()) + 4 for text in texts)
    # A float16 takes two bytes, and base64 a third more.
    return FIELDS_BYTES + words + 3 * embedded.vector.size


def commit_key(message: WriteMessage) -> tuple[object, ...]:
    """Return what messages of one commit share.

    It includes the scope, because a forged body may name another store than its group.
    """
    match message:
        case ErasedMessage():
            return (ErasedMessage,)
        case (
            WriteTriples()
            | WriteProfile()
            | EraseTriples()
            | EraseProfiles()
            | IndexNote()
        ):
            return (type(message), message.scope)
        case WriteRecords():
            return (WriteRecords, message.scope, message.grain, message.model)
        case _:
            return (type(message), message.scope, message.grain)
