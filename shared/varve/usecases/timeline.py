"""The timeline: messages as they arrived."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from types import MappingProxyType
from typing import Any
from zoneinfo import ZoneInfo

from varve.domain.calendar import Grain, Period, iso, parse_instant
from varve.domain.conversation import Message
from varve.domain.damage import intact
from varve.domain.errors import Contended
from varve.domain.identity import Scope
from varve.domain.ledger import expiry_key
from varve.domain.retention import timeline_expires_at
from varve.domain.workspace import WorkspaceConfig
from varve.ports.objects import Objects
from varve.usecases.ingest.taken_in import Said, hash_message_id, taken_in_key

MAX_MERGE_RACES = 20
NO_OWNERS: Mapping[str, str | None] = MappingProxyType({})


def keep(
    said: Sequence[Said],
    scope: Scope,
    conversation_id: str,
    zone: ZoneInfo,
    *,
    owners: Mapping[str, str | None] = NO_OWNERS,
    objects: Objects,
) -> None:
    """Write messages to the timeline as they arrived, one immutable object per local day.

    Each message is stored with its user, by default the one it names; `owners` are the
    users by message id. Erasure relies on it long after the records are gone.
    """
    parts: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for one in said:
        part = (working_day(one.at, zone), one.part)
        line = _line(one, owners.get(one.id))
        parts.setdefault(part, []).append(line)
    for (day, name), lines in parts.items():
        write_lines(lines, scope, day, conversation_id, name, objects=objects)


def write_lines(
    lines: Sequence[Mapping[str, Any]],
    scope: Scope,
    day: str,
    conversation_id: str,
    name: str = "",
    *,
    objects: Objects,
) -> None:
    """Write one timeline object, or add the lines to it.

    Its name is that of the first message's id, unless `name` is given. It depends on
    nothing that a repeated ingest changes, so that no message lies there twice.
    Raises Contended: `MAX_MERGE_RACES` other writers were faster.
    """
    if not name:
        first = lines[0]["message"]
        name = hash_message_id(first["id"])
    key = f"timeline/{scope}/{day}/{conversation_id}/{name}.jsonl"
    merged = list(lines)
    etag: str | None = None
    for _ in range(MAX_MERGE_RACES):
        if objects.put_if(key, _encode_lines(merged), etag):
            return
        stored = objects.get(key)
        etag = stored.etag if stored else None
        known = read_lines(key, stored.data) if stored else []
        merged = _merge(known, lines)
    raise Contended(f"timeline: lost {MAX_MERGE_RACES} races for {key}")


def replace_lines(
    key: str, lines: Sequence[Mapping[str, Any]], *, objects: Objects
) -> None:
    """Replace a timeline object by one with these lines only; without lines delete it.

    The new object is named after its own first message. It is written first: a crash in
    between duplicates a message but loses none.
    """
    replaced = ""
    if lines:
        folder, _, _ = key.rpartition("/")
        first = lines[0]["message"]
        replaced = f"{folder}/{hash_message_id(first['id'])}.jsonl"
        objects.put(replaced, _encode_lines(lines))
    if replaced != key:
        objects.delete([key])


def _merge(
    known: Iterable[Mapping[str, Any]], lines: Iterable[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """Return the lines of both by position; a later line of the same id replaces one."""
    by_id = {line["message"]["id"]: line for line in known}
    for line in lines:
        by_id[line["message"]["id"]] = line
    return sorted(by_id.values(), key=lambda line: line["position"])


def _encode_lines(lines: Iterable[Mapping[str, Any]]) -> bytes:
    return "".join(
        json.dumps(line, ensure_ascii=True) + "\n" for line in lines
    ).encode()


@lru_cache(maxsize=1024)
def working_day(at: datetime, zone: ZoneInfo) -> str:
    """Return the label of the working period that holds the instant.

    A message's timeline object, turn and facts each ask for it.
    """
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
    day: str,
    scope: Scope,
    conversation_id: str | None = None,
    *,
    objects: Objects,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield all messages of one local day with their conversations' ids, each once.

    With `conversation_id`, only the messages of that conversation. Version 0.1 named
    objects by their content, so that a message may lie in several objects.
    """
    seen: set[tuple[str, str]] = set()
    folder = f"timeline/{scope}/{day}"
    if conversation_id:
        folder += f"/{conversation_id}"
    for info in objects.list(folder):
        stored = objects.get(info.key)
        if stored is None:
            continue
        conversation = info.key.split("/")[4]
        for line in read_lines(info.key, stored.data):
            key = (conversation, line["message"]["id"])
            if key not in seen:
                seen.add(key)
                yield conversation, line


def list_days(scope: Scope, *, objects: Objects) -> list[str]:
    """List the local days that have messages, in order."""
    return sorted(objects.folders(f"timeline/{scope}"))


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
    retention = config.retention
    if retention.timeline_limit is None and retention.yearly is None:
        return ()
    return (timeline_expiry_key(Period(Grain.DAILY, day), scope, config),)


def timeline_expiry_key(
    day: Period, scope: Scope, config: WorkspaceConfig
) -> str:
    """Return the note that calls for cleanup when a local day's messages expire."""
    limit = config.retention.timeline_limit
    at = timeline_expires_at(day, config.plan, limit, config.zone)
    return expiry_key(at, scope, Grain.WORKING)


def delete_days(
    days: Iterable[str], scope: Scope, *, objects: Objects
) -> None:
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
    objects.delete(
        [taken_in_key(scope, name) for name in sorted(emptied - kept)]
    )


def read_lines(key: str, data: bytes) -> list[dict[str, Any]]:
    """Return the messages of one timeline object. Raises Damaged: names the key."""
    with intact(key):
        return [
            _check_line(json.loads(line))
            for line in data.decode().splitlines()
        ]


def _check_line(line: dict[str, Any]) -> dict[str, Any]:
    """Return a valid line as it is. Raises KeyError, TypeError, ValueError."""
    parse_instant(line["at"])
    if not isinstance(line["position"], int):
        raise ValueError("the position is not an integer")
    if Message.model_validate(line["message"]).id is None:
        raise ValueError("the message has no id")
    return line


def _line(said: Said, owner: str | None) -> dict[str, Any]:
    message = said.message.model_dump(
        mode="json", by_alias=True, exclude_unset=True
    )
    message["id"] = said.id
    line = {"position": said.position, "at": iso(said.at), "message": message}
    user_id = said.message.user_id or owner
    if user_id:
        line["userId"] = user_id
    return line
