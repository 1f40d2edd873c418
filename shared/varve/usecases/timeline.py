"""The timeline: messages as they arrived, and which of them memory has taken in."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any
from zoneinfo import ZoneInfo

from varve.domain.calendar import Grain, Period, iso, parse_instant
from varve.domain.conversation import Message
from varve.domain.damage import intact
from varve.domain.errors import Retryable
from varve.domain.identity import Scope, digest
from varve.domain.ledger import expiry_key
from varve.domain.retention import timeline_expires_at
from varve.domain.workspace import WorkspaceConfig
from varve.ports.objects import Objects

_KEY_LENGTH = 16
_LOST_RACE = "ledger: another writer took in messages of this conversation"


@dataclass(frozen=True, slots=True)
class Said:
    """A message with its resolved time in UTC and its place in the conversation, from 0."""

    message: Message
    at: datetime
    position: int

    @property
    def id(self) -> str:
        """The message's id; validation guarantees that it has one."""
        return str(self.message.id)


class TakenIn:
    """The messages of one conversation that memory has taken in, by a hash of their ids.

    One small object per conversation, changed only within the conversation's group of the
    ingest queue. The conditional put detects a second writer. Forgotten messages are only
    counted, so that later messages keep their positions.
    """

    def __init__(self, scope: Scope, conversation_id: str, objects: Objects) -> None:
        self._key = _taken_in_key(scope, conversation_id)
        self._objects = objects
        stored = objects.get(self._key)
        self._etag = stored.etag if stored else None
        self._ids: dict[str, str] = {}
        self._erased = 0
        if stored:
            self._ids, self._erased = _decode_taken_in(self._key, stored.data)

    def __len__(self) -> int:
        return len(self._ids) + self._erased

    def __contains__(self, message: Message) -> bool:
        return hash_message_id(str(message.id)) in self._ids

    def differs(self, message: Message) -> bool:
        """Return whether this id was taken in with other words; the first ones stay."""
        words = _hash_words(message)
        return self._ids.get(hash_message_id(str(message.id)), words) != words

    def add(self, said: Iterable[Said]) -> None:
        """Record the messages as taken in. Raises Retryable: another writer was faster."""
        for one in said:
            self._ids[hash_message_id(one.id)] = _hash_words(one.message)
        self._save()

    def forget(self, message_ids: Iterable[str], *, whole: bool) -> None:
        """Delete messages from the list; delete the list if the `whole` conversation goes.

        Raises Retryable: another writer took in messages meanwhile.
        """
        doomed = {hash_message_id(id_) for id_ in message_ids} & set(self._ids)
        for id_ in doomed:
            del self._ids[id_]
        self._erased += len(doomed)
        if self._etag is None or not (doomed or whole):
            return
        self._save()
        if whole:
            self._objects.delete([self._key])

    def _save(self) -> None:
        data = _encode_taken_in(self._ids, self._erased)
        if not self._objects.put_if(self._key, data, self._etag):
            raise Retryable(_LOST_RACE)


def keep(
    said: Sequence[Said],
    scope: Scope,
    conversation_id: str,
    zone: ZoneInfo,
    *,
    user_id: str | None = None,
    objects: Objects,
) -> None:
    """Write messages to the timeline as they arrived, one immutable object per local day.

    Each message is stored with its user; `user_id` is the conversation's, for a message
    that names none. Erasure relies on it long after the records are gone.
    """
    for day, messages in groupby(said, key=lambda one: working_day(one.at, zone)):
        lines = [_line(one, user_id) for one in messages]
        write_lines(lines, scope, day, conversation_id, objects=objects)


def write_lines(
    lines: Iterable[Mapping[str, Any]],
    scope: Scope,
    day: str,
    conversation_id: str,
    *,
    objects: Objects,
) -> None:
    """Write one timeline object, named by a hash of its content."""
    text = "".join(json.dumps(line, ensure_ascii=True) + "\n" for line in lines)
    name = digest(text, length=_KEY_LENGTH)
    objects.put(f"timeline/{scope}/{day}/{conversation_id}/{name}.jsonl", text.encode())


def working_day(at: datetime, zone: ZoneInfo) -> str:
    """Return the label of the working period that holds the instant."""
    return Period.of(at, Grain.WORKING, zone).label


def messages_on(
    day: str, scope: Scope, conversation_id: str, *, objects: Objects
) -> Iterator[dict[str, Any]]:
    """Yield the messages of one conversation on one local day, in order of position."""
    lines: list[dict[str, Any]] = []
    found = messages_of_day(day, scope, conversation_id, objects=objects)
    for conversation, line in found:
        if conversation == conversation_id:
            lines.append(line)
    yield from sorted(lines, key=lambda line: line["position"])


def messages_of_day(
    day: str, scope: Scope, conversation_id: str | None = None, *, objects: Objects
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield all messages of one local day with their conversations' ids.

    With `conversation_id`, only the messages of that conversation.
    """
    folder = f"timeline/{scope}/{day}"
    if conversation_id:
        folder += f"/{conversation_id}"
    for info in objects.list(folder):
        stored = objects.get(info.key)
        if stored is None:
            continue
        conversation = info.key.split("/")[4]
        for line in read_lines(info.key, stored.data):
            yield conversation, line


def list_days(scope: Scope, *, objects: Objects) -> list[str]:
    """List the local days that have messages, in order."""
    return sorted(objects.folders(f"timeline/{scope}"))


def read_taken_in(
    scope: Scope, *, objects: Objects
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each conversation's list of messages taken in.

    `messages` are hashes in order; `erased` is how many were forgotten.
    """
    for info in objects.list(f"ledger/conversations/{scope}"):
        stored = objects.get(info.key)
        if stored:
            messages, erased = _decode_taken_in(info.key, stored.data)
            name = info.key.rpartition("/")[2].removesuffix(".json")
            yield name, {"messages": messages, "erased": erased}


def take_in(
    scope: Scope,
    conversation_id: str,
    messages: Mapping[str, str],
    erased: int,
    *,
    objects: Objects,
) -> int:
    """Add messages, as `read_taken_in` yields them, to the list; return how many are new.

    Raises Retryable: another writer was faster.
    """
    key = _taken_in_key(scope, conversation_id)
    stored = objects.get(key)
    known: dict[str, str] = {}
    known_erased = 0
    if stored:
        known, known_erased = _decode_taken_in(key, stored.data)
    new = {id_: words for id_, words in messages.items() if id_ not in known}
    if not new:
        return 0
    data = _encode_taken_in({**known, **new}, max(erased, known_erased))
    if not objects.put_if(key, data, stored.etag if stored else None):
        raise Retryable(_LOST_RACE)
    return len(new)


def hash_message_id(message_id: str) -> str:
    """Return the hash under which a message is noted as taken in."""
    return digest(message_id, length=_KEY_LENGTH)


def restore(
    day: str,
    scope: Scope,
    conversation_id: str,
    lines: Sequence[Mapping[str, Any]],
    *,
    objects: Objects,
) -> int:
    """Write the lines whose messages the timeline does not have; return how many."""
    known = messages_on(day, scope, conversation_id, objects=objects)
    there = {line["message"]["id"] for line in known}
    missing = [line for line in lines if line["message"]["id"] not in there]
    if missing:
        write_lines(missing, scope, day, conversation_id, objects=objects)
    return len(missing)


def timeline_expiry_notes(
    day: str, scope: Scope, config: WorkspaceConfig
) -> tuple[str, ...]:
    """Return the expiry note of a local day's messages, if they have a limit of their own.

    By default they expire with the yearly summary, whose expiry is noted anyway.
    """
    if config.retention.timeline_limit is None and config.retention.yearly is None:
        return ()
    return (timeline_expiry_key(Period(Grain.DAILY, day), scope, config),)


def timeline_expiry_key(day: Period, scope: Scope, config: WorkspaceConfig) -> str:
    """Return the note that calls for cleanup when a local day's messages expire."""
    limit = config.retention.timeline_limit
    at = timeline_expires_at(day, config.plan, limit, config.zone)
    return expiry_key(at, scope, Grain.WORKING)


def delete_days(days: Iterable[str], scope: Scope, *, objects: Objects) -> None:
    """Delete the messages of local days.

    Also deletes the lists of messages taken in of conversations that have none left.
    """
    gone = set(days)
    if not gone:
        return
    doomed: list[str] = []
    emptied: set[str] = set()
    kept: set[str] = set()
    for info in objects.list(f"timeline/{scope}"):
        day, conversation_id = info.key.split("/")[3:5]
        if day in gone:
            doomed.append(info.key)
            emptied.add(conversation_id)
        else:
            kept.add(conversation_id)
    objects.delete(doomed)
    objects.delete([_taken_in_key(scope, name) for name in sorted(emptied - kept)])


def _decode_taken_in(key: str, data: bytes) -> tuple[dict[str, str], int]:
    """Return the words' hashes by message hash, and how many were forgotten."""
    with intact(key):
        known = json.loads(data)
        ids = {str(id_): str(words) for id_, words in known["messages"].items()}
        return ids, int(known.get("erased", 0))


def read_lines(key: str, data: bytes) -> list[dict[str, Any]]:
    """Return the messages of one timeline object. Raises Damaged: names the key."""
    with intact(key):
        return [_check_line(json.loads(line)) for line in data.decode().splitlines()]


def _check_line(line: dict[str, Any]) -> dict[str, Any]:
    """Return a valid line as it is. Raises KeyError, TypeError, ValueError."""
    parse_instant(line["at"])
    if not isinstance(line["position"], int):
        raise ValueError("the position is not an integer")
    if Message.model_validate(line["message"]).id is None:
        raise ValueError("the message has no id")
    return line


def _line(said: Said, user_id: str | None) -> dict[str, Any]:
    message = said.message.model_dump(mode="json", by_alias=True, exclude_unset=True)
    message["id"] = said.id
    line = {"position": said.position, "at": iso(said.at), "message": message}
    owner = said.message.user_id or user_id
    if owner:
        line["userId"] = owner
    return line


def _encode_taken_in(messages: Mapping[str, str], erased: int) -> bytes:
    value: dict[str, Any] = {"messages": messages}
    if erased:
        value["erased"] = erased
    return json.dumps(value, separators=(",", ":")).encode()


def _taken_in_key(scope: Scope, conversation_id: str) -> str:
    return f"ledger/conversations/{scope}/{conversation_id}.json"


def _hash_words(message: Message) -> str:
    return digest(message.role, message.text, length=8)
