"""What every importer yields, and how it builds conversations of the contract."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import IO, Any, TypeAlias

from varve.domain.calendar import iso, parse_instant
from varve.domain.conversation import MAX_MESSAGE_BYTES, MAX_MESSAGES
from varve.domain.errors import Rejected
from varve.domain.identity import digest, path_id, reference
from varve.domain.triple import Op

_MAX_SECONDS = 1e11
"""A greater number is a time in milliseconds; as seconds it would be in the year 5138."""


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """What a user may say about a file.

    `user` becomes the user id of every conversation. `at` is the time of messages that
    have none. `name` is the file's name without its folder and suffix.
    """

    name: str
    user: str | None = None
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class FoundConversation:
    """A conversation in the contract's shape, and its place in the file."""

    place: str
    value: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FoundFact:
    """A fact for the graph in the shape of `Graph.insert_facts`, and its place."""

    place: str
    op: Op
    value: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that is not imported, and the reason."""

    place: str
    reason: str


@dataclass(frozen=True, slots=True)
class Faulty:
    """Something that cannot be read, and the fault."""

    place: str
    reason: str


Item: TypeAlias = FoundConversation | FoundFact | Skipped | Faulty
Source: TypeAlias = IO[bytes]


@dataclass(slots=True)
class Draft:
    """A conversation of one source, message by message."""

    format: str
    source_id: str
    place: str
    user: str | None = None
    messages: list[dict[str, Any]] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)

    def add(
        self,
        role: str,
        text: str,
        *,
        id_: str,
        at: datetime | None,
        name: str | None = None,
    ) -> None:
        """Add a message; one without words or with more than 1 MB is skipped."""
        words = text.strip()
        if not words:
            return
        if len(words.encode(errors="replace")) > MAX_MESSAGE_BYTES:
            self.skip("message of more than 1 MB")
            return
        message: dict[str, Any] = {
            "role": role,
            "content": words,
            "id": to_reference(id_),
        }
        if at is not None:
            message["timestamp"] = iso(at)
        if name and name.isprintable():
            message["name"] = name[:200]
        self.messages.append(message)

    def skip(self, reason: str) -> None:
        """Note something of this conversation that is not imported."""
        self.skipped.append(Skipped(self.place, reason))

    def skip_role(self, role: str) -> None:
        """Note a message of a role that does not speak."""
        self.skip(f"role {role[:40] or 'missing'}")

    def skip_content(self, type_: str) -> None:
        """Note content of a type without words."""
        self.skip(f"content of type {type_[:40] or 'unknown'}")

    def skip_parts(self, content: object) -> None:
        """Note the parts of a message that are no text."""
        for part in objects_in(content):
            type_ = text_of(part.get("type"))
            if type_ != "text":
                self.skip_content(type_)

    def items(self) -> Iterator[Item]:
        """Yield the skipped parts, then the conversation by 10,000 messages."""
        yield from self.skipped
        if not self.messages:
            yield Skipped(self.place, "conversation without words")
        for start in range(0, len(self.messages), MAX_MESSAGES):
            part = start // MAX_MESSAGES + 1
            name = self.source_id if part == 1 else f"{self.source_id}.{part}"
            value: dict[str, Any] = {
                "conversationId": to_path_id(self.format, name),
                "messages": self.messages[start : start + MAX_MESSAGES],
            }
            if self.user is not None:
                value["userId"] = self.user
            yield FoundConversation(self.place, value)


def to_path_id(format_: str, source_id: str) -> str:
    """Return an id for a conversation: the source's with the format before it.

    An id that is no valid segment of a path is replaced by its hash.
    """
    named = f"{format_}-{source_id}"
    try:
        return path_id(named, "conversationId")
    except Rejected:
        return f"{format_}-{digest(source_id, length=32)}"


def to_reference(source_id: str) -> str:
    """Return an id for a message: the source's, or the hash of one that is not valid."""
    try:
        return reference(source_id, "id")
    except Rejected:
        return digest(source_id, length=32)


def read_time(value: object) -> datetime | None:
    """Return a time from ISO 8601 text or a number; None for anything else.

    A number counts the seconds since 1970, or the milliseconds if it is greater than
    10^11. It may be a text, as some exports write it. A text without a zone is in UTC.
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        return _read_number(float(value))
    except ValueError:
        pass
    try:
        return parse_instant(str(value).strip())
    except ValueError:
        return None


def _read_number(number: float) -> datetime | None:
    seconds = number / 1_000 if number > _MAX_SECONDS else number
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def is_object(value: object) -> bool:
    """Return whether a JSON value is an object."""
    return isinstance(value, Mapping)


def objects_in(value: object) -> list[Mapping[str, Any]]:
    """Return the objects of a JSON list; an empty list for any other value."""
    if not isinstance(value, list):
        return []
    return [one for one in value if isinstance(one, Mapping)]


def text_of(value: object) -> str:
    """Return a JSON text; an empty one for any other value."""
    return value if isinstance(value, str) else ""


def text_of_parts(content: object) -> str:
    """Return a chat message's words: its text, or the text parts of a list, by lines."""
    if isinstance(content, str):
        return content
    texts = []
    for part in objects_in(content):
        if part.get("type") in ("text", "input_text", "output_text"):
            texts.append(text_of(part.get("text")))
    return "\n".join(text for text in texts if text)
