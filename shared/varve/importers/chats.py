"""Chat messages as OpenAI's API takes them: one conversation, or one on each line.

They have neither ids nor times. The time comes from the caller; ids are hashes of the
conversation's words, so that the same file adds nothing twice.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from varve.domain.conversation import SPOKEN
from varve.domain.identity import digest
from varve.importers.items import (
    Draft,
    Faulty,
    ImportOptions,
    Item,
    Skipped,
    Source,
    objects_in,
    read_time,
    text_of,
    text_of_parts,
)
from varve.importers.streams import read_lines, read_whole

ONE = "openai"
LINES = "jsonl"
_UNTIMED = "messages without a time: give one with --at"


def recognize_one(first: Mapping[str, Any]) -> bool:
    """Return whether an element is a chat message."""
    return "role" in first and "content" in first


def recognize_lines(first: Mapping[str, Any]) -> bool:
    """Return whether a line is a list of chat messages without a conversation's id."""
    messages = objects_in(first.get("messages"))
    return (
        bool(messages)
        and "role" in messages[0]
        and "conversationId" not in first
    )


def read_one(source: Source, options: ImportOptions) -> Iterator[Item]:
    """Yield a file's conversation: messages, one message, or an object that has a list."""
    value = read_whole(source)
    messages = value
    if isinstance(value, Mapping):
        messages = value.get("messages", [value])
    yield from _read_messages(ONE, objects_in(messages), "messages", options)


def read_all(source: Source, options: ImportOptions) -> Iterator[Item]:
    """Yield the conversation of each line."""
    for number, value in read_lines(source):
        if isinstance(value, Faulty):
            yield value
            continue
        place = f"line {number}"
        messages = (
            value.get("messages") if isinstance(value, Mapping) else value
        )
        if not isinstance(messages, list):
            yield Faulty(place, "has no list of messages")
            continue
        yield from _read_messages(LINES, objects_in(messages), place, options)


def _read_messages(
    format_: str,
    messages: list[Mapping[str, Any]],
    place: str,
    options: ImportOptions,
) -> Iterator[Item]:
    words = json.dumps(messages, sort_keys=True, ensure_ascii=True)
    draft = Draft(format_, digest(words, length=32), place, options.user)
    untimed: list[Skipped] = []
    for number, message in enumerate(messages):
        role = text_of(message.get("role"))
        if role not in SPOKEN:
            draft.skip_role(role)
            continue
        at = read_time(message.get("timestamp")) or options.at
        if at is None:
            untimed.append(Skipped(place, _UNTIMED))
            continue
        draft.add(
            role,
            text_of_parts(message.get("content")),
            id_=text_of(message.get("id")) or f"m{number + 1}",
            at=at,
            name=text_of(message.get("name")),
        )
    yield from untimed
    yield from (
        draft.items() if draft.messages or not untimed else draft.skipped
    )
