"""The formats by name, and how the format of a file is recognized."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from varve.domain.errors import Rejected
from varve.importers import (
    agentcore,
    chatgpt,
    chats,
    claude,
    claude_code,
    contract,
    graphiti,
    letta,
    markdown,
    mem0,
    whatsapp,
)
from varve.importers.items import ImportOptions, Item, Source
from varve.importers.names import AUTO, NAMES
from varve.importers.streams import SPACE, read_first_object, read_head

Read = Callable[[Source, ImportOptions], Iterator[Item]]
Recognize = Callable[[Mapping[str, Any]], bool]


@dataclass(frozen=True, slots=True)
class Format:
    """A format: its name, its reader, and what its first JSON object looks like."""

    name: str
    read: Read
    sign: str
    recognize: Recognize | None = None


FORMATS: tuple[Format, ...] = (
    Format(
        contract.FORMAT, contract.read, "conversationId", contract.recognize
    ),
    Format(chatgpt.FORMAT, chatgpt.read, "mapping", chatgpt.recognize),
    Format(claude.FORMAT, claude.read, "chat_messages", claude.recognize),
    Format(
        claude_code.FORMAT,
        claude_code.read,
        "sessionId",
        claude_code.recognize,
    ),
    Format(mem0.FORMAT, mem0.read, "memory", mem0.recognize),
    Format(letta.FORMAT, letta.read, "agents", letta.recognize),
    Format(graphiti.FORMAT, graphiti.read, "edges", graphiti.recognize),
    Format(agentcore.FORMAT, agentcore.read, "events", agentcore.recognize),
    Format(
        chats.LINES,
        chats.read_all,
        "messages, by lines",
        chats.recognize_lines,
    ),
    Format(chats.ONE, chats.read_one, "role and content", chats.recognize_one),
    Format(whatsapp.FORMAT, whatsapp.read, "lines of date, time and speaker"),
    Format(markdown.FORMAT, markdown.read, "headings with dates"),
)
"""Every format, in the order in which they are tried."""


def find_format(name: str, source: Source) -> Format:
    """Return the format of this name, or with `auto` the one that the file has.

    Raises Rejected: there is no such format, or the file looks like none.
    """
    if name == AUTO:
        return recognize_format(source)
    return find_by_name(name)


def find_by_name(name: str) -> Format:
    """Return the format of this name. Raises Rejected: there is none."""
    for one in FORMATS:
        if one.name == name:
            return one
    raise Rejected(
        "--format", f"{name[:40]!r} is not one of {', '.join(NAMES)}"
    )


def recognize_format(source: Source) -> Format:
    """Return the format that the beginning of a file looks like.

    JSON that looks like none counts as the contract's, whose errors name the faulty
    field. Raises Rejected: a text looks like none; the reason lists the signs of each.
    """
    head = read_head(source)
    first = read_first_object(source)
    if first is not None:
        return _recognize_object(first, head)
    text = head.decode("utf-8", "replace")
    if whatsapp.recognize_text(text):
        return find_by_name(whatsapp.FORMAT)
    if markdown.recognize_text(text):
        return find_by_name(markdown.FORMAT)
    if head.lstrip(SPACE)[:1] in (b"{", b"[", b"") or _is_json(head):
        return FORMATS[0]
    signs = "; ".join(f"{one.name}: {one.sign}" for one in FORMATS)
    raise Rejected(
        "", f"looks like no known format ({signs}); name one by --format"
    )


def _recognize_object(first: Mapping[str, Any], head: bytes) -> Format:
    for one in FORMATS:
        if one.recognize is not None and one.recognize(first):
            is_one = one.name == chats.LINES and not _begins_with_a_line(head)
            return find_by_name(chats.ONE) if is_one else one
    return FORMATS[0]


def _begins_with_a_line(head: bytes) -> bool:
    """Return whether the first line of a file is a whole JSON value."""
    return _is_json(head.lstrip(SPACE).partition(b"\n")[0])


def _is_json(text: bytes) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
