"""What of an agent's experience goes when a user, a conversation or messages are erased."""

from collections.abc import Iterable, Set
from dataclasses import dataclass, replace

from varve.domain.experience.rows import (
    GENERALIZED,
    WORDED,
    LessonVersion,
    lesson_from,
    lesson_record,
)
from varve.domain.record import MemoryType, Record


@dataclass(frozen=True, slots=True)
class Erased:
    """Ids of rows to delete, and rows that stay without what pointed at the erased ones."""

    deleted: frozenset[str]
    rewritten: tuple[Record, ...]


def erase(
    rows: Iterable[Record],
    *,
    user_ids: Set[str] = frozenset(),
    conversation_ids: Set[str] = frozenset(),
    message_ids: Set[tuple[str, str]] = frozenset(),
) -> Erased:
    """Which rows hold anything of these users, conversations or (conversation, message) pairs.

    Episodes, answers and findings of theirs go, and the reports of those episodes. A lesson's words may
    repeat its evidence's, so versions generalized from an erased episode, or worded by a model, go, and
    are derived anew from those that are left; one that people wrote loses the erased evidence. A lesson
    left without evidence is retired by the fold.
    """
    known = {row.id: row for row in rows}
    gone = {
        r.id
        for r in known.values()
        if _theirs(r, user_ids, conversation_ids, message_ids)
    }
    # A report may name an episode, or only the conversation that it was the last of.
    ended = gone | {
        known[id_].conversation_id
        for id_ in gone
        if known[id_].memory_type is MemoryType.EPISODE
    }
    gone |= {
        r.id
        for r in known.values()
        if r.memory_type is MemoryType.OUTCOME and r.about in ended
    }
    rewritten = []
    for row in known.values():
        if row.id in gone:
            continue
        if row.memory_type is MemoryType.LESSON:
            version = lesson_from(row)
            if not _cites(version, gone, user_ids, conversation_ids):
                continue
            gone.add(row.id)
            if version.origin not in {GENERALIZED, WORDED}:
                rewritten.append(
                    lesson_record(
                        _without(version, gone, user_ids, conversation_ids), row.period
                    )
                )
        elif row.memory_type is MemoryType.OUTCOME and gone & set(row.source_ids):
            rewritten.append(
                replace(
                    row, source_ids=tuple(i for i in row.source_ids if i not in gone)
                )
            )
    return Erased(frozenset(gone), tuple(rewritten))


def _theirs(
    row: Record,
    users: Set[str],
    conversations: Set[str],
    messages: Set[tuple[str, str]],
) -> bool:
    if row.user_id in users or row.conversation_id in conversations:
        return True
    is_episode = row.memory_type is MemoryType.EPISODE
    return is_episode and any(
        (row.conversation_id, id_) in messages for id_ in row.source_ids
    )


def _cites(
    version: LessonVersion, gone: Set[str], users: Set[str], conversations: Set[str]
) -> bool:
    evidence = {*version.supporting, *version.contradicting}
    return bool(
        evidence & gone
        or set(version.user_ids) & users
        or set(version.conversation_ids) & conversations
    )


def _without(
    version: LessonVersion, gone: Set[str], users: Set[str], conversations: Set[str]
) -> LessonVersion:
    return replace(
        version,
        supporting=tuple(i for i in version.supporting if i not in gone),
        contradicting=tuple(i for i in version.contradicting if i not in gone),
        user_ids=tuple(i for i in version.user_ids if i not in users),
        conversation_ids=tuple(
            i for i in version.conversation_ids if i not in conversations
        ),
    )
