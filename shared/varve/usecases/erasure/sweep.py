"""Sweep: take what has been forgotten out of the objects that no store's writer owns.

Payloads and checkpoints, the timeline, and what is noted of a conversation's messages. Each can be done
again, and by two at once, with the same result.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from varve.domain.calendar import parse_instant
from varve.domain.conversation import Message
from varve.domain.damage import intact
from varve.domain.erasure import Tombstones, owners
from varve.domain.errors import Rejected, Retryable
from varve.domain.identity import Scope
from varve.domain.profile import ProfileEntry, entry_from_json
from varve.messages.erasure import ERASED, redact_body
from varve.ports.objects import Objects, StoredObject
from varve.usecases.erasure import tombstones
from varve.usecases.timeline import TakenIn, read_lines, write_lines

READERS = 16
MAX_RACES = 20


@dataclass(frozen=True, slots=True)
class Line:
    """One message on the timeline: the object and the conversation it is in, whose it is, and itself."""

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

    def barred(self, by: Tombstones) -> bool:
        """Whether it has been forgotten."""
        said_at = parse_instant(self.value["at"])
        return by.bars_message((self.conversation_id, self.id), self.users, said_at)


def read_timeline(
    scope: Scope, *, objects: Objects, conversation: str | None = None
) -> dict[str, list[Line]]:
    """All messages by conversation (or those of one), each conversation's in the order of their places.

    Raises Damaged: names the key of one that cannot be read; Retryable.
    """
    keys = [info.key for info in objects.list(f"timeline/{scope}")]
    wanted = [key for key in keys if conversation in (None, key.split("/")[4])]
    raw: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for key, stored in fetch(wanted, objects):
        lines = [(key, line) for line in read_lines(key, stored.data)]
        raw.setdefault(key.split("/")[4], []).extend(lines)
    return {name: _lines(name, said) for name, said in raw.items()}


def _lines(conversation_id: str, said: list[tuple[str, dict[str, Any]]]) -> list[Line]:
    said.sort(key=lambda pair: pair[1]["position"])
    whose = owners((value["message"]["role"], value.get("userId")) for _, value in said)
    return [
        Line(
            key, conversation_id, users, value, Message.model_validate(value["message"])
        )
        for (key, value), users in zip(said, whose, strict=True)
    ]


def sweep_timeline(
    scope: Scope, lines: Iterable[Line], barred: Tombstones, *, objects: Objects
) -> None:
    """Write each object that holds something forgotten anew without it."""
    by_key: dict[str, list[Line]] = {}
    for line in lines:
        by_key.setdefault(line.key, []).append(line)
    for key, said in by_key.items():
        kept = [line.value for line in said if not line.barred(barred)]
        if len(kept) == len(said):
            continue
        # The rest is written first: a crash in between leaves a message twice, and never not at all.
        if kept:
            write_lines(
                map(dict, kept),
                scope,
                said[0].day,
                said[0].conversation_id,
                objects=objects,
            )
        objects.delete([key])


def sweep_taken_in(
    scope: Scope,
    conversation_id: str,
    message_ids: Iterable[str],
    *,
    whole: bool,
    objects: Objects,
) -> None:
    """Forget that the messages were taken in. Raises Retryable: others kept taking in messages."""
    ids = list(message_ids)
    for attempt in range(MAX_RACES):
        try:
            TakenIn(scope, conversation_id, objects).forget(ids, whole=whole)
            break
        except Retryable:
            if attempt == MAX_RACES - 1:
                raise


def sweep_payloads(
    scope: Scope, barred: Tombstones, mixed: Collection[str] = (), *, objects: Objects
) -> list[str]:
    """Take what has been forgotten out of claim checks and checkpoints; the keys of those it was in.

    A claim check keeps its key, for its message is still on a queue. Of the `mixed` conversations no
    checkpoint stays: what was read there was read beside words that are forgotten.
    """
    keys = [info.key for info in objects.list(f"payloads/{scope}")]
    # What was made of a part of a period, for a retry alone: it may hold anybody's words.
    objects.delete([key for key in keys if _sort(key) == "summaries"])
    changed = []
    for key, stored in fetch(keys, objects):
        before = _object(stored)
        is_checkpoint = _sort(key) == "extractions"
        after = (
            _checkpoint(before, barred, mixed)
            if is_checkpoint
            else _claim(before, barred)
        )
        if after == before:
            continue
        if after is None:
            objects.delete([key])
        else:
            objects.put(
                key,
                json.dumps(after, ensure_ascii=False, separators=(",", ":")).encode(),
            )
        changed.append(key)
    return changed


def _sort(key: str) -> str:
    """What follows workspace and agent, which may be called as they please: a folder, or a claim check."""
    return key.split("/")[3]


def stated_in_profiles(scope: Scope, *, objects: Objects) -> list[ProfileEntry]:
    """Every statement in the agent's profiles. Raises Damaged: names the key of one that cannot be read."""
    found = []
    for key, stored in fetch(
        (info.key for info in objects.list(f"profiles/{scope}")), objects
    ):
        with intact(key):
            found += [
                entry_from_json(row) for row in json.loads(stored.data)["entries"]
            ]
    return found


def sweep_again(
    scope: Scope,
    barred: Tombstones,
    conversation: str | None = None,
    *,
    objects: Objects,
) -> None:
    """Where somebody has been forgotten since `barred` was read, take out again what was put meanwhile."""
    later = tombstones.load(scope, objects=objects)
    if later == barred:
        return
    mixed = []
    if conversation is not None:
        said = read_timeline(scope, objects=objects, conversation=conversation).get(
            conversation, []
        )
        sweep_timeline(scope, said, later, objects=objects)
        mixed = [conversation] if any(line.barred(later) for line in said) else []
    sweep_payloads(scope, later, mixed, objects=objects)


def fetch(keys: Iterable[str], objects: Objects) -> Iterator[tuple[str, StoredObject]]:
    """The objects of the keys that are still there, some at a time, in the order of the keys."""
    wanted = list(keys)
    with ThreadPoolExecutor(READERS) as readers:
        for key, stored in zip(wanted, readers.map(objects.get, wanted), strict=True):
            if stored is not None:
                yield key, stored


def _object(stored: StoredObject) -> Any:
    """The JSON value, or None for what is none."""
    try:
        return json.loads(stored.data)
    except ValueError:
        return None


def _claim(body: Any, barred: Tombstones) -> Any:
    """A body that cannot be read can never be handled either, and nobody knows whose it is."""
    if body == ERASED or not isinstance(body, dict):
        return body
    try:
        return redact_body(body, barred)
    except (KeyError, TypeError, ValueError, ArithmeticError, Rejected):
        return ERASED


def _checkpoint(body: Any, barred: Tombstones, mixed: Collection[str]) -> Any:
    try:
        name = body["conversationId"]
        gone = (
            name in mixed or barred.hash("conversation", name) in barred.conversations
        )
        gone = gone or any(
            barred.hash("message", name, id_) in barred.messages
            for id_ in body["messageIds"]
        )
        return (
            None
            if gone
            or any(barred.hash("user", u) in barred.users for u in body["userIds"])
            else body
        )
    except (KeyError, TypeError):
        return None
