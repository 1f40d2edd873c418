"""The queues' JSON: what travels between the functions, encoded, decoded and refused."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from varve.domain import profile, triple
from varve.domain.calendar import Grain, Period, iso, parse_instant
from varve.domain.conversation import Conversation, Message, parse_conversation
from varve.domain.errors import Rejected
from varve.domain.identity import Scope, digest, reference
from varve.domain.ledger import NO_CHANGES, LedgerChanges
from varve.domain.profile import ProfileEntry
from varve.domain.record import EmbeddedRecord, StoreName, calendar_of, store_name
from varve.domain.triple import TripleOperation
from varve.encoding import (
    ledger_as_json,
    ledger_from_json,
    notes_from_json,
    record_as_json,
    record_from_json,
)
from varve.erasing import ERASURES, Erased, EraseMessage, Reread, erasure_from_json, reread_from_json
from varve.night_work import CleanAgent, CurateAgent
from varve.ports import Delivery, Objects, Queue
from varve.store_moves import MoveStore
from varve.wire import MAX_BODY_BYTES, dump, group_of, load, malformed, read_body, send_body, typed


@dataclass(frozen=True, slots=True)
class IngestMessage:
    """Consecutive messages of one conversation, `context` of them known to come before."""

    conversation: Conversation
    context: tuple[Message, ...]
    received_at: datetime

    @property
    def correlation_id(self) -> str:
        """What the functions' logs call this message and what comes of it: 16 hex digits, from ids alone."""
        conversation = self.conversation
        ids = (m.id or "" for m in conversation.messages)
        return digest(str(conversation.scope), conversation.conversation_id, *ids, length=16)


@dataclass(frozen=True, slots=True)
class WriteRecords:
    """Records for one grain's store, with the model that embedded them.

    `ready` are the labels of periods above whose summaries know these records already.
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
    """Periods of one grain's store whose time is over."""

    scope: Scope
    grain: StoreName
    labels: tuple[str, ...]
    ledger: LedgerChanges = NO_CHANGES
    force: bool = False


@dataclass(frozen=True, slots=True)
class DeleteRecords:
    """Records of one store that are to go, by their ids."""

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


@dataclass(frozen=True, slots=True)
class SummarizePeriod:
    """One agent's period to bring up to date, as of the planning pass's time."""

    scope: Scope
    period: Period
    planned_at: datetime


_Additions = WriteRecords | WriteTriples | WriteProfile
WriteMessage = _Additions | ExpirePeriods | DeleteRecords | EraseMessage | Erased | MoveStore
WorkMessage = SummarizePeriod | CleanAgent | CurateAgent


_WRITE_TYPES = {"records", "triples", "profile", "expire", "delete", "move", "erased", *ERASURES}


def send_ingest(message: IngestMessage, *, queue: Queue, objects: Objects) -> None:
    """Make the message durable on the ingest queue: one group per conversation.

    The deduplication id is the content's hash, without the time of arrival. Raises Retryable.
    """
    conversation = message.conversation
    content = {
        "conversation": conversation.as_json(),
        "context": [m.model_dump(mode="json", by_alias=True, exclude_unset=True) for m in message.context],
    }
    times = {"receivedAt": iso(message.received_at), "correlationId": message.correlation_id}
    body = {"type": "ingest", **content, **times}
    group = group_of(str(conversation.workspace_id), str(conversation.agent_id), conversation.conversation_id)
    send_body(body, content, group, conversation.scope, queue, objects)


def send_records(message: WriteRecords, *, queue: Queue, objects: Objects) -> None:
    """Make the records durable on the write queue: one group per store. Raises Retryable."""
    fields = {
        "grain": str(message.grain),
        "model": message.model,
        "records": [record_as_json(embedded) for embedded in message.records],
        **ledger_as_json(message.ledger),
        "correlationId": message.correlation_id,
        **({"ready": list(message.ready)} if message.ready else {}),
    }
    send_write("records", message.scope, message.grain, fields, queue, objects)


def send_expiry(message: ExpirePeriods, *, queue: Queue, objects: Objects) -> None:
    """Have the writer delete periods, in the store's own group. Raises Retryable."""
    fields = {
        "grain": str(message.grain),
        "labels": list(message.labels),
        "force": message.force,
        **ledger_as_json(message.ledger),
    }
    send_write("expire", message.scope, message.grain, fields, queue, objects)


def send_deletion(message: DeleteRecords, *, queue: Queue, objects: Objects) -> None:
    """Have the writer delete records, in the store's own group. Raises Retryable."""
    fields = {"grain": str(message.grain), "ids": list(message.ids)}
    send_write("delete", message.scope, message.grain, fields, queue, objects)


def send_triples(message: WriteTriples, *, queue: Queue, objects: Objects) -> None:
    """Make the operations durable on the write queue, in the graph's group. Raises Retryable."""
    operations = [triple.operation_as_json(operation) for operation in message.operations]
    fields = {"operations": operations, "correlationId": message.correlation_id}
    send_write("triples", message.scope, "graph", fields, queue, objects)


def send_profile(message: WriteProfile, *, queue: Queue, objects: Objects) -> None:
    """Make the statements durable on the write queue, in the profiles' group. Raises Retryable."""
    entries = [profile.entry_as_json(entry) for entry in message.entries]
    fields = {"userId": message.user_id, "entries": entries, "correlationId": message.correlation_id}
    send_write("profile", message.scope, "profile", fields, queue, objects)


def read_ingest(delivery: Delivery, *, objects: Objects) -> IngestMessage | Reread | Erased:
    """The message of a delivery on the ingest queue. Raises Rejected: it is none; Retryable."""
    body = read_body(delivery, objects, {"ingest", "reread", "erased"})
    try:
        if body["type"] != "ingest":
            return reread_from_json(body) if body["type"] == "reread" else Erased()
        conversation = parse_conversation(body["conversation"])
        conversation.scope  # noqa: B018 - raises where workspace or agent is missing
        context = tuple(Message.model_validate(message) for message in body["context"])
        return IngestMessage(conversation, context, parse_instant(body["receivedAt"]))
    except (KeyError, TypeError, ValueError) as error:
        raise malformed(error) from error


def read_write(delivery: Delivery, *, objects: Objects) -> WriteMessage:
    """The message of a delivery on the write queue. Raises Rejected: it is none; Retryable."""
    body = read_body(delivery, objects, _WRITE_TYPES)
    if body["type"] == "erased":
        return Erased()
    try:
        scope = Scope(body["workspaceId"], body["agentId"])
        if body["type"] in ERASURES:
            return erasure_from_json(body, scope)
        if body["type"] == "triples":
            return WriteTriples(scope, tuple(map(triple.operation_from_json, body["operations"])))
        if body["type"] == "profile":
            return _profile(body, scope)
        grain = store_name(body["grain"])
        if body["type"] == "delete":
            return DeleteRecords(scope, grain, tuple(map(str, body["ids"])))
        if body["type"] == "move":
            return MoveStore(scope, grain, str(body["model"]))
        changes = ledger_from_json(body, scope)
        if body["type"] == "expire":
            labels = tuple(Period.parse(label, calendar_of(grain)).label for label in body["labels"])
            return ExpirePeriods(scope, grain, labels, changes, body["force"] is True)
        records = tuple(map(record_from_json, body["records"]))
        ready = tuple(map(str, body.get("ready", ())))
        return WriteRecords(scope, grain, str(body["model"]), records, changes, ready=ready)
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise malformed(error) from error


def _profile(body: dict[str, Any], scope: Scope) -> WriteProfile:
    """Statements of that very user alone: a forged one would be out of reach of an erasure."""
    user_id = reference(body["userId"], "userId")
    entries = tuple(map(profile.entry_from_json, body["entries"]))
    if any(entry.user_id != user_id for entry in entries):
        raise Rejected("entries", "are about another user than the message's")
    return WriteProfile(scope, user_id, entries)


def send_write(
    type_: str, scope: Scope, store: str, fields: dict[str, Any], queue: Queue, objects: Objects
) -> None:
    """A message for one store's group of the write queue."""
    body = {"type": type_, "workspaceId": scope.workspace, "agentId": scope.agent, **fields}
    send_body(body, body, group_of(scope.workspace, scope.agent, store), scope, queue, objects)


def records_in_bounds(
    message: WriteRecords, max_bytes: int = MAX_BODY_BYTES - 10_000
) -> Sequence[WriteRecords]:
    """The message in pieces that each fit a queue message, as far as single records do."""
    pieces: list[list[EmbeddedRecord]] = [[]]
    size = 0
    for embedded in message.records:
        cost = len(dump(record_as_json(embedded)).encode()) + 1
        if pieces[-1] and size + cost > max_bytes:
            pieces.append([])
            size = 0
        pieces[-1].append(embedded)
        size += cost
    return [replace(message, records=tuple(piece)) for piece in pieces if piece]


def send_work(message: SummarizePeriod, marks: Sequence[str], *, queue: Queue) -> None:
    """Put one period on the work queue: one group per agent, so that two never build one summary.

    What makes it new is what is due and the pass that found it so. Raises Retryable.
    """
    fields = {"grain": str(message.period.grain), "period": message.period.label}
    _send_work("summarize", message, fields, sorted(marks), queue)


def send_cleaning(message: CleanAgent, *, queue: Queue) -> None:
    """Put one agent's cleanup on the work queue, in the agent's group. Raises Retryable."""
    _send_work("clean", message, {"notes": list(message.notes)}, (), queue)


def send_curation(message: CurateAgent, *, queue: Queue) -> None:
    """Put a look at one agent's lessons on the work queue, in its group. Raises Retryable."""
    _send_work("curate", message, {"months": list(message.months)}, (), queue)


def read_work(delivery: Delivery) -> WorkMessage:
    """The message of a delivery on the work queue. Raises Rejected: it is none."""
    body = typed(load(delivery.body), {"summarize", "clean", "curate"})
    try:
        scope, planned_at = Scope(body["workspaceId"], body["agentId"]), parse_instant(body["plannedAt"])
        if body["type"] == "clean":
            return CleanAgent(scope, notes_from_json(body["notes"], scope), planned_at)
        if body["type"] == "curate":
            months = tuple(Period.parse(month, Grain.MONTHLY).label for month in body["months"])
            return CurateAgent(scope, months, planned_at)
        return SummarizePeriod(scope, Period.parse(body["period"], Grain(body["grain"])), planned_at)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise malformed(error) from error


def _send_work(
    type_: str, message: WorkMessage, fields: dict[str, Any], news: Sequence[str], queue: Queue
) -> None:
    scope = message.scope
    owner = {"workspaceId": scope.workspace, "agentId": scope.agent}
    body = dump({"type": type_, **owner, **fields, "plannedAt": iso(message.planned_at)})
    queue.send(body, group=group_of(scope.workspace, scope.agent), deduplication_id=digest(body, *news))
