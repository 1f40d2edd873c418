"""Claude's data export: `conversations.json`, a list with `chat_messages`."""

from collections.abc import Iterator, Mapping
from typing import Any

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
from varve.importers.streams import read_objects

FORMAT = "claude"
_ROLES = {"human": "user", "assistant": "assistant"}


def recognize(first: Mapping[str, Any]) -> bool:
    """Return whether an element is a conversation of this format."""
    return isinstance(first.get("chat_messages"), list)


def read(source: Source, options: ImportOptions) -> Iterator[Item]:
    """Yield the conversations; where messages branch, the newest branch."""
    for number, value in enumerate(read_objects(source)):
        place = f"[{number}]"
        if not is_object(value) or "chat_messages" not in value:
            yield Skipped(place, "no conversation of this format")
            continue
        draft = Draft(
            FORMAT, text_of(value.get("uuid")) or place, place, options.user
        )
        started = read_time(value.get("created_at")) or options.at
        for message in _select_branch(objects_in(value["chat_messages"])):
            _add_message(draft, message, started)
        yield from draft.items()


def _select_branch(
    messages: list[Mapping[str, Any]],
) -> list[Mapping[str, Any]]:
    """Return the messages on the way to the last one, if they name their parents."""
    by_id = {text_of(message.get("uuid")): message for message in messages}
    if not messages or not any(
        _parent(message) in by_id for message in messages
    ):
        return messages
    branch = []
    current: str = text_of(messages[-1].get("uuid"))
    while current in by_id:
        message = by_id.pop(current)
        branch.append(message)
        current = _parent(message)
    return branch[::-1]


def _parent(message: Mapping[str, Any]) -> str:
    return text_of(message.get("parent_message_uuid"))


def _add_message(
    draft: Draft, message: Mapping[str, Any], started: Any
) -> None:
    role = _ROLES.get(text_of(message.get("sender")))
    if role is None:
        draft.skip("sender that is neither human nor assistant")
        return
    blocks = objects_in(message.get("content"))
    draft.skip_parts(blocks)
    # `text` may hold placeholders for blocks, so the blocks come first.
    text = text_of_parts(blocks) if blocks else text_of(message.get("text"))
    draft.add(
        role,
        text,
        id_=text_of(message.get("uuid")) or f"m{len(draft.messages)}",
        at=read_time(message.get("created_at")) or started,
    )
