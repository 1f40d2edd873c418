"""The port to what lies around a memory: bucket, queues, roles, clock and libraries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from varve.domain.identity import Scope


@dataclass(frozen=True, slots=True)
class QueueState:
    """What a queue says of itself; the counts are SQS's approximations.

    `letters` counts the messages of its dead-letter queue.
    """

    is_fifo: bool
    waiting: int
    letters: int


class Surroundings(Protocol):
    """Looks at what a deployment consists of; it changes nothing but a probe object."""

    @property
    def store(self) -> str:
        """The store root, a directory or an S3 URI."""

    def require_writable(self) -> None:
        """Raise Misconfigured if the store cannot be written safely; Retryable."""

    def versioning(self) -> str:
        """Return Enabled, Suspended, Disabled or Unknown. Raises Retryable."""

    def server_time(self) -> datetime | None:
        """Return the time of the store's server, in UTC; None: it is a directory.

        Raises Misconfigured, Retryable.
        """

    @property
    def queues(self) -> Sequence[str]:
        """The names of the queues that the settings name."""

    def queue_state(self, name: str) -> QueueState:
        """Return a queue's state. Raises Misconfigured: it or its dead letters are missing."""

    def assume_role(self, scope: Scope) -> bool:
        """Read with an agent's own credentials; False: no role for agents is configured.

        Raises Misconfigured, Retryable.
        """

    def libraries(self) -> Mapping[str, str]:
        """Return the versions of the libraries that define what lies in the store."""
