"""Sweep: delete forgotten data from the objects that the writer does not own.

These are payloads and checkpoints, the timeline, and the lists of messages taken in. Each
sweep may be repeated, and may run twice concurrently, with the same result.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from varve.domain.calendar import parse_instant
from varve.domain.conversation import Message
from varve.domain.damage import intact
from varve.domain.erasure import MessageKey, Tombstones, owners
from varve.domain.errors import Rejected
from varve.domain.identity import Scope
from varve.domain.profile import ProfileEntry, entry_from_json
from varve.messages.erasure import ERASED, redact_body
from varve.ports.meter import MeteredThreads
from varve.ports.objects import Objects, StoredObject
from varve.usecases.erasure import tombstones
from varve.usecases.ingest.taken_in import TakenIn
from varve.usecases.timeline import read_lines, replace_lines
from varve.usecases.write.contention import until_uncontended

READERS = 16
"""How many objects are read concurrently."""

_KeyedLine = tuple[str, dict[str, Any]]
"""A timeline object's key, and one of its lines."""


@dataclass(frozen=True, slots=True)
class TimelineLine:
    """One message on the timeline.

    `key` is its object and `users` are the users it is from or addressed to.
    """

    key: str
    conversation_id: str
    users: frozenset[str]
    value: Mapping[str, Any]
    message: Message = field(repr=False)

    @property
    def id(self) -> str:
        """The message's id."""
        return str(self.message.id)

    @property
    def day(self) -> str:
        """The local day it was said on."""
        return self.key.split("/")[3]

    @property
    def message_key(self) -> MessageKey:
        """The conversation's id and the message's id."""
        return (self.conversation_id, self.id)

    def is_barred_by(self, tombs: Tombstones) -> bool:
        """Return whether it has been forgotten."""
        said_at = parse_instant(self.value["at"])
        return tombs.bars_message(self.message_key, self.users, said_at)


def read_timeline(
    scope: Scope, *, objects: Objects, conversation: str | None = None
) -> dict[str, list[TimelineLine]]:
    """Return all messages by conversation, or those of one, in order of position.

    Raises Damaged: names the key of an object that cannot be read; Retryable.
    """
    keys = [info.key for info in objects.list(f"timeline/{scope}")]
    if conversation is not None:
        keys = [key for key in keys if _conversation_of(key) == conversation]
    raw: dict[str, list[_KeyedLine]] = {}
    for key, stored in fetch(keys, objects):
        lines = [(key, line) for line in read_lines(key, stored.data)]
        raw.setdefault(_conversation_of(key), []).extend(lines)
    return {name: _build_lines(name, said) for name, said in raw.items()}


def _conversation_of(key: str) -> str:
    return key.split("/")[4]


def _build_lines(
    conversation_id: str, said: list[_KeyedLine]
) -> list[TimelineLine]:
    said.sort(key=lambda pair: pair[1]["position"])
    roles = [
        (value["message"]["role"], value.get("userId")) for _, value in said
    ]
    lines: list[TimelineLine] = []
    for (key, value), users in zip(said, owners(roles), strict=True):
        message = Message.model_validate(value["message"])
        lines.append(TimelineLine(key, conversation_id, users, value, message))
    return lines


def sweep_timeline(
    lines: Iterable[TimelineLine], barred: Tombstones, *, objects: Objects
) -> None:
    """Replace each object that holds something forgotten by one without it."""
    by_key: dict[str, list[TimelineLine]] = {}
    for line in lines:
        by_key.setdefault(line.key, []).append(line)
    for key, said in by_key.items():
        kept = [line.value for line in said if not line.is_barred_by(barred)]
        if len(kept) == len(said):
            continue
        replace_lines(key, kept, objects=objects)


def sweep_taken_in(
    scope: Scope,
    conversation_id: str,
    message_ids: Iterable[str],
    *,
    whole: bool,
    objects: Objects,
) -> None:
    """Delete the messages from the list of those taken in.

    Raises Contended: it lost every race against writers that took in messages.
    """
    ids = list(message_ids)

    def forget() -> None:
        TakenIn(scope, conversation_id, objects).forget(ids, whole=whole)

    until_uncontended(forget)


def sweep_payloads(
    scope: Scope,
    barred: Tombstones,
    mixed: Collection[str] = (),
    *,
    objects: Objects,
) -> list[str]:
    """Delete forgotten data from claim checks and checkpoints.

    Returns the keys of those that held it. A claim check keeps its key, because its message
    is still on a queue. Every checkpoint of a `mixed` conversation is deleted: its facts
    were extracted together with forgotten words.
    """
    keys = [info.key for info in objects.list(f"payloads/{scope}")]
    # A partial summary serves a retry alone, and may hold anyone's words.
    partial = [key for key in keys if _kind_of(key) == "summaries"]
    objects.delete(partial)
    changed: list[str] = []
    for key, stored in fetch(keys, objects):
        before = _parse_json(stored)
        if _kind_of(key) == "extractions":
            after = None if _is_forgotten(before, barred, mixed) else before
        else:
            after = _redact_claim(before, barred)
        if after == before:
            continue
        if after is None:
            objects.delete([key])
        else:
            text = json.dumps(after, ensure_ascii=False, separators=(",", ":"))
            objects.put(key, text.encode())
        changed.append(key)
    return changed


def _kind_of(key: str) -> str:
    """Return the part after workspace and agent: a folder, or a claim check's name."""
    return key.split("/")[3]


def read_profile_entries(
    scope: Scope, *, objects: Objects
) -> list[ProfileEntry]:
    """Return every entry of the agent's profiles.

    Raises Damaged: names the key of a profile that cannot be read.
    """
    entries: list[ProfileEntry] = []
    keys = [info.key for info in objects.list(f"profiles/{scope}")]
    for key, stored in fetch(keys, objects):
        with intact(key):
            rows = json.loads(stored.data)["entries"]
            entries += [entry_from_json(row) for row in rows]
    return entries


def sweep_again(
    scope: Scope,
    barred: Tombstones,
    conversation: str | None = None,
    *,
    objects: Objects,
) -> None:
    """Sweep again if the tombstones have changed since `barred` was read.

    That deletes what the caller has stored in between.
    """
    later = tombstones.load(scope, objects=objects)
    if later == barred:
        return
    mixed: list[str] = []
    if conversation is not None:
        timeline = read_timeline(
            scope, objects=objects, conversation=conversation
        )
        said = timeline.get(conversation, [])
        gone = [line.id for line in said if line.is_barred_by(later)]
        if gone:
            # The list first: without its line an erasure would not know of the message.
            whole = len(gone) == len(said)
            sweep_taken_in(
                scope, conversation, gone, whole=whole, objects=objects
            )
            sweep_timeline(said, later, objects=objects)
            mixed.append(conversation)
    sweep_payloads(scope, later, mixed, objects=objects)


def fetch(
    keys: Iterable[str], objects: Objects
) -> Iterator[tuple[str, StoredObject]]:
    """Yield the objects that still exist, in the order of the keys.

    `READERS` objects are read concurrently.
    """
    wanted = list(keys)
    with MeteredThreads(READERS) as readers:
        found = readers.map(objects.get, wanted)
        for key, stored in zip(wanted, found, strict=True):
            if stored is not None:
                yield key, stored


def _parse_json(stored: StoredObject) -> Any:
    """Return the JSON value; None: it is not JSON."""
    try:
        return json.loads(stored.data)
    except ValueError:
        return None


def _redact_claim(body: Any, barred: Tombstones) -> Any:
    """Return a message's body without forgotten data.

    A body that cannot be read is erased: it can never be handled, and its users are unknown.
    """
    if body == ERASED or not isinstance(body, dict):
        return body
    try:
        return redact_body(body, barred)
    except (KeyError, TypeError, ValueError, ArithmeticError, Rejected):
        return ERASED


def _is_forgotten(
    body: Any, barred: Tombstones, mixed: Collection[str]
) -> bool:
    """Return whether a checkpoint must go; one that cannot be read must."""
    try:
        name = body["conversationId"]
        hashed = barred.hash("conversation", name)
        if name in mixed or hashed in barred.conversations:
            return True
        for id_ in body["messageIds"]:
            if barred.hash("message", name, id_) in barred.messages:
                return True
        return any(
            barred.hash("user", user) in barred.users
            for user in body["userIds"]
        )
    except (KeyError, TypeError):
        return True
