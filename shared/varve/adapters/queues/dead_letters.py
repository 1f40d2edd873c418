"""The dead-letter queue of an SQS queue, for functions and for operators."""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from typing import Any

from varve.adapters.aws_errors import translate_aws_errors
from varve.adapters.queues.sqs import SqsQueue
from varve.domain.dead_letter import reasons_of, redrive_id
from varve.ports.queues import Delivery, Letter

HELD_SECONDS = 120
"""Received letters stay invisible this long if the process dies."""
MAX_LETTERS = 1_000
MAX_ATTRIBUTE_CHARACTERS = 1_000

Message = dict[str, Any]
Attribute = dict[str, str]


class SqsDeadLetters:
    """The DeadLetters port over SQS, with the reasons as message attributes."""

    def __init__(self, queue: SqsQueue) -> None:
        self._queue = queue

    def send(self, delivery: Delivery, error: Exception) -> None:
        url = self._queue.dead_letter_url
        reasons = reasons_of(delivery.id, error)
        with translate_aws_errors(f"queue {url}"):
            self._queue.client.send_message(
                QueueUrl=url,
                MessageBody=delivery.body,
                MessageGroupId=delivery.group,
                MessageDeduplicationId=delivery.id,
                MessageAttributes=_to_attributes(reasons),
            )


class SqsDeadLetterBox:
    """The DeadLetterBox port over a queue's RedrivePolicy.

    SQS cannot show messages without receiving them. So a reader holds all received
    letters until it has seen them all, then makes them visible again. SQS delivers no
    more of a group while its first ten messages are held.
    """

    def __init__(self, queue: SqsQueue) -> None:
        self._queue = queue

    def letters(self) -> list[Letter]:
        with self._hold_all() as messages:
            return [self._to_letter(message) for message in messages.values()]

    def redrive(self, ids: Collection[str]) -> list[str]:
        def send(message: Message) -> None:
            self._queue.send(
                message["Body"],
                group=message["Attributes"]["MessageGroupId"],
                deduplication_id=redrive_id(message["MessageId"]),
            )

        return self._remove(ids, send)

    def drop(self, ids: Collection[str]) -> list[str]:
        return self._remove(ids, lambda _: None)

    def _remove(
        self, ids: Collection[str], before: Callable[[Message], None]
    ) -> list[str]:
        """Call `before` on each of these letters and delete it; return the ids found."""
        removed: list[str] = []
        with self._hold_all() as messages:
            for id_ in [id_ for id_ in messages if id_ in ids]:
                before(messages[id_])
                with self._translate_errors():
                    self._queue.client.delete_message(
                        QueueUrl=self._queue.dead_letter_url,
                        ReceiptHandle=messages[id_]["ReceiptHandle"],
                    )
                del messages[id_]
                removed.append(id_)
        return removed

    @contextmanager
    def _hold_all(self) -> Iterator[dict[str, Message]]:
        """Receive all letters, by id; make those still in the dict visible at the end."""
        held: dict[str, Message] = {}
        try:
            while len(held) < MAX_LETTERS:
                received = self._receive()
                if not received:
                    break
                for message in received:
                    held[message["MessageId"]] = message
            yield held
        finally:
            for message in held.values():
                self._make_visible(message)

    def _receive(self) -> list[Message]:
        with self._translate_errors():
            answer = self._queue.client.receive_message(
                QueueUrl=self._queue.dead_letter_url,
                MaxNumberOfMessages=10,
                AttributeNames=["All"],
                MessageAttributeNames=["All"],
                VisibilityTimeout=HELD_SECONDS,
            )
        return list(answer.get("Messages", []))

    def _make_visible(self, message: Message) -> None:
        with self._translate_errors():
            self._queue.client.change_message_visibility(
                QueueUrl=self._queue.dead_letter_url,
                ReceiptHandle=message["ReceiptHandle"],
                VisibilityTimeout=0,
            )

    def _translate_errors(self) -> AbstractContextManager[None]:
        return translate_aws_errors(f"queue {self._queue.dead_letter_url}")

    def _to_letter(self, message: Message) -> Letter:
        attributes = message["Attributes"]
        sent_seconds = int(attributes["SentTimestamp"]) / 1000
        _, max_receives = self._queue.redrive
        return Letter(
            id=message["MessageId"],
            body=message["Body"],
            group=attributes["MessageGroupId"],
            reasons=_read_reasons(message),
            # Looking counts as receiving, so the queue's own count is of no use. The
            # policy's limit is the number of deliveries before SQS moved the message.
            receives=max_receives,
            sent_at=datetime.fromtimestamp(sent_seconds, UTC),
        )


def _to_attributes(reasons: Mapping[str, str]) -> dict[str, Attribute]:
    """Return the reasons as SQS message attributes, cut to their maximum length."""
    attributes = {}
    for name, value in reasons.items():
        if value:
            text = value[:MAX_ATTRIBUTE_CHARACTERS]
            attributes[name] = {"DataType": "String", "StringValue": text}
    return attributes


def _read_reasons(message: Message) -> dict[str, str]:
    reasons = {}
    for name, value in message.get("MessageAttributes", {}).items():
        if "StringValue" in value:
            reasons[name] = value["StringValue"]
    return reasons
