"""Write: handle the messages of the write queue, in order within each group."""

from collections.abc import Callable, Sequence
from functools import partial

from varve.domain.errors import Misconfigured, Rejected, Retryable
from varve.messages.wire import group_scope
from varve.messages.write import WriteMessage, read_write
from varve.ports.meter import doing
from varve.ports.objects import Objects
from varve.ports.queues import DeadLetters, Delivery
from varve.usecases.write.commits import (
    WriteOutcome,
    WriterSession,
    apply_messages,
)
from varve.usecases.write.contention import until_uncontended
from varve.usecases.write.deliver import group_deliveries, handle_until_failure

MAX_WAITING_CHARACTERS = 16 * 2**20
"""The most characters of messages that `DirectWrites` holds in memory."""

Pending = list[tuple[Delivery, WriteMessage]]


def write(
    session: WriterSession,
    deliveries: Sequence[Delivery],
    dead_letters: DeadLetters,
) -> WriteOutcome:
    """Write a FIFO batch, group by group.

    In each group, everything before the first unreadable payload is committed together.
    The first failure and all later messages of its group are returned. A message that
    can never succeed becomes a dead letter with its reason, and its group goes on.
    """
    outcome = WriteOutcome()
    for group in group_deliveries(deliveries):
        with session.meter.serve(group_scope(group[0].group), "write"):
            pending, returned = _read_group(
                group, session.objects, dead_letters
            )
            outcome.returned += _commit(
                pending, session, dead_letters, outcome
            )
            outcome.returned += returned
    return outcome


@doing("write")
def write_now(session: WriterSession, deliveries: Sequence[Delivery]) -> None:
    """Write messages whose sender waits for them, one group after the other.

    The writer holds the lock of the group's store, and repeats what lost a race against
    another process. Raises Rejected, Misconfigured, Retryable.
    """
    for group in group_deliveries(deliveries):
        messages = [read_write(one, objects=session.objects) for one in group]
        with session.locks.hold("write", [group[0].group]):
            until_uncontended(
                partial(apply_messages, messages, session, WriteOutcome())
            )


class DirectWrites:
    """The write queue of a process without SQS: `flush` writes the sent messages.

    Messages sent together share commits. To bound memory, messages of
    `MAX_WAITING_CHARACTERS` are written early. Each flush that has something to write
    calls `open_writer`.
    """

    def __init__(self, open_writer: Callable[[], WriterSession]) -> None:
        self._open_writer = open_writer
        self._sent: list[Delivery] = []
        self._size = 0

    def send(self, body: str, *, group: str, deduplication_id: str) -> None:
        """Hold the message until the next flush. Raises what `flush` raises."""
        self._hold(
            Delivery(id=deduplication_id, body=body, group=group), len(body)
        )

    def hand_over(
        self, message: WriteMessage, *, group: str, size: int
    ) -> None:
        """Hold the message as it is. Raises what `flush` raises."""
        self._hold(Delivery("", "", group, message=message), size)

    def _hold(self, delivery: Delivery, size: int) -> None:
        self._sent.append(delivery)
        self._size += size
        if self._size >= MAX_WAITING_CHARACTERS:
            self.flush()

    def flush(self) -> None:
        """Write everything sent. Raises Rejected, Misconfigured, Retryable: send again."""
        sent = self._sent
        self._sent = []
        self._size = 0
        if sent:
            write_now(self._open_writer(), sent)


def _read_group(
    group: Sequence[Delivery], objects: Objects, dead_letters: DeadLetters
) -> tuple[Pending, list[Delivery]]:
    """Read a group's messages; return them, and the deliveries to return to the queue."""
    pending: Pending = []

    def read(delivery: Delivery) -> None:
        pending.append((delivery, read_write(delivery, objects=objects)))

    returned = handle_until_failure(group, read, dead_letters=dead_letters)
    return pending, returned


def _commit(
    pending: Pending,
    session: WriterSession,
    dead_letters: DeadLetters,
    outcome: WriteOutcome,
) -> list[Delivery]:
    """Commit all messages together; if one of them is at fault, one by one.

    Returns the deliveries to return to the queue.
    """
    deliveries = [delivery for delivery, _ in pending]
    messages = {delivery.id: message for delivery, message in pending}

    def apply_one(delivery: Delivery) -> None:
        apply_messages([messages[delivery.id]], session, outcome)

    def fail(_: Delivery) -> None:
        raise failure

    try:
        apply_messages(list(messages.values()), session, outcome)
    except (Rejected, Misconfigured):
        return handle_until_failure(
            deliveries, apply_one, dead_letters=dead_letters
        )
    except Retryable as error:
        failure = error
        return handle_until_failure(
            deliveries, fail, dead_letters=dead_letters
        )
    return []
