"""The ingest queue's message: a part of a conversation to be read."""

from dataclasses import dataclass
from datetime import datetime

from varve.domain.calendar import iso, parse_instant
from varve.domain.conversation import Conversation, Message, parse_conversation
from varve.domain.identity import digest
from varve.messages.erasure import ErasedMessage, Reread, reread_from_json
from varve.messages.wire import group_of, malformed, read_body, send_body
from varve.ports.objects import Objects
from varve.ports.queues import Delivery, LocalQueue, Queue


@dataclass(frozen=True, slots=True)
class IngestMessage:
    """Consecutive messages of one conversation; `context` holds messages before them.

    `token` names the erasure that has them read again; else it is empty.
    """

    conversation: Conversation
    context: tuple[Message, ...]
    received_at: datetime
    token: str = ""

    @property
    def correlation_id(self) -> str:
        """The id of this message in the logs of all functions: 16 hex digits, from ids."""
        conversation = self.conversation
        scope = str(conversation.scope)
        ids = [message.id or "" for message in conversation.messages]
        if self.token:
            ids.append(self.token)
        return digest(scope, conversation.conversation_id, *ids, length=16)


def send_ingest(
    message: IngestMessage, *, queue: Queue, objects: Objects
) -> None:
    """Send the message to the ingest queue, in the conversation's group.

    The deduplication id is a hash of the content without the time of arrival.
    Raises Retryable.
    """
    conversation = message.conversation
    group = group_of(
        str(conversation.workspace_id),
        str(conversation.agent_id),
        conversation.conversation_id,
    )
    if isinstance(queue, LocalQueue):
        size = sum(len(one.text) for one in conversation.messages)
        queue.hand_over(message, group=group, size=size)
        return
    context = [
        m.model_dump(mode="json", by_alias=True, exclude_unset=True)
        for m in message.context
    ]
    content = {"conversation": conversation.as_json(), "context": context}
    body = {
        "type": "ingest",
        **content,
        "receivedAt": iso(message.received_at),
        "correlationId": message.correlation_id,
    }
    send_body(body, group, conversation.scope, queue, objects, content=content)


def read_ingest(
    delivery: Delivery, *, objects: Objects
) -> IngestMessage | Reread | ErasedMessage:
    """Decode a delivery of the ingest queue. Raises Rejected: not valid; Retryable."""
    if isinstance(delivery.message, IngestMessage):
        return delivery.message
    body = read_body(delivery, objects, {"ingest", "reread", "erased"})
    if body["type"] == "erased":
        return ErasedMessage()
    try:
        if body["type"] == "reread":
            return reread_from_json(body)
        conversation = parse_conversation(body["conversation"])
        conversation.scope  # noqa: B018 - raises where workspace or agent is missing
        context = tuple(map(Message.model_validate, body["context"]))
        received_at = parse_instant(body["receivedAt"])
        return IngestMessage(conversation, context, received_at)
    except (KeyError, TypeError, ValueError) as error:
        raise malformed(error) from error
