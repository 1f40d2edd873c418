"""The notes in one agent's memory, as a program uses them."""

from datetime import datetime
from typing import TYPE_CHECKING

from varve.api.arguments import checks_arguments
from varve.domain.identity import Scope
from varve.domain.note_operations import NoteChange, NoteOperation
from varve.domain.notes import Note, NoteVersion
from varve.usecases import notes as usecases
from varve.usecases.note_operations import NoteEdit, change_note, find_change
from varve.usecases.notes import NotePut
from varve.usecases.session import Session
from varve.wiring.sessions import Sessions

if TYPE_CHECKING:
    from varve.usecases.search.notes import FoundNote


@checks_arguments
class Notes:
    """Small versioned texts at paths, each the agent's own or one user's.

    >>> note = memory.notes.put("projects/lisbon.md", "Flat found.")
    >>> memory.notes.put(note.path, "Flat rented.", version=note.version)
    >>> [one.path for one in memory.notes.list("projects/")]
    """

    def __init__(self, sessions: Sessions, scope: Scope) -> None:
        self._sessions = sessions
        self._scope = scope

    def get(self, path: str, *, user_id: str | None = None) -> Note | None:
        """Return the note as last put, or None. Raises Rejected: the path; Retryable."""
        with self._open() as session:
            return usecases.get_note(session, path, user_id)

    def put(
        self,
        path: str,
        content: str,
        *,
        version: str | None = None,
        overwrite: bool = False,
        user_id: str | None = None,
        now: datetime | None = None,
    ) -> Note:
        """Create a note, or with `version` replace that version; return the new one.

        With `overwrite` the last writer wins. The same put again changes nothing.
        Secrets, and what the workspace's privacy filters, are replaced in the content. It
        has at most 100,000 bytes. Raises NoteConflict: another version is there;
        Rejected: path or content is not valid; Retryable.
        """
        put = NotePut(path, content, version, overwrite, user_id)
        with self._open(now) as session:
            return usecases.put_note(session, put)

    def list(
        self, prefix: str = "", *, user_id: str | None = None
    ) -> list[Note]:
        """Return the notes whose paths begin with the prefix, by path.

        They are the user's, or without one the agent's own. Raises Rejected, Retryable.
        """
        with self._open() as session:
            return usecases.list_notes(session, prefix, user_id)

    def paths(
        self, prefix: str = "", *, user_id: str | None = None
    ) -> tuple[str, ...]:
        """Return the paths that begin with the prefix, in order, without reading notes.

        Raises Rejected, Retryable.
        """
        with self._open() as session:
            return tuple(usecases.list_paths(session, prefix, user_id))

    def search(
        self,
        query: str,
        prefix: str = "",
        *,
        user_id: str | None = None,
        max_results: int = 10,
    ) -> "tuple[FoundNote, ...]":
        """Return the notes below the prefix that bear on the query, best first.

        They are the user's, or without one the agent's own. Raises Rejected: names the
        argument; Misconfigured, Retryable.
        """
        from varve.usecases.search.notes import search_notes

        with self._open() as session:
            found = search_notes(session, query, prefix, user_id, max_results)
        return tuple(found)

    def delete(
        self,
        path: str,
        *,
        version: str | None = None,
        user_id: str | None = None,
    ) -> bool:
        """Delete a note with its versions; return whether there was one.

        Raises NoteConflict: `version` is not the current one; Rejected, Retryable.
        """
        with self._open() as session:
            return usecases.delete_note(session, path, version, user_id)

    def change(
        self,
        path: str,
        content: str | None,
        *,
        version: str | None,
        operation: NoteOperation | None = None,
        user_id: str | None = None,
        now: datetime | None = None,
    ) -> NoteChange:
        """Write a note, or with content None delete it, if `version` is the current one.

        `version` None: there must be no note. Every write makes another version. The same
        operation again changes nothing and returns the first outcome; about the last
        1,000 of each owner are known. Raises NoteConflict, Rejected, Retryable.
        """
        edit = NoteEdit(path, content, version, operation, user_id)
        with self._open(now) as session:
            return change_note(session, edit)

    def find_change(
        self, operation: NoteOperation, *, user_id: str | None = None
    ) -> NoteChange | None:
        """Return the outcome of an operation that is known, or None.

        Raises Rejected: the operation's id is another's; Retryable.
        """
        with self._open() as session:
            return find_change(session, operation, user_id)

    def versions(
        self, path: str, *, user_id: str | None = None
    ) -> tuple[NoteVersion, ...]:
        """Return the last ten versions, the oldest first; empty: there is no note.

        Raises Rejected, Retryable.
        """
        with self._open() as session:
            return tuple(usecases.read_versions(session, path, user_id))

    def _open(self, now: datetime | None = None) -> Session:
        return self._sessions.open(self._scope, now)
