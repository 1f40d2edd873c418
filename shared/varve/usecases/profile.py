"""Profiles: read a user's attributes, and set one by hand."""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from varve.domain.calendar import iso
from varve.domain.current_profile import select_current_entries
from varve.domain.errors import Rejected
from varve.domain.identity import reference
from varve.domain.names import normalized
from varve.domain.profile import (
    DEFAULT_USER,
    ProfileEntry,
    drop_unasked,
    find_speakers,
    name_speaker,
    profile_key,
    profile_value,
    sort_entries,
)
from varve.domain.profile_lists import split_values
from varve.domain.statements.texts.telling import EndedMessage
from varve.domain.validation import valid_text
from varve.messages.write import WriteProfile, send_profile
from varve.ports.meter import doing
from varve.usecases.corrections.corrected_messages import (
    Tell,
    correct_messages,
)
from varve.usecases.corrections.graph_values import find_graph_values
from varve.usecases.corrections.replaced import end_triples, tell_entry
from varve.usecases.session import Session

MAX_KEYS = 100
"""Attributes that a profile may have when another is set by hand."""


@doing("profile")
def read_profile(
    session: Session, user_id: str | None = None
) -> dict[str, Any]:
    """Return a user's attributes that hold now and every statement, as JSON values.

    Without an id: those of messages without a user. An attribute of one of several
    speakers has their `name`. Raises Rejected: invalid user id.
    """
    user = _user(user_id)
    entries = drop_unasked(session.profiles.entries(session.scope, user))
    held = select_current_entries(entries, session.now)
    speakers = find_speakers(entries)
    return {
        "workspaceId": session.scope.workspace,
        "agentId": session.scope.agent,
        "userId": user,
        "attributes": [
            _name(entry, speakers) | _as_json(entry) for entry in held
        ],
        "history": [_as_json(entry) for entry in sort_entries(entries)],
    }


@doing("profile")
def set_attribute(
    session: Session, key: str, value: str, user_id: str | None = None
) -> None:
    """Send an attribute to the writer; an empty value ends every value it has.

    A list (allergies, languages, preferences) gains each value of the line. The
    workspace's filter applies to the line. Raises Rejected: names the field; Retryable.
    """
    user = _user(user_id)
    key = profile_key(valid_text(key, "key"))
    line = profile_value(session.privacy(profile_value(value)))
    now = session.now
    set_by_hand = [
        ProfileEntry(user, key, one, now, now, ends=not line)
        for one in split_values(key, line)
    ]
    entries = session.profiles.entries(session.scope, user)
    known = {one.key for one in entries}
    if len(known | {key}) > MAX_KEYS:
        raise Rejected(
            "key", f"is one more than the {MAX_KEYS} that a profile may have"
        )
    message = WriteProfile(session.scope, user, tuple(set_by_hand))
    send_profile(message, queue=session.queues.write, objects=session.objects)
    # Only a single value or an end replaces what messages told.
    entry = set_by_hand[0]
    replaced = _find_replaced(entry, entries, now)
    replaced += find_graph_values(session, entry, entries)
    tell = partial(tell_entry, entry)
    made = correct_messages(session, ((one, tell) for one in replaced))
    end_triples(session, made)
    correct_messages(session, _list_denied(set_by_hand, entries))


def _list_denied(
    set_by_hand: Sequence[ProfileEntry], entries: Sequence[ProfileEntry]
) -> Iterator[tuple[EndedMessage, Tell]]:
    """Yield the messages that say last that a value no longer holds, with what tells it.

    "I'm no longer allergic to soy" is corrected by the allergy that is set by hand.
    """
    for entry in set_by_hand:
        said = [one for one in entries if _has_value(one, entry)]
        last = max(said, key=lambda one: one.event_time, default=entry)
        if last.ends and last.value and last.conversation_id is not None:
            for message in _list_messages(last):
                yield message, partial(tell_entry, entry)


def _has_value(one: ProfileEntry, other: ProfileEntry) -> bool:
    is_same = normalized(one.value) == normalized(other.value)
    return is_same and one.key == other.key


def _find_replaced(
    entry: ProfileEntry, entries: Sequence[ProfileEntry], now: datetime
) -> list[EndedMessage]:
    """Return the messages whose values of the attribute the entry ends."""
    before = select_current_entries(entries, now)
    after = {one.id for one in select_current_entries([*entries, entry], now)}
    found: list[EndedMessage] = []
    for one in before:
        if one.key != entry.key or one.id in after:
            continue
        # Each telling since the value holds; set by hand, it is told by corrections.
        for told in entries:
            if told.conversation_id is not None and _tells_again(told, one):
                found += _list_messages(told)
    return found


def _tells_again(told: ProfileEntry, held: ProfileEntry) -> bool:
    """Return whether an entry states a value that holds, since that does."""
    # What is set by hand has no subject.
    is_same = told.key == held.key and held.subject in ("", told.subject)
    is_later = told.event_time >= held.event_time and not told.ends
    return (
        is_same
        and is_later
        and normalized(told.value) == normalized(held.value)
    )


def _list_messages(entry: ProfileEntry) -> list[EndedMessage]:
    """Return the messages that state an entry."""
    user = None if entry.user_id == DEFAULT_USER else entry.user_id
    conversation = entry.conversation_id or ""
    return [
        EndedMessage(
            conversation,
            id_,
            user,
            entry.subject or None,
            entry.value,
            entry.key,
        )
        for id_ in entry.message_ids
    ]


def _user(user_id: str | None) -> str:
    return DEFAULT_USER if user_id is None else reference(user_id, "userId")


def _name(entry: ProfileEntry, speakers: Collection[str]) -> dict[str, Any]:
    """Return which of several speakers an attribute is of."""
    return {"name": entry.subject} if name_speaker(entry, speakers) else {}


def _as_json(entry: ProfileEntry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "key": entry.key,
        "value": entry.value,
        "ends": entry.ends,
        "since": iso(entry.event_time),
        "learntAt": iso(entry.created_at),
        "conversationId": entry.conversation_id,
        "messageIds": list(entry.message_ids),
    }
