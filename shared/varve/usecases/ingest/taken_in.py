"""Which messages of a conversation memory has taken in, and which are on their way."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from typing import Any

from varve.domain.calendar import iso, parse_instant
from varve.domain.conversation import Message
from varve.domain.damage import intact
from varve.domain.errors import Contended
from varve.domain.identity import Scope, digest
from varve.ports.objects import Objects

MAX_RACES = 20
_HASH_LENGTH = 16
_LOST_RACE = (
    f"ledger: lost {MAX_RACES} races for the messages of a conversation"
)


@dataclass(frozen=True, slots=True)
class Said:
    """A message with its resolved time in UTC and its place in the conversation, from 0.

    `part` names its timeline object; else the first message of the object does.
    """

    message: Message
    at: datetime
    position: int
    part: str = ""

    @property
    def id(self) -> str:
        """The message's id; validation guarantees that it has one."""
        return str(self.message.id)


@dataclass(frozen=True, slots=True)
class _Arrival:
    """The time, place and timeline object that a message got when it first arrived."""

    at: str
    position: int
    part: str


@dataclass(frozen=True, slots=True)
class _Noted:
    """The stored list: words' hashes by message hash, how many were forgotten, arrivals.

    `last_at` is the time of the last message taken in; "" if an earlier version wrote it.
    """

    ids: Mapping[str, str] = field(default_factory=dict)
    erased: int = 0
    arriving: Mapping[str, _Arrival] = field(default_factory=dict)
    last_at: str = ""

    @property
    def next_position(self) -> int:
        """The first place that no message has."""
        places = [arrival.position + 1 for arrival in self.arriving.values()]
        return max([len(self.ids) + self.erased, *places])


class TakenIn:
    """The messages of one conversation that memory has taken in, by a hash of their ids.

    One small object per conversation. A message is noted twice. `arrive` notes its time
    and place before anything is stored, so that an ingest that was killed and is repeated
    stores the same. `add` notes that all of it is stored. Forgotten messages are only
    counted, so that later messages keep their positions.
    """

    def __init__(
        self, scope: Scope, conversation_id: str, objects: Objects
    ) -> None:
        self._key = taken_in_key(scope, conversation_id)
        self._objects = objects
        self._arrived: set[str] = set()
        self._load()

    def _load(self) -> None:
        stored = self._objects.get(self._key)
        self._etag = stored.etag if stored else None
        self._noted = _decode(self._key, stored.data) if stored else _Noted()

    def __len__(self) -> int:
        return len(self._noted.ids) + self._noted.erased

    def __contains__(self, message: Message) -> bool:
        return hash_message_id(str(message.id)) in self._noted.ids

    @property
    def last_at(self) -> datetime | None:
        """The time of the last message taken in; None if it is not known."""
        last = self._noted.last_at
        return parse_instant(last) if last else None

    def differs(self, message: Message) -> bool:
        """Return whether this id was taken in with other words; the first ones stay."""
        words = _hash_words(message)
        return (
            self._noted.ids.get(hash_message_id(str(message.id)), words)
            != words
        )

    def arrive(self, timed: Sequence[tuple[Message, datetime]]) -> list[Said]:
        """Return those of the messages that are new, with their times and places.

        A message that arrived before, in an ingest that did not end, keeps those it got.
        Raises Contended: `MAX_RACES` other writers were faster.
        """
        for _ in range(MAX_RACES):
            new = [
                (message, at) for message, at in timed if message not in self
            ]
            said = self._place(new)
            self._arrived = {hash_message_id(one.id) for one in said}
            arriving = dict(self._noted.arriving)
            for one in said:
                arrival = _Arrival(iso(one.at), one.position, one.part)
                arriving[hash_message_id(one.id)] = arrival
            if arriving == self._noted.arriving:
                return said
            if self._save(replace(self._noted, arriving=arriving)):
                return said
            self._load()
        raise Contended(_LOST_RACE)

    def _place(self, new: Sequence[tuple[Message, datetime]]) -> list[Said]:
        said: list[Said] = []
        position = self._noted.next_position
        part = ""
        for message, at in new:
            hashed = hash_message_id(str(message.id))
            known = self._noted.arriving.get(hashed)
            if known is not None:
                first_at = parse_instant(known.at)
                said.append(
                    Said(message, first_at, known.position, known.part)
                )
                continue
            part = part or hashed
            said.append(Said(message, at, position, part))
            position += 1
        return said

    def add(self, said: Iterable[Said]) -> None:
        """Record the messages as taken in, but for those forgotten since they arrived.

        Raises Contended: `MAX_RACES` other writers were faster.
        """
        given = list(said)
        words = {
            hash_message_id(one.id): _hash_words(one.message) for one in given
        }
        newest = max((iso(one.at) for one in given), default="")
        for _ in range(MAX_RACES):
            self._load()
            noted = self._noted
            forgotten = self._arrived - {*noted.ids, *noted.arriving}
            new = _without(words, forgotten)
            arriving = _without(noted.arriving, new)
            last_at = noted.last_at
            if new:
                last_at = max(last_at, newest)
            left = replace(
                noted,
                ids={**new, **noted.ids},
                arriving=arriving,
                last_at=last_at,
            )
            if left == noted or self._save(left):
                return
        raise Contended(_LOST_RACE)

    def forget(self, message_ids: Iterable[str], *, whole: bool) -> None:
        """Delete messages from the list; delete the list if the `whole` conversation goes.

        Raises Contended: another writer changed the list meanwhile.
        """
        doomed = {hash_message_id(id_) for id_ in message_ids}
        noted = self._noted
        ids = _without(noted.ids, doomed)
        arriving = _without(noted.arriving, doomed)
        erased = noted.erased + len(noted.ids) - len(ids)
        left = replace(noted, ids=ids, erased=erased, arriving=arriving)
        must_save = whole or left != noted
        if self._etag is None or not must_save:
            return
        if not self._save(left):
            raise Contended(
                "ledger: another writer took in messages meanwhile"
            )
        if whole:
            self._objects.delete([self._key])

    def _save(self, noted: _Noted) -> bool:
        if not self._objects.put_if(self._key, _encode(noted), self._etag):
            return False
        self._noted = noted
        return True


def read_taken_in(
    scope: Scope, *, objects: Objects
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each conversation's list of messages taken in.

    `messages` are hashes in order; `erased` is how many were forgotten.
    """
    for info in objects.list(f"ledger/conversations/{scope}"):
        stored = objects.get(info.key)
        if stored:
            noted = _decode(info.key, stored.data)
            name = info.key.rpartition("/")[2].removesuffix(".json")
            yield name, {"messages": dict(noted.ids), "erased": noted.erased}


def take_in(
    scope: Scope,
    conversation_id: str,
    messages: Mapping[str, str],
    erased: int,
    *,
    objects: Objects,
) -> int:
    """Add messages, as `read_taken_in` yields them, to the list; return how many are new.

    Raises Contended: another writer was faster.
    """
    key = taken_in_key(scope, conversation_id)
    stored = objects.get(key)
    noted = _decode(key, stored.data) if stored else _Noted()
    new = _without(messages, noted.ids)
    if not new:
        return 0
    ids = {**noted.ids, **new}
    left = replace(
        noted,
        ids=ids,
        erased=max(erased, noted.erased),
        arriving=_without(noted.arriving, new),
    )
    etag = stored.etag if stored else None
    if not objects.put_if(key, _encode(left), etag):
        raise Contended("ledger: another writer took in messages meanwhile")
    return len(new)


@lru_cache(maxsize=1024)
def hash_message_id(message_id: str) -> str:
    """Return the hash under which a message is noted as taken in."""
    return digest(message_id, length=_HASH_LENGTH)


def taken_in_key(scope: Scope, conversation_id: str) -> str:
    """Return the key of a conversation's list of messages taken in."""
    return f"ledger/conversations/{scope}/{conversation_id}.json"


_Values = Mapping[str, Any]


def _without(values: _Values, doomed: Iterable[str]) -> dict[str, Any]:
    gone = set(doomed)
    return {name: value for name, value in values.items() if name not in gone}


def _decode(key: str, data: bytes) -> _Noted:
    with intact(key):
        known = json.loads(data)
        ids = {
            str(id_): str(words) for id_, words in known["messages"].items()
        }
        arriving = {}
        for id_, (at, position, part) in known.get("arriving", {}).items():
            parse_instant(at)
            arriving[str(id_)] = _Arrival(str(at), int(position), str(part))
        last_at = str(known.get("last", ""))
        if last_at:
            parse_instant(last_at)
        return _Noted(ids, int(known.get("erased", 0)), arriving, last_at)


def _encode(noted: _Noted) -> bytes:
    value: dict[str, Any] = {"messages": noted.ids}
    if noted.erased:
        value["erased"] = noted.erased
    if noted.last_at:
        value["last"] = noted.last_at
    if noted.arriving:
        value["arriving"] = {
            id_: [one.at, one.position, one.part]
            for id_, one in noted.arriving.items()
        }
    return json.dumps(value, separators=(",", ":")).encode()


def _hash_words(message: Message) -> str:
    return digest(message.role, message.text, length=8)
