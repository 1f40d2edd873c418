"""Notes: read and change the small versioned texts in an agent's memory.

The objects are the truth, and every change of one is a conditional put. The records that
a search finds follow through the writer.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from uuid import uuid4

from varve.domain.errors import Contended, Rejected
from varve.domain.identity import Scope, reference
from varve.domain.notes import (
    Note,
    NoteConflict,
    NoteVersion,
    count_records,
    decode_note,
    encode_note,
    is_note_key,
    next_version,
    note_content,
    note_folder,
    note_id,
    note_key,
    note_path,
    note_record_id,
    note_records,
    path_of,
    version_name,
)
from varve.domain.record import Record
from varve.messages.notes import IndexNote, send_index
from varve.ports.meter import MeteredThreads, doing
from varve.ports.objects import Objects
from varve.usecases.session import Session
from varve.usecases.write.contention import until_uncontended

READERS = 16
"""How many notes are read concurrently."""
DELETED = b""
"""The bytes of a deleted note's object.

Deleting the object instead could take a version with it that is put at that moment.
"""


@dataclass(frozen=True, slots=True)
class NotePut:
    """A content for a note. `version` is the one it replaces; None: it creates the note.

    With `overwrite` the last writer wins.
    """

    path: str
    content: str = field(repr=False)
    version: str | None = None
    overwrite: bool = False
    user_id: str | None = None


@doing("note")
def put_note(session: Session, put: NotePut) -> Note:
    """Write a note's content, filtered as all of memory's words are; return the note.

    The same put again changes nothing. Raises Rejected: path or content is not valid;
    NoteConflict: another version than the expected one is there; Retryable.
    """
    key = key_of_note(session.scope, put.path, put.user_id)
    if put.overwrite and put.version is not None:
        raise Rejected("version", "cannot be given together with overwrite")
    content = filter_content(session, put.content)
    note, before = until_uncontended(
        partial(_put_once, session, key, put, content)
    )
    send_note_index(session, note, before)
    return note


def filter_content(session: Session, content: str) -> str:
    """Return a note's content as it is stored. Raises Rejected: no text, or too long."""
    return note_content(session.privacy(note_content(content)))


def _put_once(
    session: Session, key: str, put: NotePut, content: str
) -> tuple[Note, Note | None]:
    """Return the note, and the one before if the put changed it. Raises Contended."""
    before, etag = read_note(key, session.objects)
    if before is not None and _is_there(before, put, content):
        return before, None
    if not put.overwrite:
        current = None if before is None else before.version
        if current != put.version:
            raise NoteConflict(put.path, current)
    note = next_version(before, content, session.now, put.path, put.user_id)
    if not session.objects.put_if(key, encode_note(note), etag):
        raise Contended(f"a note of {session.scope} has just been changed")
    return note, before


def _is_there(note: Note, put: NotePut, content: str) -> bool:
    """Return whether the put would change nothing, or has been done before."""
    if put.overwrite or note.version == put.version:
        return note.content == content
    return note.version == version_name(put.version or "", content)


@doing("note")
def delete_note(
    session: Session,
    path: str,
    version: str | None = None,
    user_id: str | None = None,
) -> bool:
    """Delete a note with all its versions; return whether there was one.

    Raises Rejected: the path; NoteConflict: `version` is not the current one; Retryable.
    """
    key = key_of_note(session.scope, path, user_id)

    def delete() -> Note | None:
        before, etag = read_note(key, session.objects)
        if before is None:
            return None
        if version not in (None, before.version):
            raise NoteConflict(path, before.version)
        if not session.objects.put_if(key, DELETED, etag):
            raise Contended(f"a note of {session.scope} has just been changed")
        return before

    gone = until_uncontended(delete)
    if gone is not None:
        send_note_index(session, gone, None)
    return gone is not None


@doing("note")
def get_note(
    session: Session, path: str, user_id: str | None = None
) -> Note | None:
    """Return a note, or None. Raises Rejected: the path; Damaged, Retryable."""
    return read_note(
        key_of_note(session.scope, path, user_id), session.objects
    )[0]


@doing("note")
def list_notes(
    session: Session, prefix: str = "", user_id: str | None = None
) -> list[Note]:
    """Return the notes whose paths begin with the prefix, by path.

    Raises Rejected: the user's id; Damaged, Retryable.
    """
    if user_id is not None:
        reference(user_id, "userId")
    folder = note_folder(session.scope, user_id)
    return read_notes(folder, prefix, objects=session.objects)


@doing("note")
def list_paths(
    session: Session, prefix: str = "", user_id: str | None = None
) -> list[str]:
    """Return the paths of the notes that begin with the prefix, without reading notes.

    Raises Rejected: the user's id; Damaged, Retryable.
    """
    if user_id is not None:
        reference(user_id, "userId")
    folder = note_folder(session.scope, user_id)
    keys = _list_keys(folder, prefix, session.objects)
    return sorted(map(path_of, keys))


@doing("note")
def read_versions(
    session: Session, path: str, user_id: str | None = None
) -> list[NoteVersion]:
    """Return the versions that a note keeps, the oldest first; empty: there is no note.

    Raises Rejected: the path; Damaged, Retryable.
    """
    note = get_note(session, path, user_id)
    return [] if note is None else list(note.kept)


def read_notes(
    folder: str, prefix: str = "", *, objects: Objects
) -> list[Note]:
    """Return the notes of a folder by user and path. Raises Damaged, Retryable."""
    keys = list(_list_keys(folder, prefix, objects))
    found = read_notes_of(keys, objects)
    return sorted(found, key=lambda note: (note.user_id or "", note.path))


def iterate_notes(scope: Scope, *, objects: Objects) -> Iterator[Note]:
    """Yield the notes of an agent and of all its users, a few in memory at a time.

    Raises Damaged, Retryable.
    """
    keys = list_note_keys(f"notes/{scope}", objects=objects)
    for start in range(0, len(keys), READERS):
        yield from read_notes_of(keys[start : start + READERS], objects)


def read_notes_of(keys: Sequence[str], objects: Objects) -> list[Note]:
    """Return the notes of these keys, in order, without those deleted meanwhile.

    Raises Damaged, Retryable.
    """
    with MeteredThreads(READERS) as readers:
        found = readers.map(partial(read_note, objects=objects), keys)
        return [note for note, _ in found if note is not None]


def list_note_keys(
    folder: str, prefix: str = "", *, objects: Objects
) -> list[str]:
    """Return the keys of a folder's notes whose paths begin with the prefix, by path."""
    return sorted(
        _list_keys(folder, prefix, objects),
        key=lambda key: (path_of(key), key),
    )


def _list_keys(folder: str, prefix: str, objects: Objects) -> Iterator[str]:
    """Yield the keys of the notes of a folder whose paths begin with the prefix."""
    for info in objects.list(folder):
        if not info.size or not is_note_key(info.key):
            continue
        if path_of(info.key).startswith(prefix):
            yield info.key


def read_all_notes(scope: Scope, *, objects: Objects) -> list[Note]:
    """Return the notes of an agent and of all its users. Raises Damaged, Retryable."""
    return read_notes(f"notes/{scope}", objects=objects)


def read_note_rows(
    messages: Iterable[IndexNote], objects: Objects
) -> tuple[list[Record], list[str]]:
    """Return the records that the notes have now, and the ids of those they have not.

    Raises Damaged, Retryable.
    """
    records: list[Record] = []
    stale: list[str] = []
    most: dict[tuple[str, str | None], IndexNote] = {}
    for one in messages:
        known = most.get((one.path, one.user_id))
        if known is None or one.records > known.records:
            most[one.path, one.user_id] = one
    for one in most.values():
        key = note_key(one.scope, one.path, one.user_id)
        note, _ = read_note(key, objects)
        rows = [] if note is None else note_records(note)
        records += rows
        id_ = note_id(one.path, one.user_id)
        for number in range(len(rows), one.records):
            stale.append(note_record_id(id_, number))
    return records, stale


def index_notes(session: Session, notes: Iterable[Note]) -> None:
    """Have the writer bring the records of these notes up to date. Raises Retryable."""
    for note in notes:
        send_note_index(session, note, None)


def send_note_index(session: Session, note: Note, before: Note | None) -> None:
    """Have the writer bring the records of a note up to date. Raises Retryable.

    `before` is the note as it was; its records may have been more.
    """
    versions = [note, before] if before else [note]
    message = IndexNote(
        session.scope, note.path, note.user_id, _count_records(versions)
    )
    send_index(
        message,
        uuid4().hex,
        queue=session.queues.write,
        objects=session.objects,
    )


def _count_records(notes: Sequence[Note]) -> int:
    """Return the most records that any kept version of the notes has had."""
    counts: list[int] = []
    for note in notes:
        counts += [count_records(one) for one in note.kept]
    return max(counts)


def key_of_note(scope: Scope, path: str, user_id: str | None) -> str:
    """Return the key of a caller's note. Raises Rejected: path or user is not valid."""
    if user_id is not None:
        reference(user_id, "userId")
    return note_key(scope, note_path(path), user_id)


def read_note(key: str, objects: Objects) -> tuple[Note | None, str | None]:
    """Return the note and its ETag; a deleted note's object has an ETag alone."""
    stored = objects.get(key)
    if stored is None:
        return None, None
    if stored.data == DELETED:
        return None, stored.etag
    return decode_note(key, stored.data), stored.etag
