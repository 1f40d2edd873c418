"""A user's profile: stable attributes, folded from statements by their event times.

The fold depends on the set of statements alone, like the fold of triples. Late, repeated
and reordered deliveries give the same profile. Every statement is kept as history.
"""

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import chain
from typing import Any

from pydantic import TypeAdapter

from varve.domain.calendar import iso, parse_instant
from varve.domain.errors import Rejected
from varve.domain.extraction import Utterance
from varve.domain.identity import digest
from varve.domain.names import normalized
from varve.domain.predicates import is_single_valued
from varve.domain.triple import Op, TripleOperation

DEFAULT_USER = "default"
"""The profile's user if neither the conversation nor the message names one."""

KNOWN_KEYS = (
    "name", "preferred_name", "pronouns", "language", "time_zone", "location", "role", "employer",
    "birthday", "diet", "allergies", "cannot_eat", "conditions", "languages", "preferences",
)  # fmt: skip
"""The attributes that conversations can set, in the order of the profile."""

FIRST_KEYS = ("allergies", "cannot_eat", "conditions", "diet", "preferences")
"""The attributes that a context has first: to leave them out does the most harm."""
VITAL_KEYS = frozenset({"allergies", "cannot_eat", "conditions", "diet"})
"""Attributes that a block has whatever else the budget leaves out."""

LIST_KEYS = frozenset(
    {"allergies", "cannot_eat", "conditions", "languages", "preferences"}
)
"""The keys that may have several values; every other key has its newest value."""

KEY_OF_PREDICATE = {
    "name": "name", "full_name": "name", "goes_by": "preferred_name", "pronouns": "pronouns",
    "language": "language", "time_zone": "time_zone", "lives_in": "location", "works_as": "role",
    "works_at": "employer", "birthday": "birthday", "diet": "diet", "allergic_to": "allergies",
    "cannot_eat": "cannot_eat", "has_condition": "conditions",
    "speaks": "languages", "prefers": "preferences",
}  # fmt: skip
"""The profile key for each predicate of a triple about a speaker.

Contact data and likes have none, because a profile is put before every prompt. Contact
data told in conversations takes the place of what the owner set by hand, and of nothing else.
"""


_OTHER_NAMES = {
    "occupation": "role", "job": "role", "job_title": "role", "profession": "role", "works_as": "role",
    "company": "employer", "workplace": "employer", "works_at": "employer", "lives_in": "location",
    "timezone": "time_zone", "nickname": "preferred_name", "goes_by": "preferred_name",
    "allergy": "allergies", "allergic_to": "allergies",
}  # fmt: skip
"""The profile key for each other name of one."""


def name_key(key: str) -> str:
    """Return the profile key that a key means: "occupation" is the role."""
    return _OTHER_NAMES.get(key, key)


def find_key(predicate: str) -> str:
    """Return the profile key of a predicate; without one, the key that the owner may set."""
    return KEY_OF_PREDICATE.get(predicate, predicate)


def find_told_key(predicate: str) -> str | None:
    """Return the key that statements under a predicate change; None: they change none."""
    if is_single_valued(predicate):
        return find_key(predicate)
    return KEY_OF_PREDICATE.get(predicate)


MAX_VALUE_CHARACTERS = 300
NAMELESS = "user"
"""The name of a speaker who has none."""
_KEY = re.compile(r"[a-z][a-z0-9_]{0,39}")


@dataclass(frozen=True)
class ProfileEntry:
    """One statement about one attribute, with its source.

    `event_time` is when the value began (or ceased) to hold, `created_at` when the system
    learnt it. With `ends` the statement ends its value or, if that is empty, all values.
    `replaces` is the value of a list that this one replaces. `subject` is the user's name
    in the conversation. A value set by hand has no conversation. An `unread` value is the
    words of a correction; it counts as long as no statement was read from them. An end that
    came with them is `unread` too.
    """

    user_id: str
    key: str
    value: str
    event_time: datetime
    created_at: datetime
    conversation_id: str | None = None
    message_ids: tuple[str, ...] = ()
    subject: str = ""
    ends: bool = False
    replaces: str = ""
    unread: bool = False

    @cached_property
    def id(self) -> str:
        """The id: equal for the same statement of the same messages."""
        said = (
            self.user_id,
            self.key,
            self.value,
            str(self.ends),
            self.replaces,
            self.subject,
        )
        place = (
            iso(self.event_time),
            self.conversation_id or "",
            *sorted(self.message_ids),
            *(["unread"] if self.unread else []),
        )
        return "profile-" + digest(*said, *place, length=24)


_ENTRY = TypeAdapter(ProfileEntry)


def profile_key(key: str) -> str:
    """Return the key, or the known key of which it is another name.

    Raises Rejected: not a lower-case name of letters, digits and underscores.
    """
    if not _KEY.fullmatch(key):
        raise Rejected(
            "key",
            f"{key[:40]!r} is not one of {', '.join(KNOWN_KEYS)}, "
            "nor of the form [a-z][a-z0-9_]{0,39}",
        )
    return name_key(key)


def profile_value(value: str) -> str:
    """Return the value on one line.

    Raises Rejected: longer than MAX_VALUE_CHARACTERS, or with characters that cannot be
    printed.
    """
    if not isinstance(value, str):
        raise Rejected("value", "must be a string")
    line = " ".join(value.split())
    if len(line) > MAX_VALUE_CHARACTERS or not line.isprintable():
        raise Rejected(
            "value",
            f"must be at most {MAX_VALUE_CHARACTERS} printable characters",
        )
    return line


def build_entries(
    operations: Iterable[TripleOperation], utterances: Sequence[Utterance]
) -> list[ProfileEntry]:
    """Return the profile statements that users make about themselves.

    These are operations about the speaker of one of the messages they cite. A value that
    is not valid in a profile is left out.
    """
    entries: dict[str, ProfileEntry] = {}
    for operation in operations:
        key = find_told_key(operation.predicate)
        speaker = _find_speaker(operation, utterances)
        if key is None or speaker is None:
            continue
        try:
            value = profile_value(operation.object)
        except Rejected:
            continue
        entry = ProfileEntry(
            user_id=speaker.user_id or DEFAULT_USER,
            key=key,
            value=value,
            event_time=operation.event_time,
            created_at=operation.created_at,
            conversation_id=operation.conversation_id,
            message_ids=operation.message_ids,
            subject=operation.subject,
            ends=operation.op is Op.DELETE,
            replaces=operation.replaces or "",
        )
        entries.setdefault(entry.id, entry)
    return list(entries.values())


def _find_speaker(
    operation: TripleOperation, utterances: Sequence[Utterance]
) -> Utterance | None:
    """Return the user's message that the operation cites and whose speaker it is about."""
    name = normalized(operation.subject)
    for utterance in utterances:
        is_cited = utterance.message_id in operation.message_ids
        if utterance.role != "user" or not is_cited:
            continue
        if normalized(utterance.speaker) == name:
            return utterance
    return None


def drop_unasked(entries: Iterable[ProfileEntry]) -> list[ProfileEntry]:
    """Return the statements without contact data and the like that only conversations told.

    Where the owner set such an attribute by hand, it stays with all that was told of it.
    """
    told = list(entries)
    by_hand = {one.key for one in told if one.conversation_id is None}
    return [
        one
        for one in told
        if one.key in by_hand or not _has_no_own_place(one.key)
    ]


def _has_no_own_place(key: str) -> bool:
    return is_single_valued(key) and key not in KNOWN_KEYS


def merge_entries(
    *accounts: Iterable[ProfileEntry],
) -> dict[str, ProfileEntry]:
    """Return all statements by id; of two with one id, the one learnt first."""
    entries: dict[str, ProfileEntry] = {}
    for entry in chain.from_iterable(accounts):
        known = entries.setdefault(entry.id, entry)
        if known is not entry and known != entry:
            entries[entry.id] = min(known, entry, key=_learnt)
    return entries


def _learnt(entry: ProfileEntry) -> tuple[datetime, str]:
    return (entry.created_at, json.dumps(entry_as_json(entry)))


def sort_entries(entries: Iterable[ProfileEntry]) -> list[ProfileEntry]:
    """Return the statements by event time.

    At the same time, endings come first; ties are broken by id.
    """
    return sorted(
        entries, key=lambda entry: (entry.event_time, not entry.ends, entry.id)
    )


def find_speakers(entries: Iterable[ProfileEntry]) -> frozenset[str]:
    """Return the names of the speakers who share a conversation without user ids.

    A profile of one person has none, whatever names that person has used. A speaker
    without a name is no other person.
    """
    by_conversation: dict[str, set[str]] = {}
    for entry in entries:
        name = normalized(entry.subject)
        is_named = name not in ("", NAMELESS, normalized(entry.user_id))
        if is_named and entry.conversation_id is not None:
            by_conversation.setdefault(entry.conversation_id, set()).add(name)
    found: set[str] = set()
    for names in by_conversation.values():
        if len(names) > 1:
            found |= names
    return frozenset(found)


def name_speaker(entry: ProfileEntry, speakers: Collection[str]) -> str:
    """Return which of several speakers told an attribute; "" for the user as a whole."""
    name = normalized(entry.subject)
    return name if name in speakers else ""


def find_confirmations(
    entries: Iterable[ProfileEntry], now: datetime
) -> dict[str, datetime]:
    """Return when each value of an attribute was last stated, by the statements' ids."""
    last: dict[tuple[str, str, str], datetime] = {}
    stated: dict[str, tuple[str, str, str]] = {}
    known = list(entries)
    speakers = find_speakers(known)
    for entry in known:
        if entry.ends or entry.event_time > now:
            continue
        speaker = name_speaker(entry, speakers)
        key = (speaker, entry.key, normalized(entry.value))
        stated[entry.id] = key
        last[key] = max(entry.event_time, last.get(key, entry.event_time))
    return {id_: last[key] for id_, key in stated.items()}


def sort_for_block(entries: Iterable[ProfileEntry]) -> list[ProfileEntry]:
    """Return the statements with allergies and preferences first, for a tight budget."""
    return sorted(entries, key=_block_rank)


def _block_rank(entry: ProfileEntry) -> int:
    return (*FIRST_KEYS, entry.key).index(entry.key)


def entry_as_json(entry: ProfileEntry) -> dict[str, Any]:
    """Return the statement as JSON values; the inverse of `entry_from_json`."""
    values: dict[str, Any] = {
        "userId": entry.user_id,
        "key": entry.key,
        "value": entry.value,
        "eventTime": iso(entry.event_time),
        "createdAt": iso(entry.created_at),
        "conversationId": entry.conversation_id,
        "messageIds": list(entry.message_ids),
        "subject": entry.subject,
        "ends": entry.ends,
        "replaces": entry.replaces,
    }
    if entry.unread:
        values["unread"] = True
    return values


def entry_from_json(value: Mapping[str, Any]) -> ProfileEntry:
    """Return the statement of `entry_as_json` values.

    Raises KeyError, TypeError, ValueError: not such values.
    """
    fields = {
        "user_id": value["userId"],
        "key": name_key(value["key"]),
        "value": value["value"],
        "event_time": parse_instant(value["eventTime"]),
        "created_at": parse_instant(value["createdAt"]),
        "conversation_id": value["conversationId"],
        "message_ids": tuple(value["messageIds"]),
        "subject": value["subject"],
        "ends": value["ends"],
        "replaces": value["replaces"],
        "unread": value.get("unread", False),
    }
    entry = _ENTRY.validate_python(fields)
    # The id takes all texts: it raises ValueError for a lone surrogate, which no file takes.
    _ = entry.id
    return entry
