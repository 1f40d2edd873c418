"""What of an agent's experience goes with what has been forgotten."""

from collections.abc import Iterable

from varve.domain.erasure import Tombstones
from varve.domain.experience.erasure import ExperienceErasure, plan_erasure
from varve.domain.experience.rows import lesson_from
from varve.domain.record import MemoryType, Record


def unlearnt(rows: Iterable[Record], barred: Tombstones) -> ExperienceErasure:
    """The rows to delete, and those to keep without what pointed at them.

    A user or a conversation that is forgotten goes by name only while there is nothing of it from after
    the forgetting; of one that has come back what is newer stays.
    """
    known = list(rows)
    doomed = [
        row
        for row in known
        if row.memory_type is not MemoryType.LESSON and barred.bars_record(row)
    ]
    stay = [row for row in known if row not in doomed]
    lessons = [lesson_from(row) for row in stay if row.memory_type is MemoryType.LESSON]
    users = {row.user_id for row in doomed} | {
        user for lesson in lessons for user in lesson.user_ids
    }
    names = {row.conversation_id for row in doomed} | {
        n for one in lessons for n in one.conversation_ids
    }
    found = plan_erasure(
        known,
        user_ids=_forgotten(
            users, {row.user_id for row in stay}, "user", barred.users, barred
        ),
        conversation_ids=_forgotten(
            names,
            {row.conversation_id for row in stay},
            "conversation",
            barred.conversations,
            barred,
        ),
        message_ids={
            (row.conversation_id or "", id_)
            for row in doomed
            if row.memory_type is MemoryType.EPISODE
            for id_ in row.source_ids
        },
    )
    return ExperienceErasure(
        found.deleted | {row.id for row in doomed}, found.rewritten
    )


def _forgotten(
    ids: Iterable[str | None],
    newer: Iterable[str | None],
    kind: str,
    held: Iterable[str],
    barred: Tombstones,
) -> frozenset[str]:
    left = {id_ for id_ in ids if id_} - set(newer)
    return frozenset(id_ for id_ in left if barred.hash(kind, id_) in set(held))
