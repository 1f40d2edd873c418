"""The queues of a session: SQS, or queues in this process if none is configured."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from varve.domain.errors import Misconfigured
from varve.ports.locks import Locks
from varve.ports.meter import Meter
from varve.ports.queues import Delivery, Queue
from varve.usecases.write.write import DirectWrites

if TYPE_CHECKING:
    from varve.adapters.queues.sqs import SqsQueue
    from varve.usecases.write.commits import WriterSession


def open_queue(url: str | None, variable: str, meter: Meter) -> "SqsQueue":
    """Return the SQS queue at the URL; `meter` counts the messages sent.
    Raises Misconfigured: the variable is not set."""
    if url is None:
        raise Misconfigured(f"{variable}: is not set")
    from varve.adapters.queues.sqs import SqsQueue

    return SqsQueue(url, meter)


class WaitingQueue:
    """The ingest queue of a process without SQS: keeps messages until they are taken."""

    def __init__(self) -> None:
        self._waiting: list[Delivery] = []

    def send(self, body: str, *, group: str, deduplication_id: str) -> None:
        """Keep the message."""
        self._waiting.append(
            Delivery(id=deduplication_id, body=body, group=group)
        )

    def hand_over(
        self,
        message: Any,
        *,
        group: str,
        size: int,  # noqa: ARG002 - waiting messages are bounded by their sender
    ) -> None:
        """Keep the message as it is."""
        self._waiting.append(Delivery("", "", group, message=message))

    def take(self) -> list[Delivery]:
        """Remove and return the messages, in the order they were sent."""
        waiting = self._waiting
        self._waiting = []
        return waiting


class SessionQueues:
    """The Queues of one session: SQS queues, or queues in this process without SQS.

    Without an ingest queue, messages wait to be taken. Without a write queue, `flush`
    writes them with the writer that `open_writer` opens. `locks` then do what FIFO groups
    do: one session at a time handles a group.
    """

    def __init__(
        self,
        ingest: "SqsQueue | None",
        write: "SqsQueue | None",
        open_writer: "Callable[[], WriterSession]",
        locks: Locks,
    ) -> None:
        self._locks = locks
        self._waiting: WaitingQueue | None = None
        self._direct: DirectWrites | None = None
        self.ingest: Queue
        self.write: Queue
        if ingest is None:
            self.ingest = self._waiting = WaitingQueue()
        else:
            self.ingest = ingest
        if write is None:
            self.write = self._direct = DirectWrites(open_writer)
        else:
            self.write = write

    @property
    def delivers_writes(self) -> bool:
        """Whether SQS delivers writes, later and elsewhere."""
        return self._direct is None

    def flush(self) -> None:
        """Write the messages sent. Raises Retryable, Rejected, Misconfigured."""
        if self._direct is not None:
            self._direct.flush()

    def take(self) -> list[Delivery] | None:
        """Remove and return the messages that wait for extraction; None: SQS delivers them."""
        return None if self._waiting is None else self._waiting.take()

    def hold(self, groups: Iterable[str]) -> AbstractContextManager[None]:
        """Keep other sessions from these ingest groups; SQS does so by itself."""
        if self._waiting is None:
            return nullcontext()
        return self._locks.hold("ingest", groups)

    def require_taken(self) -> None:
        """Raise Misconfigured if a message waits that no code of this process takes."""
        if self._waiting is not None and self._waiting.take():
            raise Misconfigured("VARVE_INGEST_QUEUE_URL: is not set")
