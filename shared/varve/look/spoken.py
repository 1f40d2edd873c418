"""A message of the timeline as the pages show it: who spoke, when, and the words."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Spoken:
    """One message: its text parts joined, its speaker's name or role, and its time."""

    id: str
    role: str
    speaker: str
    text: str
    at: str


def read_spoken(line: Mapping[str, Any]) -> Spoken:
    """Return a line of the timeline, or a message of `show`, to show."""
    message = line.get("message", line)
    role = str(message.get("role") or "")
    return Spoken(
        id=str(message.get("id") or ""),
        role=role,
        speaker=str(message.get("name") or role),
        text=_read_text(message.get("content")),
        at=str(line["at"]),
    )


def _read_text(content: object) -> str:
    """Return a text as it is, and of content parts the texts, one a line."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = [part for part in content if isinstance(part, dict)]
    texts = [
        part["text"] for part in parts if isinstance(part.get("text"), str)
    ]
    return "\n".join(texts)
