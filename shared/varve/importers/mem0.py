"""mem0's memories: the result of `get_all()`, or a list of memories.

A memory is a sentence without its source. It becomes a message of its user, with the
memory's id and time; the memories of one user and agent form a conversation.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from varve.domain.conversation import SPOKEN
from varve.importers.items import (
    Draft,
    Faulty,
    ImportOptions,
    Item,
    Skipped,
    Source,
    is_object,
    objects_in,
    read_time,
    text_of,
)
from varve.importers.streams import is_list, read_members, read_objects

FORMAT = "mem0"


def recognize(first: Mapping[str, Any]) -> bool:
    """Return whether an element is a memory, or a file with `results` of memories."""
    memories = objects_in(first.get("results"))
    return "memory" in (memories[0] if memories else first)


def read(source: Source, options: ImportOptions) -> Iterator[Item]:
    """Yield a conversation for each user and agent, its memories in the file's order."""
    drafts: dict[str, Draft] = {}
    for number, memory in enumerate(_read_memories(source)):
        place = f"results[{number}]"
        if not is_object(memory) or not text_of(memory.get("memory")):
            yield Faulty(place, "has no text under 'memory'")
            continue
        at = _read_memory_time(memory) or options.at
        if at is None:
            yield Skipped(place, "memory without a time: give one with --at")
            continue
        draft = _find_draft(drafts, memory, place, options)
        role = text_of(memory.get("role"))
        draft.add(
            role if role in SPOKEN else "user",
            text_of(memory["memory"]),
            id_=text_of(memory.get("id"))
            or text_of(memory.get("hash"))
            or place,
            at=at,
            name=text_of(memory.get("actor_id")),
        )
    for draft in drafts.values():
        yield from draft.items()


def _read_memories(source: Source) -> Iterator[Any]:
    if is_list(source):
        yield from read_objects(source)
        return
    for key, value in read_members(source):
        if key == "results":
            yield value


def _read_memory_time(memory: Mapping[str, Any]) -> Any:
    """Return when it happened, if its metadata says so, else when it was written."""
    metadata = memory.get("metadata")
    if isinstance(metadata, Mapping):
        for name in ("event_date", "date", "timestamp"):
            at = read_time(metadata.get(name))
            if at is not None:
                return at
    return read_time(memory.get("created_at"))


def _find_draft(
    drafts: dict[str, Draft],
    memory: Mapping[str, Any],
    place: str,
    options: ImportOptions,
) -> Draft:
    user = options.user or text_of(memory.get("user_id")) or None
    agent = text_of(memory.get("agent_id")) or text_of(memory.get("run_id"))
    name = f"{user or 'nouser'}.{agent or 'noagent'}"
    if name not in drafts:
        drafts[name] = Draft(FORMAT, name, place, user)
    return drafts[name]
