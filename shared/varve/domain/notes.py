"""Notes: small versioned texts at paths in an agent's memory."""

import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from varve.domain.calendar import Grain, Period, iso, parse_instant
from varve.domain.damage import intact
from varve.domain.errors import Rejected
from varve.domain.identity import Scope, digest
from varve.domain.record import MemoryType, Record
from varve.domain.text import passages
from varve.domain.validation import valid_text

MAX_NOTE_BYTES = 100_000
"""The longest content, in bytes of UTF-8."""
MAX_VERSIONS = 10
"""Versions that a note keeps, the current one included."""
MAX_SEGMENTS = 20
MAX_STORED_PATH = 240
"""The longest path in the form that names its object; a file name may have 255 bytes."""
_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789-_")
_STORED = re.compile(r"!([a-z])|=([0-9a-f]{2})|(\+)|([a-z0-9_-])")
_EVERYONES = "all"
_UTC = ZoneInfo("UTC")


class NoteConflict(Rejected):
    """The note's current version is not the one that the caller expects.

    `current` is that version; None: there is no note. Read the note and decide again.
    """

    def __init__(self, path: str, current: str | None) -> None:
        found = "there is none" if current is None else f"it is at {current}"
        super().__init__("version", f"of note {path!r} has changed: {found}")
        self.current = current


@dataclass(frozen=True, slots=True)
class NoteVersion:
    """One version of a note; `number` counts from 1, and `at` is when it was written.

    `version` is a hash of the version before it and the content, so that the same put
    has the same version. `operation` is the id of the operation that wrote it, if any.
    """

    version: str
    number: int
    at: datetime
    content: str = field(repr=False)
    operation: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        values: dict[str, Any] = {
            "version": self.version,
            "number": self.number,
            "at": iso(self.at),
            "content": self.content,
        }
        if self.operation is not None:
            values["operation"] = self.operation
        return values


@dataclass(frozen=True, slots=True)
class Note:
    """A note with its last versions, the oldest first; without a user it is the agent's."""

    path: str
    user_id: str | None
    created_at: datetime
    kept: tuple[NoteVersion, ...] = field(repr=False)

    @property
    def current(self) -> NoteVersion:
        """The current version."""
        return self.kept[-1]

    @property
    def version(self) -> str:
        """The current version's name, for a conditional put or delete."""
        return self.current.version

    @property
    def content(self) -> str:
        """The current content."""
        return self.current.content

    @property
    def updated_at(self) -> datetime:
        """When the current version was written."""
        return self.current.at

    @property
    def size(self) -> int:
        """The bytes of the current content in UTF-8."""
        return len(self.content.encode())

    @property
    def id(self) -> str:
        """The id that the ids of the note's records begin with."""
        return note_id(self.path, self.user_id)

    def to_dict(self) -> dict[str, Any]:
        """Return the note at its current version as JSON values."""
        return {
            "path": self.path,
            "userId": self.user_id,
            "createdAt": iso(self.created_at),
            **self.current.to_dict(),
        }


def note_path(value: str, field: str = "path") -> str:
    """Return the path unchanged if it may name a note: `projects/lisbon.md`.

    Raises Rejected: not 1 to 20 segments, not in Unicode's NFC, or too long. A segment
    must not be empty or hold `..`, a backslash or characters that cannot be printed. No
    white space may begin or end it.
    """
    if not isinstance(value, str) or not value:
        raise Rejected(field, "must be a path such as 'projects/lisbon.md'")
    valid_text(value, field)
    segments = value.split("/")
    if len(segments) > MAX_SEGMENTS:
        raise Rejected(field, f"has more than {MAX_SEGMENTS} segments")
    if not all(map(_is_segment, segments)) or ".." in value:
        raise Rejected(
            field,
            "has a forbidden segment: empty, '.', or with '..', a backslash, a "
            "control character or outer white space",
        )
    if unicodedata.normalize("NFC", value) != value:
        raise Rejected(field, "must be in Unicode's normal form NFC")
    if len(_encode(value)) > MAX_STORED_PATH:
        raise Rejected(
            field,
            f"is longer than {MAX_STORED_PATH}; a capital letter counts 2, any "
            "character but a-z, 0-9, '-', '_' and '/' counts 3 a byte",
        )
    return value


def note_content(value: str) -> str:
    """Return the content unchanged. Raises Rejected: no text, or too long."""
    if not isinstance(value, str):
        raise Rejected("content", "must be a text")
    size = len(valid_text(value, "content").encode())
    if size > MAX_NOTE_BYTES:
        raise Rejected(
            "content", f"has {size:,} bytes; the limit is {MAX_NOTE_BYTES:,}"
        )
    return value


def note_folder(scope: Scope, user_id: str | None) -> str:
    """Return the prefix of the keys of a user's notes, or of the agent's own."""
    if user_id is None:
        return f"notes/{scope}/{_EVERYONES}"
    return f"notes/{scope}/user-{digest(user_id, length=32)}"


def note_key(scope: Scope, path: str, user_id: str | None) -> str:
    """Return the key of a note's object. The path must be valid (`note_path`)."""
    return f"{note_folder(scope, user_id)}/{_encode(path)}.json"


def is_note_key(key: str) -> bool:
    """Return whether the key is of a note's object, not of a journal of operations."""
    return not key.rpartition("/")[2].startswith(".")


def path_of(key: str) -> str:
    """Return the path of the note that the key is of. Raises Damaged: it is of none."""
    name = key.rpartition("/")[2].removesuffix(".json")
    with intact(key):
        return _decode(name)


def note_id(path: str, user_id: str | None) -> str:
    """Return the id that the ids of a note's records begin with."""
    owner = "" if user_id is None else f"user:{user_id}"
    return "note-" + digest(owner, path, length=24)


def next_version(
    before: Note | None,
    content: str,
    at: datetime,
    path: str,
    user_id: str | None,
) -> Note:
    """Return the note with one more version, without those over the limit."""
    if before is None:
        first = NoteVersion(version_name("", content), 1, at, content)
        return Note(path, user_id, at, (first,))
    last = before.current
    name = version_name(last.version, content)
    new = NoteVersion(name, last.number + 1, max(at, last.at), content)
    kept = (*before.kept, new)[-MAX_VERSIONS:]
    return Note(path, user_id, before.created_at, kept)


def version_name(before: str, content: str, *mark: str) -> str:
    """Return the name of the version with this content that follows `before`.

    A mark, such as an operation's id, tells it from the same content after `before`.
    """
    return digest(before, content, *mark, length=16)


def mark_version(note: Note, mark: str, operation: str | None) -> Note:
    """Return the note with a current version that no other writer can have made."""
    before = note.kept[-2].version if len(note.kept) > 1 else ""
    name = version_name(before, note.content, mark)
    marked = replace(note.current, version=name, operation=operation)
    return replace(note, kept=(*note.kept[:-1], marked))


def encode_note(note: Note) -> bytes:
    """Return the note's object, as JSON."""
    return json.dumps(note_as_json(note), ensure_ascii=False).encode()


def decode_note(key: str, data: bytes) -> Note:
    """Return the note of an object's bytes. Raises Damaged: names the key."""
    with intact(key):
        return note_from_json(json.loads(data))


def note_as_json(note: Note) -> dict[str, Any]:
    """Return the note with all its versions as JSON values."""
    return {
        "path": note.path,
        "userId": note.user_id,
        "createdAt": iso(note.created_at),
        "versions": [one.to_dict() for one in note.kept],
    }


def note_from_json(value: dict[str, Any]) -> Note:
    """Return the note of JSON values. Raises KeyError, TypeError, ValueError."""
    kept: list[NoteVersion] = []
    for one in value["versions"]:
        at = parse_instant(one["at"])
        kept.append(
            NoteVersion(
                one["version"],
                one["number"],
                at,
                one["content"],
                one.get("operation"),
            )
        )
    if not kept:
        raise ValueError("a note has a version")
    created = parse_instant(value["createdAt"])
    return Note(value["path"], value["userId"], created, tuple(kept))


def note_records(note: Note) -> list[Record]:
    """Return the records of the current version, one for each passage.

    Each begins with the path, and names it as its source.
    """
    at = note.updated_at
    period = Period.of(at, Grain.YEARLY, _UTC).label
    records: list[Record] = []
    for number, passage in enumerate(passages(note.content)):
        records.append(
            Record(
                id=note_record_id(note.id, number),
                memory_type=MemoryType.NOTE,
                content=f"{note.path}: {passage}",
                period=period,
                event_time=at,
                created_at=at,
                source_ids=(note.path,),
                user_id=note.user_id,
            )
        )
    return records


def note_record_id(id_: str, number: int) -> str:
    """Return the id of a note's record; passages count from 0."""
    return f"{id_}-{number}"


def version_keys(
    note: Note, version: NoteVersion
) -> Iterator[tuple[str, str]]:
    """Yield the tombstones' keys of a version's records; of an empty one, of the first.

    A later version of the same note has the same ids and another time.
    """
    for number in range(max(1, count_records(version))):
        yield (note_record_id(note.id, number), iso(version.at))


def count_records(version: NoteVersion) -> int:
    """Return how many records a version has."""
    return sum(1 for _ in passages(version.content))


def _is_segment(text: str) -> bool:
    if text in ("", ".") or text.strip() != text or "\\" in text:
        return False
    return text.isprintable()


def _encode(path: str) -> str:
    """Return the path in ASCII without capitals, which every file system tells apart."""
    return "".join(_encode_bytes(path.encode()))


def _encode_bytes(data: bytes) -> Iterator[str]:
    for byte in data:
        letter = chr(byte)
        if byte in _PLAIN:
            yield letter
        elif letter == "/":
            yield "+"
        elif "A" <= letter <= "Z":
            yield f"!{letter.lower()}"
        else:
            yield f"={byte:02x}"


def _decode(name: str) -> str:
    data = bytearray()
    at = 0
    while at < len(name):
        found = _STORED.match(name, at)
        if found is None:
            raise ValueError("is not a note's name")
        capital, code, slash, plain = found.groups()
        if code:
            data.append(int(code, 16))
        else:
            data += (capital or "").upper().encode()
            data += b"/" if slash else (plain or "").encode()
        at = found.end()
    return data.decode()
