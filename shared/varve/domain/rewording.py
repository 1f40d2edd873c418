"""Conversations whose words a privacy filter has changed."""

from collections.abc import Callable, Container, Mapping
from functools import partial
from typing import Any

from varve.domain.conversation import (
    MAX_LABEL_CHARACTERS,
    Conversation,
    Message,
    content_key,
    refuse_repeats,
)
from varve.domain.metadata import MAX_VALUE_CHARACTERS


def reword(
    conversation: Conversation, change: Callable[[int | None, object], object]
) -> Conversation:
    """Return the conversation with contents, states and unknown fields changed.

    `change` takes the place of a message, or None for fields of the conversation, and a
    JSON value; it returns a JSON value. Given ids, names and times stay. An id that is
    a hash of a message's words is made again from the changed words. Otherwise an
    attacker could find a removed telephone number by hashing guesses.
    """
    extra = _changed_values(conversation.extra, partial(change, None))
    extra |= _changed_metadata(conversation.metadata, partial(change, None))
    messages = []
    for index, message in enumerate(conversation.messages):
        messages.append(_reword_message(message, partial(change, index)))
    if messages == conversation.messages:
        return conversation.model_copy(update=extra) if extra else conversation
    taken: set[str] = set()
    for index, before in enumerate(conversation.messages):
        if _has_made_id(before, conversation.conversation_id):
            messages[index] = _with_new_id(
                messages[index], conversation.conversation_id, taken
            )
        taken.add(str(messages[index].id))
    refuse_repeats(messages)
    return conversation.model_copy(update={**extra, "messages": messages})


def _reword_message(
    message: Message, change: Callable[[object], object]
) -> Message:
    values = {
        "content": message.content,
        "state": message.state,
        **message.extra,
    }
    changed = _changed_values(values, change)
    changed |= _changed_metadata(message.metadata, change)
    if isinstance(state := changed.get("state"), str):
        # A placeholder may be longer than its value, and the label is checked again.
        changed["state"] = state[:MAX_LABEL_CHARACTERS]
    return message.model_copy(update=changed) if changed else message


def _with_new_id(
    message: Message, conversation_id: str, taken: Container[str]
) -> Message:
    """Return the message with an id made from its words.

    It keeps its number unless that id is taken.
    """
    key = content_key(conversation_id, message)
    number = int(str(message.id).rpartition("-")[2])
    while f"{key}-{number}" in taken:
        number += 1
    return message.model_copy(update={"id": f"{key}-{number}"})


def _changed_metadata(
    metadata: Mapping[str, Any] | None, change: Callable[[object], object]
) -> dict[str, object]:
    """Return the metadata with changed values, if there is any; names stay.

    A placeholder may be longer than its value, and the length is checked again.
    """
    changed = _changed_values(metadata or {}, change)
    if not changed:
        return {}
    for name, value in changed.items():
        changed[name] = str(value)[:MAX_VALUE_CHARACTERS]
    return {"metadata": {**(metadata or {}), **changed}}


def _changed_values(
    values: Mapping[str, Any], change: Callable[[object], object]
) -> dict[str, object]:
    """Return the values that `change` makes different."""
    changed = {}
    for name, before in values.items():
        after = change(before)
        if after != before:
            changed[name] = after
    return changed


def _has_made_id(message: Message, conversation_id: str) -> bool:
    """Return whether the message's id was made from its words."""
    key, _, number = str(message.id).rpartition("-")
    return number.isdecimal() and key == content_key(conversation_id, message)
