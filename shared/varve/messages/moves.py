"""The write queue's messages about whole stores: move one, compact one."""

from dataclasses import dataclass

from varve.domain.identity import Scope
from varve.domain.record import StoreName
from varve.messages.wire import send_write
from varve.ports.objects import Objects
from varve.ports.queues import Queue


@dataclass(frozen=True, slots=True)
class MoveStore:
    """One store to re-embed with `model`."""

    scope: Scope
    grain: StoreName
    model: str


@dataclass(frozen=True, slots=True)
class CompactStore:
    """One store whose files are to be merged, and its old versions deleted."""

    scope: Scope
    grain: StoreName


def send_move(
    message: MoveStore, token: str, *, queue: Queue, objects: Objects
) -> None:
    """Ask the writer to move the store, in the store's own group. Raises Retryable.

    `token` differs for each attempt, so that the queue does not drop a second attempt as a
    duplicate.
    """
    fields = {
        "grain": str(message.grain),
        "model": message.model,
        "token": token,
    }
    send_write("move", message.scope, message.grain, fields, queue, objects)


def send_compaction(
    message: CompactStore, token: str, *, queue: Queue, objects: Objects
) -> None:
    """Ask the writer to compact the store, in the store's own group. Raises Retryable.

    `token` differs for each request, so that the queue drops none as a duplicate.
    """
    fields = {"grain": str(message.grain), "token": token}
    send_write("compact", message.scope, message.grain, fields, queue, objects)
