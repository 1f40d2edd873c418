"""The write queue's message that moves a store to another embedding model."""

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


def send_move(
    message: MoveStore, token: str, *, queue: Queue, objects: Objects
) -> None:
    """Ask the writer to move the store, in the store's own group. Raises Retryable.

    `token` differs for each attempt, so that the queue does not drop a second attempt as a
    duplicate.
    """
    fields = {"grain": str(message.grain), "model": message.model, "token": token}
    send_write("move", message.scope, message.grain, fields, queue, objects)
