"""The ingest queue's message: a conversation on its way to be read."""

from dataclasses import dataclass
from datetime import datetime

from varve.domain.calendar import iso, parse_instant
from varve.domain.conversation import Conversation, Message, parse_conversation
from varve.domain.identity import digest
from varve.messages.erasure import Erased, Reread, reread_from_json
from varve.messages.wire import group_of, malformed, read_body, send_body
from varve.ports.objects import Objects
from varve.ports.queues import Delivery, Queue


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
        return digest(
            str(conversation.scope), conversation.conversation_id, *ids, length=16
        )


def send_ingest(message: IngestMessage, *, queue: Queue, objects: Objects) -> None:
    """Make the message durable on the ingest queue: one group per conversation.

    The deduplication id is the content's hash, without the time of arrival. Raises Retryable.
    """
    conversation = message.conversation
    content = {
        "conversation": conversation.as_json(),
        "context": [
            m.model_dump(mode="json", by_alias=True, exclude_unset=True)
            for m in message.context
        ],
    }
    times = {
        "receivedAt": iso(message.received_at),
        "correlationId": message.correlation_id,
    }
    body = {"type": "ingest", **content, **times}
    group = group_of(
        str(conversation.workspace_id),
        str(conversation.agent_id),
        conversation.conversation_id,
    )
    send_body(body, content, group, conversation.scope, queue, objects)


def read_ingest(
    delivery: Delivery, *, objects: Objects
) -> IngestMessage | Reread | Erased:
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
