"""A user's profile: stable attributes, folded from statements in the order of the times they speak of.

The fold is a function of the set of statements alone, as that of the triples is: late, repeated and
shuffled deliveries lead to the same profile, and every statement is kept as history.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from pydantic import TypeAdapter

from varve.domain.calendar import iso, parse_instant
from varve.domain.errors import Rejected
from varve.domain.extraction import Utterance
from varve.domain.identity import digest
from varve.domain.names import meant, normalized
from varve.domain.triple import Op, TripleOperation

DEFAULT_USER = "default"
"""Whose profile it is where neither conversation nor message names a user."""

KNOWN_KEYS = (
    "name", "preferred_name", "pronouns", "language", "time_zone", "location", "role", "employer",
    "birthday", "diet", "allergies", "languages", "preferences",
)  # fmt: skip
"""The attributes that conversations fill, in the order in which a profile lists them."""

LISTS = frozenset({"allergies", "languages", "preferences"})
"""Those that have several values at once; of every other key the newest value stands."""

KEY_OF_PREDICATE = {
    "name": "name", "full_name": "name", "goes_by": "preferred_name", "pronouns": "pronouns",
    "language": "language", "time_zone": "time_zone", "lives_in": "location", "works_as": "role",
    "works_at": "employer", "birthday": "birthday", "diet": "diet", "allergic_to": "allergies",
    "speaks": "languages", "prefers": "preferences",
}  # fmt: skip
"""Which triples about a speaker are also attributes. Contact data and mere likes are not: a profile goes
before every prompt."""

MAX_VALUE_CHARACTERS = 300
_KEY = re.compile(r"[a-z][a-z0-9_]{0,39}")


@dataclass(frozen=True)
class ProfileEntry:
    """One statement about one attribute, with where it was said.

    `event_time` is when it began (or ceased) to hold, `created_at` when we learnt it. With `ends` the
    value holds no longer, or with an empty one no value does. `replaces` names the value of a list
    that it takes the place of. `subject` is the user's name in the conversation. What was set by hand
    has no conversation.
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

    @cached_property
    def id(self) -> str:
        """The same statement of the same messages has the same id, whenever it arrives."""
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
        )
        return "profile-" + digest(*said, *place, length=24)


_ENTRY = TypeAdapter(ProfileEntry)


def profile_key(key: str) -> str:
    """The key itself. Raises Rejected: not a lower-case name of letters, digits and underscores."""
    if not _KEY.fullmatch(key):
        raise Rejected(
            "key",
            f"{key[:40]!r} is not one of {', '.join(KNOWN_KEYS)}, nor of the form [a-z][a-z0-9_]{{0,39}}",
        )
    return key


def profile_value(value: str) -> str:
    """The value on one line. Raises Rejected: too long, or characters that cannot be printed."""
    if not isinstance(value, str):
        raise Rejected("value", "must be a string")
    line = " ".join(value.split())
    if len(line) > MAX_VALUE_CHARACTERS or not line.isprintable():
        raise Rejected(
            "value", f"must be at most {MAX_VALUE_CHARACTERS} printable characters"
        )
    return line


def stated(
    operations: Iterable[TripleOperation], utterances: Sequence[Utterance]
) -> list[ProfileEntry]:
    """What users say of themselves: operations on triples about the very speaker of a message they cite."""
    entries: dict[str, ProfileEntry] = {}
    for operation in operations:
        key = KEY_OF_PREDICATE.get(operation.predicate)
        speaker = _speaker(operation, utterances)
        value = " ".join(operation.object.split())
        if (
            key
            and speaker
            and len(value) <= MAX_VALUE_CHARACTERS
            and value.isprintable()
        ):
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


def _speaker(
    operation: TripleOperation, utterances: Sequence[Utterance]
) -> Utterance | None:
    name = normalized(operation.subject)
    own = (
        u
        for u in utterances
        if u.role == "user" and u.message_id in operation.message_ids
    )
    return next(
        (utterance for utterance in own if normalized(utterance.speaker) == name), None
    )


def merged(*accounts: Iterable[ProfileEntry]) -> dict[str, ProfileEntry]:
    """All statements by id; of two accounts of one statement the one that was learnt first."""
    entries: dict[str, ProfileEntry] = {}
    for entry in (entry for account in accounts for entry in account):
        known = entries.setdefault(entry.id, entry)
        if known != entry:
            entries[entry.id] = min(known, entry, key=_learnt)
    return entries


def _learnt(entry: ProfileEntry) -> tuple[datetime, str]:
    return (entry.created_at, json.dumps(entry_as_json(entry)))


def in_order(entries: Iterable[ProfileEntry]) -> list[ProfileEntry]:
    """By the time spoken of; at one instant endings come first, then by id so that ties are stable."""
    return sorted(
        entries, key=lambda entry: (entry.event_time, not entry.ends, entry.id)
    )


def standing(entries: Iterable[ProfileEntry], now: datetime) -> list[ProfileEntry]:
    """The statements that hold at the time, those of the known keys first.

    Of a value that was stated several times it is the statement that it has held since.
    """
    held: dict[str, dict[str, ProfileEntry]] = {}
    for entry in in_order(merged(entries).values()):
        if entry.event_time <= now:
            _apply(held.setdefault(entry.key, {}), entry)
    keys = [
        *(key for key in KNOWN_KEYS if key in held),
        *sorted(held.keys() - set(KNOWN_KEYS)),
    ]
    return [entry for key in keys for entry in held[key].values()]


def _apply(held: dict[str, ProfileEntry], entry: ProfileEntry) -> None:
    """Change one attribute's values, by their normalized form, as the statement says."""
    value = normalized(entry.value)
    if entry.ends:
        ended = (
            list(held)
            if not entry.value
            else [value]
            if entry.key in LISTS
            else meant(value, held)
        )
        for other in ended:
            held.pop(other, None)
        return
    if entry.key not in LISTS:
        for other in [other for other in held if other != value]:
            del held[other]
    elif normalized(entry.replaces) != value:
        held.pop(normalized(entry.replaces), None)
    held.setdefault(value, entry)


def entry_as_json(entry: ProfileEntry) -> dict[str, Any]:
    """The statement as plain JSON values, times in ISO 8601; the inverse of `entry_from_json`."""
    return {
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


def entry_from_json(value: Mapping[str, Any]) -> ProfileEntry:
    """A statement from the values of `entry_as_json`. Raises KeyError, TypeError, ValueError: not such."""
    fields = {
        "user_id": value["userId"],
        "key": value["key"],
        "value": value["value"],
        "event_time": parse_instant(value["eventTime"]),
        "created_at": parse_instant(value["createdAt"]),
        "conversation_id": value["conversationId"],
        "message_ids": tuple(value["messageIds"]),
        "subject": value["subject"],
        "ends": value["ends"],
        "replaces": value["replaces"],
    }
    return _ENTRY.validate_python(fields)
