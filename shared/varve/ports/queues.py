"""Queues, what they deliver, and what could not be handled."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


class Queue(Protocol):
    """A FIFO queue to send to."""

    def send(self, body: str, *, group: str, deduplication_id: str) -> None:
        """Make the message durable before returning. Raises Retryable: it is not."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """One message as a FIFO queue delivers it; `last_chance` when failing again dead-letters it."""

    id: str
    body: str
    group: str
    last_chance: bool = False


class DeadLetters(Protocol):
    """Where messages go that cannot succeed."""

    def send(self, delivery: Delivery, error: Exception) -> None:
        """Keep the message with the error's type and reason. Raises Retryable."""


@dataclass(frozen=True, slots=True)
class Letter:
    """A dead letter: the message as it was, and the `reasons` that were recorded with it.

    `reasons` are errorType, reason, field and messageId, as far as there were any; none where the queue
    itself moved the message after `receives` deliveries. `sent_at` is when it became one, UTC.
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
        """Those there are, in their order, none of them taken away.

        Of one group no more than the first ten can be seen at a time. Raises Retryable, Misconfigured.
        """

    def redrive(self, ids: Collection[str]) -> list[str]:
        """Send them to the queue they came from, in their order and group; those that were there.

        Each is sent before it is removed and is known by its id, so that doing it again does no harm.
        """

    def drop(self, ids: Collection[str]) -> list[str]:
        """Remove them for good; those that were there. Raises Retryable, Misconfigured."""
