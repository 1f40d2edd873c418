"""An agent's lessons, limited to one user's experience if a user is named."""

from dataclasses import replace

from varve.domain.experience.alike import Embed
from varve.domain.experience.history import History
from varve.domain.experience.lessons import Lesson, derive_lessons
from varve.domain.experience.rows import lesson_from
from varve.domain.record import MemoryType, Record
from varve.usecases.experience.rows import read_rows
from varve.usecases.search.lookup import SharedMemory


def read_granted_lessons(
    memory: SharedMemory, user_id: str | None, embed: Embed
) -> list[Lesson]:
    """Return the lessons that another agent shares; their ids begin with its name."""
    grant = memory.grant
    if "lesson" not in grant.types or not grant.includes(user_id):
        return []
    history = limit_to_user(History(read_granted_rows(memory)), user_id)
    return [
        replace(lesson, id=f"{memory.scope.agent}/{lesson.id}")
        for lesson in derive_lessons(history, embed)
    ]


def read_granted_rows(memory: SharedMemory) -> list[Record]:
    """Return the rows of another agent's experience that belong to the granted users."""
    rows = read_rows(memory.scope, reader=memory.reader)
    return [row for row in rows if memory.grant.includes_all(find_owners(row))]


def limit_to_user(history: History, user_id: str | None) -> History:
    """Return the history of one user; without an id the whole.

    A lesson repeats its episodes' words, so it must rest on that user's episodes alone.
    """
    if user_id is None:
        return history
    return History(row for row in history.all_rows if rests_on(row, user_id))


def rests_on(row: Record, user_id: str) -> bool:
    """Return whether a row is one user's, or a lesson from that user's episodes alone."""
    return find_owners(row) == (user_id,)


def find_owners(row: Record) -> tuple[str | None, ...]:
    """Return the user of a row, or the users of the episodes that a lesson rests on.

    A lesson without episodes has no users.
    """
    if row.memory_type is MemoryType.LESSON:
        return lesson_from(row).user_ids
    return (row.user_id,)
