"""Change notes by operations: strictly compared, and done once however often they come.

An operation is announced in its owner's journal before the note is put, so that a
repetition after a crash finds the note and learns from it whether the change has happened.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from uuid import uuid4

from varve.domain.errors import Contended
from varve.domain.note_operations import (
    Journal,
    JournalEntry,
    NoteChange,
    NoteOperation,
    decode_journal,
    encode_journal,
    find_entry,
    hash_path,
    journal_key,
    keep_entry,
    make_entry,
)
from varve.domain.notes import (
    Note,
    NoteConflict,
    encode_note,
    mark_version,
    next_version,
)
from varve.ports.meter import doing
from varve.usecases.notes import (
    DELETED,
    filter_content,
    get_note,
    key_of_note,
    list_paths,
    read_note,
    send_note_index,
)
from varve.usecases.session import Session
from varve.usecases.write.contention import change_object, until_uncontended


@dataclass(frozen=True, slots=True)
class NoteEdit:
    """A content for a note, or with None its deletion.

    `version` must be the current one; None: there must be no note.
    """

    path: str
    content: str | None = field(repr=False)
    version: str | None
    operation: NoteOperation | None = None
    user_id: str | None = None


@doing("note")
def change_note(session: Session, edit: NoteEdit) -> NoteChange:
    """Write or delete a note if its version is the expected one, or replay the operation.

    Every write makes another version, even of the same content. Raises Rejected: path,
    content or user; OperationReused; NoteConflict: another version is there; Retryable.
    """
    key = key_of_note(session.scope, edit.path, edit.user_id)
    if edit.content is not None:
        edit = replace(edit, content=filter_content(session, edit.content))
    mark = edit.operation.id if edit.operation else uuid4().hex
    return until_uncontended(partial(_change_once, session, key, edit, mark))


@doing("note")
def find_change(
    session: Session, operation: NoteOperation, user_id: str | None = None
) -> NoteChange | None:
    """Return the outcome of an operation among the last ones, or None.

    Raises OperationReused: its id is another's; Damaged, Retryable.
    """
    return _find(session, operation, user_id)


def _change_once(
    session: Session, key: str, edit: NoteEdit, mark: str
) -> NoteChange:
    """Return the outcome. Raises Contended: another writer was first."""
    if edit.operation is not None:
        known = _find(session, edit.operation, edit.user_id)
        if known is not None:
            return known
    before, etag = read_note(key, session.objects)
    current = None if before is None else before.version
    if current != edit.version:
        raise NoteConflict(edit.path, current)
    after = _apply(session, edit, before, mark)
    version = None if after is None else after.version
    change = NoteChange(version, replayed=False, existed=before is not None)
    if edit.operation is None:
        _put(session, key, before, after, etag)
        return change
    entry = make_entry(edit.operation, edit.path, change)
    _keep(session, edit.operation, edit.user_id, entry)
    _put(session, key, before, after, etag)
    done = replace(entry, done=True)
    _keep(session, edit.operation, edit.user_id, done)
    return change


def _apply(
    session: Session, edit: NoteEdit, before: Note | None, mark: str
) -> Note | None:
    """Return the note as the edit leaves it; None: deleted."""
    if edit.content is None:
        return None
    note = next_version(
        before, edit.content, session.now, edit.path, edit.user_id
    )
    operation = None if edit.operation is None else edit.operation.id
    return mark_version(note, mark, operation)


def _put(
    session: Session,
    key: str,
    before: Note | None,
    after: Note | None,
    etag: str | None,
) -> None:
    """Write the note, or that it is deleted, and have it indexed. Raises Contended."""
    changed = after or before
    if changed is None:
        return
    data = DELETED if after is None else encode_note(after)
    if not session.objects.put_if(key, data, etag):
        raise Contended(f"a note of {session.scope} has just been changed")
    send_note_index(session, changed, before)


def _find(
    session: Session, operation: NoteOperation, user_id: str | None
) -> NoteChange | None:
    key = journal_key(session.scope, operation, user_id)
    journal, _ = _read_journal(session, key)
    entry = find_entry(journal, operation)
    if entry is None:
        return None
    if not entry.done and not _settle(session, operation, user_id, entry):
        return None
    return entry.replay


def _settle(
    session: Session,
    operation: NoteOperation,
    user_id: str | None,
    entry: JournalEntry,
) -> bool:
    """Return whether an announced change has happened; if so, finish it."""
    note = _read_announced(session, operation, user_id, entry)
    versions: set[str | None] = {None}
    if note is not None:
        versions = {one.version for one in note.kept}
    if entry.version not in versions:
        return False
    if note is not None:
        send_note_index(session, note, None)
    _keep(session, operation, user_id, replace(entry, done=True))
    return True


def _read_announced(
    session: Session,
    operation: NoteOperation,
    user_id: str | None,
    entry: JournalEntry,
) -> Note | None:
    """Return the note that an entry is about; its path is found by its hash."""
    for path in list_paths(session, user_id=user_id):
        if hash_path(operation, path) == entry.note:
            return get_note(session, path, user_id)
    return None


def _keep(
    session: Session,
    operation: NoteOperation,
    user_id: str | None,
    entry: JournalEntry,
) -> None:
    """Put the entry into its journal, unless it is there as done."""
    key = journal_key(session.scope, operation, user_id)

    def change(journal: Journal) -> Journal:
        known = find_entry(journal, operation)
        if known is not None and known.done and not entry.done:
            return journal
        return keep_entry(journal, entry)

    read: Callable[[], tuple[Journal, str | None]] = partial(
        _read_journal, session, key
    )
    change_object(key, read, change, encode_journal, objects=session.objects)


def _read_journal(session: Session, key: str) -> tuple[Journal, str | None]:
    stored = session.objects.get(key)
    if stored is None:
        return (), None
    return decode_journal(key, stored.data), stored.etag
