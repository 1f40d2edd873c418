"""Sends the messages of erasure; `token` names the pass, so that the next one's are not taken for repeats."""

from varve.messages.erasure import (
    EraseMessage,
    EraseProfiles,
    EraseRecords,
    EraseTriples,
    Reread,
    erasure_as_json,
    reread_as_json,
)
from varve.messages.wire import group_of, send_body
from varve.messages.write import send_write
from varve.ports.objects import Objects
from varve.ports.queues import Queue


def send_erasure(
    message: EraseMessage, token: str, *, queue: Queue, objects: Objects
) -> None:
    """Have the writer erase, in the store's own group. Raises Retryable."""
    match message:
        case EraseTriples():
            type_, store = "erase_triples", "graph"
        case EraseProfiles():
            type_, store = "erase_profiles", "profile"
        case EraseRecords(grain=grain):
            type_, store = "erase_records", str(grain)
    send_write(
        type_,
        message.scope,
        store,
        erasure_as_json(message) | {"token": token},
        queue,
        objects,
    )


def send_reread(message: Reread, token: str, *, queue: Queue, objects: Objects) -> None:
    """Have a conversation read anew, in its own group. Raises Retryable."""
    scope, body = message.scope, reread_as_json(message) | {"token": token}
    group = group_of(scope.workspace, scope.agent, message.conversation_id)
    send_body(body, body, group, scope, queue, objects)
