"""The effect of an agent's tombstones on its experience."""

from collections.abc import Iterable, Sequence, Set

from varve.domain.erasure import MessageKey, Tombstones
from varve.domain.experience.erasure import ExperienceErasure, plan_erasure
from varve.domain.experience.rows import lesson_from
from varve.domain.record import MemoryType, Record
from varve.usecases.erasure.conversations import split


def plan_unlearning(
    rows: Iterable[Record], barred: Tombstones
) -> ExperienceErasure:
    """Return the rows to delete, and the rows to rewrite without references to them.

    A forgotten user or conversation goes by name only if no newer row is of it. Of one
    that has come back after the erasure, the newer rows stay.
    """
    lessons, others = split(rows, _is_lesson)
    repeating, staying = split(lessons, barred.bars_row)
    doomed, kept = split(others, barred.bars_record)
    users, conversations = _find_names(doomed, kept, staying)
    plan = plan_erasure(
        [*others, *staying],
        user_ids=_select(users, "user", barred.users, barred),
        conversation_ids=_select(
            conversations, "conversation", barred.conversations, barred
        ),
        message_ids=_episode_messages(doomed),
    )
    deleted = plan.deleted.union(_ids_of(doomed), _ids_of(repeating))
    # A lesson that loses no evidence but a user's name keeps its id.
    return ExperienceErasure(deleted - _ids_of(plan.rewritten), plan.rewritten)


def _find_names(
    doomed: Iterable[Record], kept: Sequence[Record], lessons: Iterable[Record]
) -> tuple[set[str | None], set[str | None]]:
    """Return the users and conversations of doomed rows and lessons, and of no kept row."""
    users = {row.user_id for row in doomed}
    conversations = {row.conversation_id for row in doomed}
    for row in lessons:
        lesson = lesson_from(row)
        users.update(lesson.user_ids)
        conversations.update(lesson.conversation_ids)
    users -= {row.user_id for row in kept}
    conversations -= {row.conversation_id for row in kept}
    return users, conversations


def _is_lesson(row: Record) -> bool:
    return row.memory_type is MemoryType.LESSON


def _ids_of(rows: Iterable[Record]) -> set[str]:
    return {row.id for row in rows}


def _select(
    ids: Iterable[str | None],
    kind: str,
    hashes: Iterable[str],
    barred: Tombstones,
) -> frozenset[str]:
    """Return the ids whose hashes are among the tombstones' hashes of the kind."""
    known = set(hashes)
    named = [id_ for id_ in ids if id_]
    return frozenset(id_ for id_ in named if barred.hash(kind, id_) in known)


def _episode_messages(rows: Iterable[Record]) -> Set[MessageKey]:
    keys: set[MessageKey] = set()
    for row in rows:
        if row.memory_type is MemoryType.EPISODE:
            conversation = row.conversation_id or ""
            keys.update((conversation, id_) for id_ in row.source_ids)
    return keys
