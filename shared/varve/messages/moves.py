"""The write queue's message that moves a store to another embedding model."""

from dataclasses import dataclass

from varve.domain.identity import Scope
from varve.domain.record import StoreName
from varve.messages.wire import group_of, send_body
from varve.ports.objects import Objects
from varve.ports.queues import Queue


@dataclass(frozen=True, slots=True)
class MoveStore:
    """One store, to be put under the model."""

    scope: Scope
    grain: StoreName
    model: str


def send_move(
    message: MoveStore, token: str, *, queue: Queue, objects: Objects
) -> None:
    """Have the writer move the store, in the store's own group. Raises Retryable.

    `token` tells one attempt from the next, so that the queue does not take it for the same message.
    """
    scope = message.scope
    body = {
        "type": "move",
        "workspaceId": scope.workspace,
        "agentId": scope.agent,
        "grain": str(message.grain),
        "model": message.model,
        "token": token,
    }
    send_body(
        body,
        body,
        group_of(scope.workspace, scope.agent, message.grain),
        scope,
        queue,
        objects,
    )
