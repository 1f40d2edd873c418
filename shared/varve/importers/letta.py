"""Letta's agent files (`.af`): agents with messages and memory blocks.

An agent file holds no archival passages. Blocks are notes without a time or a speaker;
they are counted and left out.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from varve.domain.conversation import SPOKEN
from varve.importers.items import (
    Draft,
    ImportOptions,
    Item,
    Skipped,
    Source,
    is_object,
    objects_in,
    read_time,
    text_of,
    text_of_parts,
)
from varve.importers.streams import read_members

FORMAT = "letta"


def recognize(first: Mapping[str, Any]) -> bool:
    """Return whether an object is an agent file, of one agent or several."""
    if isinstance(first.get("agents"), list):
        return True
    return "system" in first and (
        "core_memory" in first or "agent_type" in first
    )


def read(source: Source, options: ImportOptions) -> Iterator[Item]:
    """Yield a conversation for each agent that has messages."""
    lone: dict[str, Any] = {"messages": []}
    count = 0
    for key, value in read_members(source):
        if key == "agents" and is_object(value):
            yield from _read_agent(value, f"agents[{count}]", options)
            count += 1
        elif key in ("blocks", "core_memory"):
            yield Skipped(key, "memory block: a note, not a message")
        elif key == "messages":
            lone["messages"].append(value)
        elif key in ("name", "id"):
            lone[key] = value
    if lone["messages"]:
        yield from _read_agent(lone, "messages", options)


def _read_agent(
    agent: Mapping[str, Any], place: str, options: ImportOptions
) -> Iterator[Item]:
    name = text_of(agent.get("name")) or text_of(agent.get("id")) or place
    draft = Draft(FORMAT, name, place, options.user)
    for message in objects_in(agent.get("messages")):
        _add_message(draft, message, options)
    yield from draft.items()


def _add_message(
    draft: Draft, message: Mapping[str, Any], options: ImportOptions
) -> None:
    role = text_of(message.get("role"))
    if role not in SPOKEN:
        draft.skip_role(role)
        return
    at = read_time(message.get("created_at")) or options.at
    if at is None:
        draft.skip("message without a time: give one with --at")
        return
    draft.add(
        role,
        text_of_parts(message.get("content")) or text_of(message.get("text")),
        id_=text_of(message.get("id")) or f"m{len(draft.messages)}",
        at=at,
        name=text_of(message.get("name")),
    )
