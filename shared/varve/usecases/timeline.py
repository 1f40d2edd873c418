"""The timeline: messages as they came, and which of a conversation's messages have been taken in."""

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


@dataclass(frozen=True, slots=True)
class Said:
    """A message with its resolved time in UTC and its place in the conversation, from 0."""

    message: Message
    at: datetime
    position: int

    @property
    def id(self) -> str:
        """The message's id, which validation has seen to."""
        return str(self.message.id)


class TakenIn:
    """The messages of one conversation that memory has taken in, by a short hash of their ids.

    One small object per conversation, changed only within the conversation's group of the ingest
    queue; a second writer (someone ran two) is found out by the conditional put. Messages that were
    forgotten are counted and no more, so that those after them keep their places.
    """

    def __init__(self, scope: Scope, conversation_id: str, objects: Objects) -> None:
        self._key = _taken_in_key(scope, conversation_id)
        self._objects = objects
        stored = objects.get(self._key)
        self._etag = stored.etag if stored else None
        self._ids, self._erased = (
            _taken_in(self._key, stored.data) if stored else ({}, 0)
        )

    def __len__(self) -> int:
        return len(self._ids) + self._erased

    def __contains__(self, message: Message) -> bool:
        return _short(str(message.id)) in self._ids

    def differs(self, message: Message) -> bool:
        """Whether a message of this id was taken in with other words; the first ones stay."""
        return self._ids.get(_short(str(message.id)), _words(message)) != _words(
            message
        )

    def add(self, said: Iterable[Said]) -> None:
        """Record the messages as taken in. Raises Retryable: another writer was faster."""
        self._ids |= {_short(s.id): _words(s.message) for s in said}
        self._save()

    def forget(self, message_ids: Iterable[str], *, whole: bool) -> None:
        """Forget messages, or where none are left of the `whole` conversation, all that is noted of it.

        Raises Retryable: another writer took in messages meanwhile.
        """
        doomed = {_short(id_) for id_ in message_ids} & set(self._ids)
        self._ids = {
            id_: words for id_, words in self._ids.items() if id_ not in doomed
        }
        self._erased += len(doomed)
        if self._etag is None or not (doomed or whole):
            return
        self._save()
        if whole:
            self._objects.delete([self._key])

    def _save(self) -> None:
        if not self._objects.put_if(
            self._key, _as_taken_in(self._ids, self._erased), self._etag
        ):
            raise Retryable(
                "ledger: another writer took in messages of this conversation"
            )


def keep(
    said: Sequence[Said],
    scope: Scope,
    conversation_id: str,
    zone: ZoneInfo,
    *,
    user_id: str | None = None,
    objects: Objects,
) -> None:
    """Write messages to the timeline as they came, one immutable object for each local day.

    Each with the user it is of, `user_id` (the conversation's) where it names none itself: erasure goes
    by it long after the records are gone.
    """
    for day, messages in groupby(said, key=lambda s: working_day(s.at, zone)):
        write_lines(
            [_line(s, user_id) for s in messages],
            scope,
            day,
            conversation_id,
            objects=objects,
        )


def write_lines(
    lines: Iterable[Mapping[str, Any]],
    scope: Scope,
    day: str,
    conversation_id: str,
    *,
    objects: Objects,
) -> None:
    """Write one timeline object, named after what it holds."""
    text = "".join(json.dumps(line, ensure_ascii=True) + "\n" for line in lines)
    name = digest(text, length=_KEY_LENGTH)
    objects.put(f"timeline/{scope}/{day}/{conversation_id}/{name}.jsonl", text.encode())


def working_day(at: datetime, zone: ZoneInfo) -> str:
    """The label of the working period that holds the instant."""
    return Period.of(at, Grain.WORKING, zone).label


def messages_on(
    day: str, scope: Scope, conversation_id: str, *, objects: Objects
) -> Iterator[dict[str, Any]]:
    """The messages of one conversation on one local day, as they came, in order of position."""
    lines = (
        line
        for conversation, line in messages_of_day(
            day, scope, conversation_id, objects=objects
        )
        if conversation == conversation_id
    )
    yield from sorted(lines, key=lambda line: line["position"])


def messages_of_day(
    day: str, scope: Scope, conversation_id: str | None = None, *, objects: Objects
) -> Iterator[tuple[str, dict[str, Any]]]:
    """All messages of one local day, or of one of its conversations, each with its conversation's id."""
    folder = f"timeline/{scope}/{day}" + (
        f"/{conversation_id}" if conversation_id else ""
    )
    for info in objects.list(folder):
        stored = objects.get(info.key)
        for line in read_lines(info.key, stored.data) if stored else ():
            yield info.key.split("/")[4], line


def kept_days(scope: Scope, *, objects: Objects) -> list[str]:
    """The local days of which messages are kept, in order."""
    return sorted(objects.folders(f"timeline/{scope}"))


def all_taken_in(
    scope: Scope, *, objects: Objects
) -> Iterator[tuple[str, dict[str, Any]]]:
    """What is noted of each conversation: `messages`, hashes in order, and how many were `erased`."""
    for info in objects.list(f"ledger/conversations/{scope}"):
        if stored := objects.get(info.key):
            messages, erased = _taken_in(info.key, stored.data)
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
    """Note messages, as `all_taken_in` gives them, as taken in; how many were not yet.

    Raises Retryable: another writer was faster.
    """
    key = _taken_in_key(scope, conversation_id)
    stored = objects.get(key)
    known, gone = _taken_in(key, stored.data) if stored else ({}, 0)
    new = {id_: words for id_, words in messages.items() if id_ not in known}
    if not new:
        return 0
    data = _as_taken_in({**known, **new}, max(erased, gone))
    if not objects.put_if(key, data, stored.etag if stored else None):
        raise Retryable("ledger: another writer took in messages of this conversation")
    return len(new)


def taken_in_as(message_id: str) -> str:
    """Under which hash a message's id is noted."""
    return _short(message_id)


def restore(
    day: str,
    scope: Scope,
    conversation_id: str,
    lines: Sequence[Mapping[str, Any]],
    *,
    objects: Objects,
) -> int:
    """Put lines of the timeline in place of which no message is there yet; how many that were."""
    there = {
        line["message"]["id"]
        for line in messages_on(day, scope, conversation_id, objects=objects)
    }
    missing = [line for line in lines if line["message"]["id"] not in there]
    if missing:
        write_lines(missing, scope, day, conversation_id, objects=objects)
    return len(missing)


def ending(day: str, scope: Scope, config: WorkspaceConfig) -> tuple[str, ...]:
    """The note that calls for cleanup when the messages of a local day are over, where that is a time of
    its own: by default it is the time of the yearly summary, which is noted anyway."""
    if config.retention.timeline_limit is None and config.retention.yearly is None:
        return ()
    return (end_of(Period(Grain.DAILY, day), scope, config),)


def end_of(day: Period, scope: Scope, config: WorkspaceConfig) -> str:
    """The note that calls for cleanup when the messages of a local day are over."""
    at = timeline_expires_at(
        day, config.plan, config.retention.timeline_limit, config.zone
    )
    return expiry_key(at, scope, Grain.WORKING)


def delete_days(days: Iterable[str], scope: Scope, *, objects: Objects) -> None:
    """Delete the messages of whole local days, and what is noted of conversations that have none left."""
    gone = set(days)
    if not gone:
        return
    keys = [info.key for info in objects.list(f"timeline/{scope}")]
    doomed = [key for key in keys if key.split("/")[3] in gone]
    kept = {key.split("/")[4] for key in keys if key.split("/")[3] not in gone}
    over = {key.split("/")[4] for key in doomed} - kept
    objects.delete(doomed)
    objects.delete(
        [_taken_in_key(scope, conversation_id) for conversation_id in sorted(over)]
    )


def _taken_in(key: str, data: bytes) -> tuple[dict[str, str], int]:
    """The messages by their hashes, and how many have been forgotten."""
    with intact(key):
        known = json.loads(data)
        ids = {str(id_): str(words) for id_, words in known["messages"].items()}
        return ids, int(known.get("erased", 0))


def read_lines(key: str, data: bytes) -> list[dict[str, Any]]:
    """The messages of one of the timeline's objects. Raises Damaged: names the key."""
    with intact(key):
        return [_checked(json.loads(line)) for line in data.decode().splitlines()]


def _checked(line: dict[str, Any]) -> dict[str, Any]:
    """The line itself. Raises KeyError, TypeError, ValueError: it is none."""
    parse_instant(line["at"])
    if (
        not isinstance(line["position"], int)
        or Message.model_validate(line["message"]).id is None
    ):
        raise ValueError("not a message as it was kept")
    return line


def _line(said: Said, user_id: str | None) -> dict[str, Any]:
    message = said.message.model_dump(mode="json", by_alias=True, exclude_unset=True)
    owner = said.message.user_id or user_id
    line = {
        "position": said.position,
        "at": iso(said.at),
        "message": message | {"id": said.id},
    }
    return line | ({"userId": owner} if owner else {})


def _as_taken_in(messages: Mapping[str, str], erased: int) -> bytes:
    value = {"messages": messages, **({"erased": erased} if erased else {})}
    return json.dumps(value, separators=(",", ":")).encode()


def _taken_in_key(scope: Scope, conversation_id: str) -> str:
    return f"ledger/conversations/{scope}/{conversation_id}.json"


def _short(message_id: str) -> str:
    return digest(message_id, length=_KEY_LENGTH)


def _words(message: Message) -> str:
    return digest(message.role, message.text, length=8)
