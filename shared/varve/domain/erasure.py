"""What is forgotten: whose a message is, and the hashes that keep it from coming back.

A tombstone holds no content: HMAC-SHA-256 under a key of the agent's own, cut to 96 bits, of a user, a
conversation, a message or a record. The key lies beside the hashes. It keeps two stores' tombstones
from being compared; it does not keep anyone who can read the store from testing a guess.
"""

import hmac
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from typing import Any

from varve.domain.calendar import iso, parse_instant
from varve.domain.conversation import SPOKEN, Message
from varve.domain.echo import without_injected
from varve.domain.profile import ProfileEntry
from varve.domain.record import MemoryType, Record, turn_id
from varve.domain.summary import KeyFact, key_facts_from_json
from varve.domain.text import passages
from varve.domain.triple import TripleOperation

_LENGTH = 24
_REPORTED = "outcomes"

MessageKey = tuple[str, str]
"""A conversation's id and a message's."""


@dataclass(frozen=True, slots=True)
class Selector:
    """What to forget: a user, a conversation, or single facts and turns by their records' ids."""

    user: str | None = None
    conversation: str | None = None
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tombstones:
    """What one agent has forgotten, hashed.

    Of a user and a conversation everything said or accepted by the instant is barred, and what comes
    later is not; a message and a record are barred for good. `records` also holds hashes of a summary's id
    with its fingerprint: of that version, for the next one has the same id. `conversations` also holds
    hashes of those of which all was forgotten, under another kind: what was reported of them is barred,
    what somebody else says there is not.
    """

    key: str = ""
    users: Mapping[str, datetime] = field(default_factory=dict)
    conversations: Mapping[str, datetime] = field(default_factory=dict)
    messages: frozenset[str] = frozenset()
    records: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.users or self.conversations or self.messages or self.records)

    def with_subject(
        self,
        selector: Selector,
        now: datetime,
        messages: Iterable[MessageKey] = (),
        records: Iterable[tuple[str, ...]] = (),
        whole: Iterable[str] = (),
    ) -> "Tombstones":
        """The same with a subject more, forgotten at `now`; of the `whole` conversations nothing is left."""
        users = {self.hash("user", selector.user): now} if selector.user else {}
        named = (
            {self.hash("conversation", selector.conversation): now}
            if selector.conversation
            else {}
        )
        named |= {self.hash(_REPORTED, name): now for name in whole}
        return replace(
            self,
            users={**self.users, **users},
            conversations={**self.conversations, **named},
            messages=self.messages
            | {self.hash("message", *message) for message in messages},
        ).with_records(records)

    def with_records(self, records: Iterable[tuple[str, ...]]) -> "Tombstones":
        """The same with records more: an id, or a summary's id and the fingerprint it had."""
        return replace(
            self,
            records=self.records | {self.hash("record", *record) for record in records},
        )

    def hash(self, kind: str, *parts: str) -> str:
        """The hash under which something is held here."""
        return _hash(self.key, kind, *parts)

    def bars_message(
        self, message: MessageKey, users: Iterable[str], *times: datetime
    ) -> bool:
        """Whether a message must not come (back); `times` are when it was said and when it was accepted."""
        if not self:
            return False
        if self.hash("message", *message) in self.messages:
            return True
        ends = [self.conversations.get(self.hash("conversation", message[0]))]
        ends += [self.users.get(self.hash("user", user)) for user in users]
        return any(end is not None and min(times) <= end for end in ends)

    def bars_record(self, record: Record) -> bool:
        """Whether a record must not come (back): itself, one of its messages, or what it sums up."""
        if not self:
            return False
        if record.memory_type is MemoryType.SUMMARY:
            return bool(self.stained_sources(record)) or any(
                self.bars_fact(fact) for fact in key_facts_from_json(record.key_facts)
            )
        conversation = record.conversation_id or ""
        if record.memory_type is MemoryType.OUTCOME:
            end = self.conversations.get(self.hash(_REPORTED, conversation))
            if end is not None and record.created_at <= end:
                return True
        said = conversation, record.source_ids, record.user_id, record.created_at
        return self.has_record(record.id) or self._bars_statement(*said)

    def bars_operation(self, operation: TripleOperation) -> bool:
        """Whether a triple operation must not come (back)."""
        said = (
            operation.conversation_id,
            operation.message_ids,
            operation.user_id,
            operation.created_at,
        )
        return bool(self) and self._bars_statement(*said)

    def bars_entry(self, entry: ProfileEntry) -> bool:
        """Whether a statement of a user's profile must not come (back)."""
        said = (
            entry.conversation_id or "",
            entry.message_ids,
            entry.user_id,
            entry.created_at,
        )
        return bool(self) and self._bars_statement(*said)

    def bars_fact(self, fact: KeyFact) -> bool:
        """Whether a summary may no longer carry this fact."""
        keys = ((fact.conversation_id or "", id_) for id_ in fact.message_ids)
        return self.has_record(fact.id) or any(
            self.hash("message", *key) in self.messages for key in keys
        )

    def has_record(self, *parts: str) -> bool:
        """Whether a record (or a summary's id with its fingerprint) is held here by itself."""
        return self.hash("record", *parts) in self.records

    def stained_sources(self, summary: Record) -> frozenset[str]:
        """Those of a summary's sources that have been forgotten."""
        pairs = zip(summary.source_ids, summary.source_fingerprints, strict=True)
        return frozenset(
            id_
            for id_, said in pairs
            if self.has_record(id_) or self.has_record(id_, said)
        )

    def _bars_statement(
        self, conversation: str, ids: Sequence[str], user: str | None, learnt: datetime
    ) -> bool:
        """What stands on several messages goes with any of them."""
        users = [user] if user else []
        return any(
            self.bars_message((conversation, id_), users, learnt)
            for id_ in ids or ("",)
        )

    def as_json(self) -> dict[str, Any]:
        """As plain JSON values; the inverse of `tombstones_from_json`."""
        return {
            "key": self.key,
            "users": {hash_: iso(at) for hash_, at in sorted(self.users.items())},
            "conversations": {
                hash_: iso(at) for hash_, at in sorted(self.conversations.items())
            },
            "messages": sorted(self.messages),
            "records": sorted(self.records),
        }


def tombstones_from_json(value: Mapping[str, Any]) -> Tombstones:
    """Tombstones from JSON values. Raises KeyError, ValueError: not such values."""
    return Tombstones(
        key=value["key"],
        users={hash_: parse_instant(at) for hash_, at in value["users"].items()},
        conversations={
            hash_: parse_instant(at) for hash_, at in value["conversations"].items()
        },
        messages=frozenset(value["messages"]),
        records=frozenset(value["records"]),
    )


def owners(said: Iterable[tuple[str, str | None]]) -> list[frozenset[str]]:
    """Whose each message of a conversation is, from the roles and users in their order.

    A user's message is that user's. Any other (an answer, a tool's result) also belongs to the user whose
    message came last before it, because it is likely to repeat those words.
    """
    found, last = [], None
    for role, user in said:
        last = user if role == "user" else last
        found.append(frozenset(one for one in (user, last) if one))
    return found


def turn_ids(conversation_id: str, message: Message) -> list[str]:
    """The ids of the turns that a message becomes, one for each passage of what it says."""
    text = without_injected(message.text) if message.role in SPOKEN else ""
    return [
        turn_id(conversation_id, str(message.id), n)
        for n, _ in enumerate(passages(text))
    ]


@lru_cache(maxsize=100_000)
def _hash(key: str, kind: str, *parts: str) -> str:
    message = "\0".join((kind, *parts)).encode()
    return hmac.new(key.encode(), message, "sha256").hexdigest()[:_LENGTH]
