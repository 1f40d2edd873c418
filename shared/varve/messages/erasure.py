"""The messages of erasure, and the redaction of queue messages that hold forgotten content."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from varve.domain import triple
from varve.domain.calendar import Grain, Period, iso, parse_instant
from varve.domain.conversation import Conversation, Message, parse_conversation
from varve.domain.erasure import Tombstones, owners
from varve.domain.errors import Rejected
from varve.domain.experience.rows import report_record
from varve.domain.identity import Scope, path_id
from varve.domain.profile import entry_from_json
from varve.domain.record import EmbeddedRecord, StoreName, store_name
from varve.messages.encoding import record_as_json, record_from_json
from varve.messages.outcome import report_from_json
from varve.messages.wire import Body

ERASED = {"type": "erased"}
"""The body that replaces the payload of a forgotten message; functions take and drop it."""


@dataclass(frozen=True, slots=True)
class EraseRecords:
    """Records of one grain's store to delete with their bytes, and records to replace.

    `remade` replaces records of the same ids. `labels` are the periods that lose records;
    the summaries above them become due. Even without ids the store drops its old versions.
    Records created after `known_by` stay: a delayed message must not delete summaries that
    were rebuilt after it was sent.
    """

    scope: Scope
    grain: StoreName
    ids: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    model: str = ""
    remade: tuple[EmbeddedRecord, ...] = ()
    known_by: datetime | None = None

    def due(self) -> set[Period]:
        """Return the periods whose summaries must be rebuilt."""
        if not isinstance(self.grain, Grain):
            return set()  # the experience store has no summaries
        periods = [Period(self.grain, label) for label in self.labels]
        due: set[Period] = set()
        if self.grain is not Grain.WORKING:
            due.update(periods)
        for period in periods:
            parent = period.parent()
            if parent:
                due.add(parent)
        return due


@dataclass(frozen=True, slots=True)
class EraseTriples:
    """Triple operations to delete from one agent's graph, by id."""

    scope: Scope
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EraseProfiles:
    """Statements to delete from the profiles of an agent's users, by id."""

    scope: Scope
    ids: tuple[str, ...]


EraseMessage = EraseRecords | EraseTriples | EraseProfiles
ERASURES = frozenset({"erase_records", "erase_triples", "erase_profiles"})
"""The types of `EraseMessage` on the write queue."""


@dataclass(frozen=True, slots=True)
class Reread:
    """A conversation to read again from the timeline, because a part of it is forgotten.

    `learnt` says when each message was first read. Facts are drawn only from messages in
    `remembered`, whose turns are still in memory; the others have expired. `facts` are the ids
    of the facts that were erased to be extracted again. `token` names the
    pass of the erasure: SQS must not drop what follows as a duplicate of an earlier pass.
    """

    scope: Scope
    conversation_id: str
    learnt: Mapping[str, datetime]
    remembered: frozenset[str]
    token: str = ""
    facts: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ErasedMessage:
    """A message whose whole content has been erased."""


def reread_as_json(message: Reread) -> Body:
    """Return the message as JSON values."""
    return {
        "type": "reread",
        "workspaceId": message.scope.workspace,
        "agentId": message.scope.agent,
        "conversationId": message.conversation_id,
        "learnt": {id_: iso(at) for id_, at in message.learnt.items()},
        "remembered": sorted(message.remembered),
        "facts": sorted(message.facts),
        "token": message.token,
    }


def reread_from_json(body: Mapping[str, Any]) -> Reread:
    """Return the message of JSON values.

    Raises KeyError, TypeError, ValueError, Rejected: not such a message.
    """
    scope = Scope(body["workspaceId"], body["agentId"])
    conversation_id = path_id(body["conversationId"], "conversationId")
    learnt: dict[str, datetime] = {}
    for id_, at in body["learnt"].items():
        learnt[str(id_)] = parse_instant(at)
    remembered = frozenset(map(str, body["remembered"]))
    token = str(body.get("token", ""))
    facts = frozenset(map(str, body.get("facts", ())))
    return Reread(scope, conversation_id, learnt, remembered, token, facts)


def erasure_as_json(message: EraseMessage) -> Body:
    """Return the message's own fields as JSON values."""
    if isinstance(message, EraseTriples | EraseProfiles):
        return {"ids": list(message.ids)}
    return {
        "grain": str(message.grain),
        "ids": list(message.ids),
        "labels": list(message.labels),
        "model": message.model,
        "records": [record_as_json(embedded) for embedded in message.remade],
        "knownBy": iso(message.known_by) if message.known_by else None,
    }


def erasure_from_json(body: Mapping[str, Any], scope: Scope) -> EraseMessage:
    """Return the message of JSON values.

    Raises KeyError, TypeError, ValueError: not such a message.
    """
    ids = tuple(map(str, body["ids"]))
    if body["type"] == "erase_triples":
        return EraseTriples(scope, ids)
    if body["type"] == "erase_profiles":
        return EraseProfiles(scope, ids)
    store = store_name(body["grain"])
    grain = store if isinstance(store, Grain) else None
    periods = [Period.parse(label, grain) for label in body["labels"]]
    known_by = body.get("knownBy")
    return EraseRecords(
        scope=scope,
        grain=store,
        ids=ids,
        labels=tuple(period.label for period in periods),
        model=str(body["model"]),
        remade=tuple(map(record_from_json, body["records"])),
        known_by=parse_instant(known_by) if known_by else None,
    )


def forgotten_share(text: str, scope: Scope, barred: Tombstones) -> str:
    """Return how much of an agent's dead letter is forgotten: "all", "some" or "none".

    A letter of another agent, or one that cannot be read, gives "none".
    """
    try:
        body = json.loads(text)
        if not _belongs_to(body, scope):
            return "none"
        redacted = redact_body(body, barred)
    except (
        KeyError,
        TypeError,
        ValueError,
        AttributeError,
        ArithmeticError,
        RecursionError,
        Rejected,
    ):
        return "none"
    if redacted == ERASED:
        return "all"
    return "none" if redacted == body else "some"


def _belongs_to(body: Mapping[str, Any], scope: Scope) -> bool:
    owner = body.get("conversation", body)
    workspace = owner["workspaceId"]
    agent = owner["agentId"]
    return bool(workspace == scope.workspace and agent == scope.agent)


def redact_body(body: Mapping[str, Any], barred: Tombstones) -> Body:
    """Return a message's body without forgotten content; `ERASED` if nothing is left.

    Raises KeyError, TypeError, ValueError, Rejected: the body is not valid.
    """

    def bars_record(row: Body) -> bool:
        return barred.bars_record(record_from_json(row).record)

    def bars_operation(row: Body) -> bool:
        return barred.bars_operation(triple.operation_from_json(row))

    def bars_entry(row: Body) -> bool:
        return barred.bars_entry(entry_from_json(row))

    match body.get("type"):
        case "ingest":
            return _redact_conversation(dict(body), barred)
        case "outcome":
            report = report_record(report_from_json(body), "")
            return ERASED if barred.bars_record(report) else dict(body)
        case "records" | "erase_records":
            return _redact_rows(body, "records", bars_record)
        case "triples":
            return _redact_rows(body, "operations", bars_operation)
        case "profile":
            return _redact_rows(body, "entries", bars_entry)
    return dict(body)


def _redact_rows(
    body: Mapping[str, Any], field: str, is_barred: Callable[[Body], bool]
) -> Body:
    rows = body[field]
    kept = [row for row in rows if not is_barred(row)]
    if len(kept) == len(rows):
        return dict(body)
    return {**body, field: kept} if kept else ERASED


def _redact_conversation(body: Body, barred: Tombstones) -> Body:
    conversation = parse_conversation(body["conversation"])
    context = [Message.model_validate(message) for message in body["context"]]
    received_at = parse_instant(body["receivedAt"])
    kept_context, kept = drop_forgotten(
        conversation, context, received_at, barred
    )
    forgotten_context = len(context) - len(kept_context)
    forgotten = len(conversation.messages) - len(kept)
    if not forgotten and not forgotten_context:
        return body
    if not kept:
        return ERASED
    given = body["conversation"]
    by_id = {message["id"]: message for message in given["messages"]}
    messages = [by_id[message.id] for message in kept]
    return {
        **body,
        "conversation": {**given, "messages": messages},
        "context": _as_json(kept_context),
    }


def _as_json(messages: Iterable[Message]) -> list[Body]:
    return [
        message.model_dump(mode="json", by_alias=True, exclude_unset=True)
        for message in messages
    ]


def drop_forgotten(
    conversation: Conversation,
    context: list[Message],
    received_at: datetime,
    barred: Tombstones,
) -> tuple[list[Message], list[Message]]:
    """Return the context and the messages of a conversation without forgotten ones."""
    everything = [*context, *conversation.messages]
    start = conversation.started_at or received_at
    speakers = [
        (m.role, m.user_id or conversation.user_id) for m in everything
    ]
    whose = owners(speakers)
    forgotten: list[bool] = []
    for message, users in zip(everything, whose, strict=True):
        key = (conversation.conversation_id, str(message.id))
        said_at = message.timestamp or start
        forgotten.append(barred.bars_message(key, users, said_at, received_at))
    border = len(context)
    return (
        _keep(context, forgotten[:border]),
        _keep(conversation.messages, forgotten[border:]),
    )


def _keep(
    messages: Sequence[Message], dropped: Sequence[bool]
) -> list[Message]:
    pairs = zip(messages, dropped, strict=True)
    return [message for message, drop in pairs if not drop]
