"""What an agent has learnt, for whom."""

from varve.domain.experience.history import History
from varve.domain.experience.lessons import Lesson, derive_lessons
from varve.domain.experience.rows import lesson_from
from varve.domain.identity import Scope
from varve.domain.record import MemoryType, Record
from varve.ports.records import MemoryReader
from varve.usecases.experience.rows import read_rows


def lessons_of(
    scope: Scope, user_id: str | None, *, reader: MemoryReader
) -> list[Lesson]:
    """An agent's lessons; those that rest on one user's experience alone where a user is named."""
    return derive_lessons(of_user(History(read_rows(scope, reader=reader)), user_id))


def of_user(history: History, user_id: str | None) -> History:
    """The past of one user alone, where one is named: a lesson's words are its episodes'."""
    if user_id is None:
        return history
    return History(row for row in history.all_rows if rests_on(row, user_id))


def rests_on(row: Record, user_id: str) -> bool:
    """Whether a row is one user's, of a lesson whether nobody else's experience is behind it."""
    if row.memory_type is MemoryType.LESSON:
        return lesson_from(row).user_ids == (user_id,)
    return row.user_id == user_id
