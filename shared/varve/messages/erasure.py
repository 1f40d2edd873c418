"""The write queue's messages of erasure, and what is left of any message when what was forgotten is out."""

import json
from collections.abc import Mapping
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

ERASED = {"type": "erased"}
"""What stands in the place of a payload whose message has been forgotten: it is taken and dropped."""


@dataclass(frozen=True, slots=True)
class EraseRecords:
    """Records of one grain's store to delete with their bytes, and some to put in the place of others.

    `labels` are the periods that lose something; what sums them up is due again. No ids at all still
    make the store give up its old versions. What was made after `known_by` under one of the ids stays: a
    message that was held up finds summaries built anew, of which it knows nothing.
    """

    scope: Scope
    grain: StoreName
    ids: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    model: str = ""
    remade: tuple[EmbeddedRecord, ...] = ()
    known_by: datetime | None = None

    def due(self) -> set[Period]:
        """The periods whose summaries are to be made anew."""
        if not isinstance(self.grain, Grain):
            return set()  # experience is summed up nowhere
        periods = {Period(self.grain, label) for label in self.labels}
        own = periods if self.grain is not Grain.WORKING else set()
        return own | {parent for period in periods if (parent := period.parent())}


@dataclass(frozen=True, slots=True)
class EraseTriples:
    """Operations of one agent's graph to take back, by id."""

    scope: Scope
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EraseProfiles:
    """Statements to take out of the profiles of an agent's users, by id."""

    scope: Scope
    ids: tuple[str, ...]


EraseMessage = EraseRecords | EraseTriples | EraseProfiles
ERASURES = frozenset({"erase_records", "erase_triples", "erase_profiles"})
"""Their types on the write queue."""


@dataclass(frozen=True, slots=True)
class Reread:
    """A conversation to be read anew from the timeline, because some of what was read is forgotten.

    `learnt` says when each message was first read; facts are made of those of which a turn is still in
    memory, `remembered`, for the others' time was over.
    """

    scope: Scope
    conversation_id: str
    learnt: Mapping[str, datetime]
    remembered: frozenset[str]


@dataclass(frozen=True, slots=True)
class Erased:
    """A message of which nothing is left."""


def reread_as_json(message: Reread) -> dict[str, Any]:
    """The message as plain JSON values."""
    return {
        "type": "reread",
        "workspaceId": message.scope.workspace,
        "agentId": message.scope.agent,
        "conversationId": message.conversation_id,
        "learnt": {id_: iso(at) for id_, at in message.learnt.items()},
        "remembered": sorted(message.remembered),
    }


def reread_from_json(body: Mapping[str, Any]) -> Reread:
    """The inverse. Raises KeyError, TypeError, ValueError, Rejected: not such a message."""
    return Reread(
        Scope(body["workspaceId"], body["agentId"]),
        path_id(body["conversationId"], "conversationId"),
        {str(id_): parse_instant(at) for id_, at in body["learnt"].items()},
        frozenset(map(str, body["remembered"])),
    )


def erasure_as_json(message: EraseMessage) -> dict[str, Any]:
    """The message's own fields as plain JSON values."""
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
    """The inverse. Raises KeyError, TypeError, ValueError: not such a message."""
    ids = tuple(map(str, body["ids"]))
    if body["type"] == "erase_triples":
        return EraseTriples(scope, ids)
    if body["type"] == "erase_profiles":
        return EraseProfiles(scope, ids)
    grain = store_name(body["grain"])
    of = grain if isinstance(grain, Grain) else None
    labels = tuple(Period.parse(label, of).label for label in body["labels"])
    remade = tuple(map(record_from_json, body["records"]))
    known_by = parse_instant(body["knownBy"]) if body.get("knownBy") else None
    return EraseRecords(scope, grain, ids, labels, str(body["model"]), remade, known_by)


def remaining_letter(text: str, scope: Scope, barred: Tombstones) -> str:
    """Whether a dead letter of the agent is forgotten: "all" of it, "some" of it, or "none"."""
    try:
        body = json.loads(text)
        owner = body.get("conversation", body)
        if (owner["workspaceId"], owner["agentId"]) != (scope.workspace, scope.agent):
            return "none"
        left = remaining(body, barred)
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
    return "all" if left == ERASED else "none" if left == body else "some"


def remaining(body: Mapping[str, Any], barred: Tombstones) -> dict[str, Any]:
    """The body of a message, or of an outcome, without what has been forgotten; `ERASED` if that is all.

    Raises KeyError, TypeError, ValueError, Rejected: it is not such a body.
    """
    kept = dict(body)
    match body.get("type"):
        case "ingest":
            return _conversation(kept, barred)
        case "outcome":
            row = report_record(report_from_json(body), "")
            return ERASED if barred.bars_record(row) else kept
        case "records" | "erase_records":
            rows = [
                row
                for row in body["records"]
                if not barred.bars_record(record_from_json(row).record)
            ]
            if len(rows) == len(body["records"]):
                return kept
            return kept | {"records": rows} if rows else ERASED
        case "triples":
            rows = [
                row
                for row in body["operations"]
                if not barred.bars_operation(triple.operation_from_json(row))
            ]
            return (
                kept | {"operations": rows}
                if rows or not body["operations"]
                else ERASED
            )
        case "profile":
            rows = [
                row
                for row in body["entries"]
                if not barred.bars_entry(entry_from_json(row))
            ]
            return kept | {"entries": rows} if rows or not body["entries"] else ERASED
    return kept


def _conversation(body: dict[str, Any], barred: Tombstones) -> dict[str, Any]:
    conversation = parse_conversation(body["conversation"])
    context = [Message.model_validate(message) for message in body["context"]]
    kept_context, kept = admitted(
        conversation, context, parse_instant(body["receivedAt"]), barred
    )
    if (len(kept_context), len(kept)) == (len(context), len(conversation.messages)):
        return body
    if not kept:
        return ERASED
    given = {m["id"]: m for m in body["conversation"]["messages"]}
    return body | {
        "conversation": body["conversation"]
        | {"messages": [given[m.id] for m in kept]},
        "context": [
            m.model_dump(mode="json", by_alias=True, exclude_unset=True)
            for m in kept_context
        ],
    }


def admitted(
    conversation: Conversation,
    context: list[Message],
    received_at: datetime,
    barred: Tombstones,
) -> tuple[list[Message], list[Message]]:
    """The context and the messages of a part of a conversation, without what has been forgotten."""
    everything = [*context, *conversation.messages]
    start = conversation.started_at or received_at
    whose = owners((m.role, m.user_id or conversation.user_id) for m in everything)
    kept = [
        index
        for index, (message, users) in enumerate(zip(everything, whose, strict=True))
        if not barred.bars_message(
            (conversation.conversation_id, str(message.id)),
            users,
            message.timestamp or start,
            received_at,
        )
    ]
    border = len(context)
    return [everything[i] for i in kept if i < border], [
        everything[i] for i in kept if i >= border
    ]
