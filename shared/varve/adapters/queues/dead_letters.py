"""The dead letters of an SQS queue as an operator sees them."""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from varve.adapters.queues.sqs import SqsQueue, translated
from varve.domain.dead_letter import redrive_id
from varve.ports.queues import Letter

HELD_SECONDS = 120
"""How long letters stay out of sight of other readers, should this one not live to put them back."""
MAX_LETTERS = 1_000

Message = dict[str, Any]


class SqsDeadLetterBox:
    """The DeadLetterBox port over a queue's RedrivePolicy.

    SQS has no way to look without receiving. What is received is held until all of it has been seen and
    then made visible again at once; of a group SQS gives no more while its first ten are held.
    """

    def __init__(self, queue: SqsQueue) -> None:
        self._queue = queue

    def letters(self) -> list[Letter]:
        with self._held() as messages:
            return [self._letter(message) for message in messages.values()]

    def redrive(self, ids: Collection[str]) -> list[str]:
        def send(message: Message) -> None:
            self._queue.send(
                message["Body"],
                group=message["Attributes"]["MessageGroupId"],
                deduplication_id=redrive_id(message["MessageId"]),
            )

        return self._removed(ids, send)

    def drop(self, ids: Collection[str]) -> list[str]:
        return self._removed(ids, lambda _: None)

    def _removed(
        self, ids: Collection[str], first: Callable[[Message], None]
    ) -> list[str]:
        done: list[str] = []
        with self._held() as messages:
            for id_ in [id_ for id_ in messages if id_ in ids]:
                first(messages[id_])
                with translated(f"queue {self._queue.dead_letter_url}"):
                    self._queue.client.delete_message(
                        QueueUrl=self._queue.dead_letter_url,
                        ReceiptHandle=messages[id_]["ReceiptHandle"],
                    )
                del messages[id_]
                done.append(id_)
        return done

    @contextmanager
    def _held(self) -> Iterator[dict[str, Message]]:
        """All letters that can be received, by id; those that are still in it afterwards are put back."""
        held: dict[str, Message] = {}
        try:
            while len(held) < MAX_LETTERS and (received := self._received()):
                held |= {message["MessageId"]: message for message in received}
            yield held
        finally:
            for message in held.values():
                self._put_back(message)

    def _received(self) -> list[Message]:
        with translated(f"queue {self._queue.dead_letter_url}"):
            answer = self._queue.client.receive_message(
                QueueUrl=self._queue.dead_letter_url,
                MaxNumberOfMessages=10,
                AttributeNames=["All"],
                MessageAttributeNames=["All"],
                VisibilityTimeout=HELD_SECONDS,
            )
        return list(answer.get("Messages", []))

    def _put_back(self, message: Message) -> None:
        with translated(f"queue {self._queue.dead_letter_url}"):
            self._queue.client.change_message_visibility(
                QueueUrl=self._queue.dead_letter_url,
                ReceiptHandle=message["ReceiptHandle"],
                VisibilityTimeout=0,
            )

    def _letter(self, message: Message) -> Letter:
        attributes = message["Attributes"]
        given = message.get("MessageAttributes", {})
        _, most = self._queue.redrive
        return Letter(
            id=message["MessageId"],
            body=message["Body"],
            group=attributes["MessageGroupId"],
            reasons={
                name: value["StringValue"]
                for name, value in given.items()
                if "StringValue" in value
            },
            # Looking counts as receiving: what SQS counts now says less than the policy it followed.
            receives=most,
            sent_at=datetime.fromtimestamp(
                int(attributes["SentTimestamp"]) / 1000, UTC
            ),
        )
