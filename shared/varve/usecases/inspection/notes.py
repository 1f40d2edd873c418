"""Notes as a page lists them: a bounded number is read at a time."""

from dataclasses import dataclass

from varve.domain.identity import reference
from varve.domain.notes import Note, note_folder
from varve.usecases.notes import list_note_keys, read_notes_of
from varve.usecases.session import Session


@dataclass(frozen=True, slots=True)
class NotePage:
    """Some notes by path, and how many there are in all."""

    notes: tuple[Note, ...]
    total: int


def list_note_page(
    session: Session,
    prefix: str = "",
    *,
    user_id: str | None = None,
    start: int = 0,
    most: int = 50,
) -> NotePage:
    """Return up to `most` notes whose paths begin with the prefix, by path.

    They are those of a user; without one, of the agent and of all its users. Raises
    Rejected: the user's id; Damaged, Retryable.
    """
    folder = f"notes/{session.scope}"
    if user_id is not None:
        folder = note_folder(session.scope, reference(user_id, "userId"))
    keys = list_note_keys(folder, prefix, objects=session.objects)
    found = read_notes_of(keys[start : start + most], session.objects)
    return NotePage(tuple(found), len(keys))
