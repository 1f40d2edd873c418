"""The write queue's message about a note: index what the note holds now."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from varve.domain.identity import Scope, reference
from varve.domain.notes import note_path
from varve.domain.record import Store
from varve.messages.wire import send_write
from varve.ports.objects import Objects
from varve.ports.queues import Queue


@dataclass(frozen=True, slots=True)
class IndexNote:
    """A note whose records are to be brought up to date.

    It carries no content: the writer reads the note. So messages may come in any order,
    any number of times. `records` is how many the note may have had before.
    """

    scope: Scope
    path: str
    user_id: str | None
    records: int


def send_index(
    message: IndexNote, token: str, *, queue: Queue, objects: Objects
) -> None:
    """Ask the writer to index a note, in the group of the notes' store. Raises Retryable.

    `token` differs for each change, so that the queue does not drop a later one as a
    duplicate.
    """
    fields = {
        "path": message.path,
        "userId": message.user_id,
        "records": message.records,
        "token": token,
    }
    send_write("note", message.scope, Store.NOTES, fields, queue, objects)


def index_from_json(body: Mapping[str, Any], scope: Scope) -> IndexNote:
    """Return the message of JSON values.

    Raises KeyError, TypeError, ValueError, Rejected: not such a message.
    """
    user = body["userId"]
    if user is not None:
        user = reference(user, "userId")
    return IndexNote(
        scope, note_path(body["path"]), user, int(body["records"])
    )
