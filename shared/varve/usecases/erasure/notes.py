"""Notes in an erasure: which are the subject's, and their deletion with all versions."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from varve.domain.erasure import Selector, Tombstones
from varve.domain.errors import Contended
from varve.domain.identity import Scope
from varve.domain.notes import (
    Note,
    encode_note,
    is_note_key,
    note_folder,
    note_key,
    version_keys,
)
from varve.domain.record import Record, Store
from varve.ports.objects import Objects
from varve.ports.records import MemoryReader
from varve.usecases.notes import DELETED, read_all_notes, read_note
from varve.usecases.write.contention import until_uncontended


@dataclass(frozen=True, slots=True)
class DividedNotes:
    """All notes of an agent: those of a subject, and those of other users.

    What the agent noted itself is neither: it may repeat the subject's words, and then the
    proof must find them.
    """

    own: tuple[Note, ...] = ()
    others: tuple[Note, ...] = ()

    def tombstone_keys(self) -> Iterator[tuple[str, ...]]:
        """Yield the parts from which the tombstones' hashes of the subject's are made."""
        for note in self.own:
            for version in note.kept:
                yield from version_keys(note, version)


def find_notes(
    scope: Scope, selector: Selector, *, objects: Objects
) -> DividedNotes:
    """Divide the agent's notes by a selector: a user, or ids of notes or their records.

    Raises Damaged, Retryable.
    """
    own: list[Note] = []
    others: list[Note] = []
    named = {note_of(id_) for id_ in selector.ids}
    for note in read_all_notes(scope, objects=objects):
        is_users = selector.user is not None and note.user_id == selector.user
        if is_users or note.id in named:
            own.append(note)
        elif note.user_id is not None:
            others.append(note)
    return DividedNotes(tuple(own), tuple(others))


def texts_of_notes(notes: Iterable[Note]) -> Iterator[str]:
    """Yield the words of notes: their paths, and the contents of all versions."""
    for note in notes:
        yield note.path
        for version in note.kept:
            yield version.content


def sweep_notes(
    scope: Scope, barred: Tombstones, *, objects: Objects
) -> set[str]:
    """Delete the versions that are barred, and notes without any other; return the ids.

    Raises Damaged, Retryable.
    """
    changed: set[str] = set()
    for note in read_all_notes(scope, objects=objects):
        if any(barred.bars_version(note, one) for one in note.kept):
            key = note_key(scope, note.path, note.user_id)
            until_uncontended(partial(_drop_versions, key, barred, objects))
            changed.add(note.id)
    return changed


def sweep_deleted(scope: Scope, user_id: str, *, objects: Objects) -> None:
    """Delete what a user's notes left: operations, and empty objects of deleted notes.

    The empty objects' names are paths.
    """
    left: list[str] = []
    for one in objects.list(note_folder(scope, user_id)):
        if not one.size or not is_note_key(one.key):
            left.append(one.key)
    objects.delete(left)


def find_barred_rows(
    scope: Scope, barred: Tombstones, *, reader: MemoryReader
) -> list[Record]:
    """Return the records of notes that are barred."""
    found: list[Record] = []
    for year in sorted(reader.periods(scope, Store.NOTES)):
        for row in reader.in_period(scope, Store.NOTES, year):
            if barred.bars_record(row):
                found.append(row)
    return found


def _drop_versions(key: str, barred: Tombstones, objects: Objects) -> None:
    """Write the note without its barred versions, or delete it. Raises Contended."""
    note, etag = read_note(key, objects)
    if note is None:
        return
    kept = tuple(
        one for one in note.kept if not barred.bars_version(note, one)
    )
    if len(kept) == len(note.kept):
        return
    data = encode_note(replace(note, kept=kept)) if kept else DELETED
    if not objects.put_if(key, data, etag):
        raise Contended("a note has been changed during its erasure")
    if not kept:
        objects.delete([key])


def note_of(id_: str) -> str:
    """Return the id of the note that an id of its records begins with."""
    return "-".join(id_.split("-")[:2])
