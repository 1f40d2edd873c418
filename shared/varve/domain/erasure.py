"""Erasure: the owners of a message, and tombstones that keep forgotten data out.

A tombstone holds no content. It is an HMAC-SHA-256, cut to 96 bits, of a user, a
conversation, a message or a record. The key belongs to the agent and is stored with the
hashes. It prevents comparing the tombstones of two stores. It does not prevent a reader
of the store from testing a guess.
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
from varve.domain.notes import Note, NoteVersion, version_keys
from varve.domain.profile import ProfileEntry
from varve.domain.record import MemoryType, Record, turn_id
from varve.domain.statements.texts.telling import CORRECTION, list_corrected
from varve.domain.summary import KeyFact, key_facts_from_json
from varve.domain.text import passages
from varve.domain.triple import Op, TripleOperation

_LENGTH = 24
_REPORTED = "outcomes"

EXPERIENCE_ROWS = frozenset(
    {
        MemoryType.EPISODE,
        MemoryType.OUTCOME,
        MemoryType.PRIOR_ANSWER,
        MemoryType.FINDING,
        MemoryType.LESSON,
    }
)
"""Rows that tombstones bar by `row_key`; most episodes are barred by their messages."""
_KEYED = EXPERIENCE_ROWS | {MemoryType.NOTE}
_REPLAYED = EXPERIENCE_ROWS - {MemoryType.EPISODE, MemoryType.LESSON}

MessageKey = tuple[str, str]
"""The ids of a conversation and of a message in it."""


@dataclass(frozen=True, slots=True)
class Selector:
    """What to forget: a user, a conversation, or facts and turns by their record ids."""

    user: str | None = None
    conversation: str | None = None
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tombstones:
    """The hashes of everything that one agent has forgotten.

    For a user and a conversation, everything said or accepted by the instant is barred;
    later data is not. A message and a record are barred permanently.

    `records` also has hashes of a summary's id with its fingerprint. They bar that
    version only, because the next version has the same id. Rows of the experience store
    are barred by `row_key`, for the same reason. `conversations` also has
    hashes, of another kind, of conversations that were forgotten as a whole. They bar
    outcomes reported by then, but not the messages of other users.
    """

    key: str = ""
    users: Mapping[str, datetime] = field(default_factory=dict)
    conversations: Mapping[str, datetime] = field(default_factory=dict)
    messages: frozenset[str] = frozenset()
    records: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(
            self.users or self.conversations or self.messages or self.records
        )

    def with_subject(
        self,
        selector: Selector,
        now: datetime,
        messages: Iterable[MessageKey] = (),
        records: Iterable[tuple[str, ...]] = (),
        whole: Iterable[str] = (),
    ) -> "Tombstones":
        """Return these tombstones and those of a subject forgotten at `now`.

        `whole` are conversations that were forgotten completely.
        """
        users = dict(self.users)
        if selector.user:
            users[self.hash("user", selector.user)] = now
        conversations = dict(self.conversations)
        if selector.conversation:
            conversations[self.hash("conversation", selector.conversation)] = (
                now
            )
        for name in whole:
            conversations[self.hash(_REPORTED, name)] = now
        barred = {self.hash("message", *message) for message in messages}
        more = replace(
            self,
            users=users,
            conversations=conversations,
            messages=self.messages | barred,
        )
        return more.with_records(records)

    def with_records(self, records: Iterable[tuple[str, ...]]) -> "Tombstones":
        """Return these tombstones and those of more records.

        A record is given by its id, or by a summary's id and fingerprint.
        """
        barred = {self.hash("record", *record) for record in records}
        return replace(self, records=self.records | barred)

    def hash(self, kind: str, *parts: str) -> str:
        """Return the hash of a subject of the kind under this agent's key."""
        return _hash(self.key, kind, *parts)

    def bars_message(
        self, message: MessageKey, users: Iterable[str], *times: datetime
    ) -> bool:
        """Return whether a message must not be stored (again).

        `times` are when it was said and when it was accepted; the earlier one counts.
        """
        if not self:
            return False
        if self.hash("message", *message) in self.messages:
            return True
        ends = [self.conversations.get(self.hash("conversation", message[0]))]
        ends += [self.users.get(self.hash("user", user)) for user in users]
        earliest = min(times)
        return any(end is not None and earliest <= end for end in ends)

    def bars_record(self, record: Record) -> bool:
        """Return whether a record must not be stored (again).

        The reason may be the record itself, one of its messages, or a summary's source.
        """
        if not self:
            return False
        if record.memory_type is MemoryType.SUMMARY:
            return self._bars_summary(record)
        if record.memory_type in _KEYED and self.bars_row(record):
            return True
        completed = _read_completed(record.conversation_id, record.source_ids)
        if any(map(self.has_record, (record.id, *completed))):
            return True
        return self._bars_statement(
            record.conversation_id or "",
            record.source_ids,
            record.user_id,
            stated_at(record),
        )

    def bars_row(self, row: Record) -> bool:
        """Return whether a row of the experience store is barred as such.

        The reason may be the row itself, a report of the same conversation and time, or
        a report of a conversation that was forgotten as a whole.
        """
        if self.has_record(*row_key(row)):
            return True
        if row.memory_type is not MemoryType.OUTCOME:
            return False
        return self.has_record(*report_key(row)) or self._bars_outcome(row)

    def _bars_summary(self, summary: Record) -> bool:
        if self.stained_sources(summary):
            return True
        facts = key_facts_from_json(summary.key_facts)
        return any(self.bars_fact(fact) for fact in facts)

    def _bars_outcome(self, outcome: Record) -> bool:
        reported = self.hash(_REPORTED, outcome.conversation_id or "")
        end = self.conversations.get(reported)
        return end is not None and stated_at(outcome) <= end

    def bars_operation(self, operation: TripleOperation) -> bool:
        """Return whether a triple operation must not be stored (again)."""
        if not self:
            return False
        named = (operation.id, *read_ended(operation))
        return any(map(self.has_record, named)) or self._bars_statement(
            operation.conversation_id,
            operation.message_ids,
            operation.user_id,
            operation.created_at,
        )

    def bars_entry(self, entry: ProfileEntry) -> bool:
        """Return whether a statement of a user's profile must not be stored (again)."""
        if not self:
            return False
        named = (entry.id, *read_ended(entry))
        if any(map(self.has_record, named)):
            return True
        return self._bars_statement(
            entry.conversation_id or "",
            entry.message_ids,
            entry.user_id,
            entry.created_at,
        )

    def bars_version(self, note: Note, version: NoteVersion) -> bool:
        """Return whether a version of a note must not be stored (again)."""
        if not self:
            return False
        if any(self.has_record(*key) for key in version_keys(note, version)):
            return True
        return self._bars_statement("", (), note.user_id, version.at)

    def bars_fact(self, fact: KeyFact) -> bool:
        """Return whether a summary must not have this key fact."""
        if self.has_record(fact.id):
            return True
        conversation = fact.conversation_id or ""
        hashes = (
            self.hash("message", conversation, id_) for id_ in fact.message_ids
        )
        return any(hash_ in self.messages for hash_ in hashes)

    def has_record(self, *parts: str) -> bool:
        """Return whether a record (or a summary's id with its fingerprint) is forgotten."""
        return self.hash("record", *parts) in self.records

    def stained_sources(self, summary: Record) -> frozenset[str]:
        """Return the ids of a summary's sources that have been forgotten."""
        sources = zip(
            summary.source_ids, summary.source_fingerprints, strict=True
        )
        return frozenset(
            id_
            for id_, fingerprint in sources
            if self.has_record(id_) or self.has_record(id_, fingerprint)
        )

    def _bars_statement(
        self,
        conversation: str,
        ids: Sequence[str],
        user: str | None,
        learnt: datetime,
    ) -> bool:
        """Return whether any message that a statement comes from is barred."""
        users = [user] if user else []
        return any(
            self.bars_message((conversation, id_), users, learnt)
            for id_ in ids or ("",)
        )

    def as_json(self) -> dict[str, Any]:
        """Return the tombstones as JSON values; the inverse of `tombstones_from_json`."""
        return {
            "key": self.key,
            "users": {
                hash_: iso(at) for hash_, at in sorted(self.users.items())
            },
            "conversations": {
                hash_: iso(at)
                for hash_, at in sorted(self.conversations.items())
            },
            "messages": sorted(self.messages),
            "records": sorted(self.records),
        }


def tombstones_from_json(value: Mapping[str, Any]) -> Tombstones:
    """Return tombstones from JSON values. Raises KeyError, ValueError: not such values."""
    return Tombstones(
        key=value["key"],
        users={
            hash_: parse_instant(at) for hash_, at in value["users"].items()
        },
        conversations={
            hash_: parse_instant(at)
            for hash_, at in value["conversations"].items()
        },
        messages=frozenset(value["messages"]),
        records=frozenset(value["records"]),
    )


def read_ended(one: TripleOperation | ProfileEntry) -> list[str]:
    """Return the ids of the corrected records without which a statement says nothing.

    An ending repeats the value of the record, so it is forgotten with it.
    """
    ends = one.ends if isinstance(one, ProfileEntry) else one.op is Op.DELETE
    if ends:
        return list_corrected(one.message_ids)
    return _read_completed(one.conversation_id, one.message_ids)


def _read_completed(
    conversation_id: str | None, ids: Iterable[str]
) -> list[str]:
    """Return the ids of earlier records whose words complete a statement.

    "Sorry, I meant 3 June" takes its subject from them. What `correct` was given stands
    alone.
    """
    if (conversation_id or "").startswith(CORRECTION):
        return []
    return list_corrected(ids)


def row_key(row: Record) -> tuple[str, ...]:
    """Return the key of a row of the experience store: its id and the time it names.

    The same words at a later time may have the same id, and are not barred.
    """
    return (row.id, iso(row.event_time))


def report_key(outcome: Record) -> tuple[str, ...]:
    """Return the key of all reports of a conversation that name the same time.

    A replayed report may name another target than before, because its episode is erased.
    """
    return ("report", outcome.conversation_id or "", iso(outcome.event_time))


def stated_at(record: Record) -> datetime:
    """Return when a record was stated: the time it names or, if earlier, its creation.

    A replayed outcome is created again but names the same time. The event of a fact may
    lie long before the statement, so only its creation counts.
    """
    if record.memory_type in _REPLAYED:
        return min(record.event_time, record.created_at)
    return record.created_at


def owners(said: Iterable[tuple[str, str | None]]) -> list[frozenset[str]]:
    """Return the users that own each message, given their roles and users in order.

    A user's message belongs to that user. Any other message (an answer, a tool's result)
    also belongs to the user of the last message before it, because it is likely to repeat
    that user's words.
    """
    owners_of_each = []
    last = None
    for role, user in said:
        if role == "user":
            last = user
        owners_of_each.append(frozenset(one for one in (user, last) if one))
    return owners_of_each


def turn_ids(conversation_id: str, message: Message) -> list[str]:
    """Return the ids of a message's turns, one for each passage without injected memory."""
    if message.role not in SPOKEN:
        return []
    spoken = enumerate(passages(without_injected(message.text)))
    return [
        turn_id(conversation_id, str(message.id), number)
        for number, _ in spoken
    ]


@lru_cache(maxsize=100_000)
def _hash(key: str, kind: str, *parts: str) -> str:
    message = "\0".join((kind, *parts))
    digest = hmac.new(key.encode(), message.encode(), "sha256")
    return digest.hexdigest()[:_LENGTH]
