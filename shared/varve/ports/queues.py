"""The ports to FIFO queues and their dead letters."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, runtime_checkable

QUEUES = ("ingest", "write", "summary")
"""The queues of a deployment, by the names that operators use."""


class Queue(Protocol):
    """A FIFO queue to send to."""

    def send(self, body: str, *, group: str, deduplication_id: str) -> None:
        """Send a message; it is durable when this returns. Raises Retryable: not sent."""


@runtime_checkable
class LocalQueue(Queue, Protocol):
    """A queue whose reader is this process: a message need not be encoded for it."""

    def hand_over(self, message: Any, *, group: str, size: int) -> None:
        """Take a message as it is; `size` is about how many characters it would take.

        Raises what the reader raises.
        """


@dataclass(frozen=True, slots=True)
class Delivery:
    """One message as a FIFO queue delivers it.

    `last_chance` is True if the queue dead-letters the message after one more failure.
    `message` is the message itself where it never left this process; then there is no body.
    """

    id: str
    body: str
    group: str
    last_chance: bool = False
    message: Any = None


class DeadLetters(Protocol):
    """The queue for messages that can never succeed."""

    def send(self, delivery: Delivery, error: Exception) -> None:
        """Keep the message with the error's type and reason. Raises Retryable."""


@dataclass(frozen=True, slots=True)
class Letter:
    """A dead letter: the unchanged message, and the `reasons` recorded with it.

    `reasons` may have errorType, reason, field and messageId. It is empty if the queue
    itself moved the message after `receives` deliveries. `sent_at` is when the message
    was dead-lettered, UTC.
    """

    id: str
    body: str
    group: str
    reasons: Mapping[str, str]
    receives: int
    sent_at: datetime | None = None


class DeadLetterBox(Protocol):
    """The dead letters of one queue, for an operator."""

    def letters(self) -> list[Letter]:
        """Return the dead letters in order, without removing any.

        Of each message group at most the first ten are visible at a time.
        Raises Retryable, Misconfigured.
        """

    def redrive(self, ids: Collection[str]) -> list[str]:
        """Send letters back to their queue in order and group; return the ids found.

        A letter is removed after it is sent, and it is sent under its id, so a retry is
        harmless.
        """

    def drop(self, ids: Collection[str]) -> list[str]:
        """Delete letters for good and return the ids found.

        Raises Retryable, Misconfigured.
        """
