"""Senders of the erasure messages.

`token` names the pass of an erasure, so that the queue does not drop a later pass's messages
as duplicates.
"""

from varve.messages.erasure import (
    EraseMessage,
    EraseProfiles,
    EraseRecords,
    EraseTriples,
    Reread,
    erasure_as_json,
    reread_as_json,
)
from varve.messages.wire import group_of, send_body, send_write
from varve.ports.objects import Objects
from varve.ports.queues import Queue


def send_erasure(
    message: EraseMessage, token: str, *, queue: Queue, objects: Objects
) -> None:
    """Ask the writer to erase, in the store's own group. Raises Retryable."""
    match message:
        case EraseTriples():
            type_, store = "erase_triples", "graph"
        case EraseProfiles():
            type_, store = "erase_profiles", "profile"
        case EraseRecords(grain=grain):
            type_, store = "erase_records", str(grain)
    fields = erasure_as_json(message) | {"token": token}
    send_write(type_, message.scope, store, fields, queue, objects)


def send_reread(message: Reread, *, queue: Queue, objects: Objects) -> None:
    """Ask for a conversation to be read again, in its own group. Raises Retryable."""
    scope = message.scope
    body = reread_as_json(message)
    group = group_of(scope.workspace, scope.agent, message.conversation_id)
    send_body(body, group, scope, queue, objects)
