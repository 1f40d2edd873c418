"""Notes in an export: a line for each note with all its versions."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from varve.domain.erasure import Tombstones
from varve.domain.errors import Rejected
from varve.domain.identity import Scope, reference
from varve.domain.notes import (
    MAX_VERSIONS,
    Note,
    NoteVersion,
    encode_note,
    note_as_json,
    note_content,
    note_from_json,
    note_key,
    note_path,
)
from varve.ports.objects import Objects
from varve.usecases.notes import index_notes, read_all_notes, read_note
from varve.usecases.session import Session

NOTES = "notes"
"""The name of the file."""
_VERSION = re.compile(r"[0-9a-f]{16}")


def list_note_lines(
    scope: Scope, *, objects: Objects
) -> Iterator[dict[str, Any]]:
    """Yield the export's line of each note. Raises Damaged, Retryable."""
    return map(note_as_json, read_all_notes(scope, objects=objects))


def parse_note(value: dict[str, Any]) -> Note:
    """Return the note of a line.

    Raises Rejected: names the field; KeyError, TypeError, ValueError.
    """
    note = note_from_json(value)
    note_path(note.path)
    if note.user_id is not None:
        reference(note.user_id, "userId")
    if len(note.kept) > MAX_VERSIONS:
        raise Rejected("versions", f"are more than {MAX_VERSIONS}")
    for one in note.kept:
        note_content(one.content)
        if not _VERSION.fullmatch(one.version) or one.number < 1:
            raise Rejected("versions", "have a version that no note has")
    return note


def drop_forgotten_notes(
    notes: Iterable[Note], barred: Tombstones
) -> list[Note]:
    """Return the notes without the versions that the target has forgotten."""
    kept: list[Note] = []
    for note in notes:
        left = tuple(
            one for one in note.kept if not barred.bars_version(note, one)
        )
        if left:
            kept.append(replace(note, kept=left))
    return kept


def filter_note(note: Note, private: Callable[[str], str]) -> Note:
    """Return the note with the contents of all versions filtered."""
    kept: list[NoteVersion] = []
    for one in note.kept:
        kept.append(replace(one, content=private(one.content)))
    return replace(note, kept=tuple(kept))


def import_notes(session: Session, notes: Iterable[Note]) -> int:
    """Add the notes that the agent's memory lacks; return how many. Raises Retryable.

    A note that is there stays. All are indexed: an import before may have ended half-way.
    """
    added = 0
    present: list[Note] = []
    for note in notes:
        key = note_key(session.scope, note.path, note.user_id)
        known, etag = read_note(key, session.objects)
        if known is None:
            added += session.objects.put_if(key, encode_note(note), etag)
        present.append(known or note)
    index_notes(session, present)
    return added
