"""ChatGPT's data export: `conversations.json`, a list of trees of messages.

Shape: the export as described by its readers (mapping of nodes, `current_node`).
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
    read_time,
    text_of,
)
from varve.importers.streams import read_objects

FORMAT = "chatgpt"
_WORDS = ("text", "multimodal_text")
"""Content types with words; code, browsing, thoughts and instructions are left out."""


def recognize(first: Mapping[str, Any]) -> bool:
    """Return whether an element is a conversation of this format."""
    return is_object(first.get("mapping"))


def read(source: Source, options: ImportOptions) -> Iterator[Item]:
    """Yield the conversations, each along the branch that ends at its current node."""
    for number, value in enumerate(read_objects(source)):
        place = f"[{number}]"
        if not is_object(value) or not is_object(value.get("mapping")):
            yield Skipped(place, "no conversation of this format")
            continue
        reason = _find_reason_to_skip(value)
        if reason:
            yield Skipped(place, reason)
            continue
        yield from _read_conversation(value, place, options).items()


def _find_reason_to_skip(value: Mapping[str, Any]) -> str | None:
    if value.get("is_do_not_remember"):
        return "marked as not to be remembered"
    scope = value.get("memory_scope")
    if scope not in (None, "", "global", "global_enabled"):
        return f"private memory scope {str(scope)[:40]!r}"
    return None


def _read_conversation(
    value: Mapping[str, Any], place: str, options: ImportOptions
) -> Draft:
    source_id = text_of(value.get("conversation_id")) or text_of(
        value.get("id")
    )
    draft = Draft(FORMAT, source_id or place, place, options.user)
    started = read_time(value.get("create_time")) or options.at
    for node in _walk_branch(value):
        message = node.get("message")
        if isinstance(message, Mapping):
            _add_message(draft, message, text_of(node.get("id")), started)
    return draft


def _walk_branch(value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the nodes from the root to the current one, by their parents' links.

    Without a current node the branch ends at the last node without children.
    """
    mapping: Mapping[str, Any] = value["mapping"]
    current = value.get("current_node") or _find_leaf(mapping)
    branch: list[Mapping[str, Any]] = []
    seen: set[str] = set()
    while isinstance(current, str) and current not in seen:
        seen.add(current)
        node = mapping.get(current)
        if not isinstance(node, Mapping):
            break
        branch.append(node)
        current = node.get("parent")
    return branch[::-1]


def _find_leaf(mapping: Mapping[str, Any]) -> str | None:
    leaves = [
        name
        for name, node in mapping.items()
        if isinstance(node, Mapping) and not node.get("children")
    ]
    return leaves[-1] if leaves else None


def _add_message(
    draft: Draft, message: Mapping[str, Any], node_id: str, started: Any
) -> None:
    role = _read_role(message)
    content = message.get("content")
    if role is None or not isinstance(content, Mapping) or _is_hidden(message):
        return
    kind = text_of(content.get("content_type"))
    if kind not in _WORDS:
        draft.skip_content(kind)
        return
    if role == "assistant" and message.get("recipient") not in (None, "all"):
        draft.skip("call of a tool")
        return
    draft.add(
        role,
        _read_parts(content.get("parts")),
        id_=text_of(message.get("id")) or node_id,
        at=read_time(message.get("create_time")) or started,
    )


def _read_role(message: Mapping[str, Any]) -> str | None:
    """Return user or assistant; None: a message of a tool or of the system."""
    author = message.get("author")
    role = text_of(author.get("role")) if isinstance(author, Mapping) else ""
    return role if role in SPOKEN else None


def _is_hidden(message: Mapping[str, Any]) -> bool:
    metadata = message.get("metadata")
    flags = metadata if isinstance(metadata, Mapping) else {}
    is_hidden = flags.get("is_visually_hidden_from_conversation")
    return bool(is_hidden) or message.get("weight") == 0


def _read_parts(parts: object) -> str:
    """Return the words of a message's parts; pictures are objects, transcripts too."""
    texts = []
    for part in parts if isinstance(parts, list) else []:
        if isinstance(part, str):
            texts.append(part)
        elif (
            is_object(part)
            and part.get("content_type") == "audio_transcription"
        ):
            texts.append(text_of(part.get("text")))
    return "\n".join(text for text in texts if text)
