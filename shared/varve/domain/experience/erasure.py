"""The effect of an erasure on an agent's experience: rows to delete, rows to rewrite."""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field, replace

from varve.domain.experience.rows import (
    GENERALIZED,
    WORDED,
    LessonVersion,
    lesson_from,
    lesson_record,
)
from varve.domain.record import MemoryType, Record


@dataclass(frozen=True, slots=True)
class ExperienceErasure:
    """The ids of rows to delete, and rows to write without references to erased rows."""

    deleted: frozenset[str]
    rewritten: tuple[Record, ...]


def plan_erasure(
    rows: Iterable[Record],
    *,
    user_ids: Set[str] = frozenset(),
    conversation_ids: Set[str] = frozenset(),
    message_ids: Set[tuple[str, str]] = frozenset(),
) -> ExperienceErasure:
    """Return the effect of erasing users, conversations or (conversation, message) pairs.

    Their episodes, answers and findings are deleted, and the reports of those episodes. A
    lesson's words may repeat the words of its evidence. So a version that was generalized
    from an erased episode, or worded by a model, is deleted; the fold derives it again from
    the remaining episodes. A version written by a person loses the erased evidence. The fold
    retires a lesson without evidence.
    """
    known = {row.id: row for row in rows}
    subject = _Subject(user_ids, conversation_ids, message_ids)
    deleted = subject.deleted
    deleted.update(row.id for row in known.values() if subject.owns(row))
    deleted.update(_reports_of(deleted, known))
    rewritten: list[Record] = []
    for row in known.values():
        if row.id in deleted:
            continue
        if row.memory_type is MemoryType.LESSON:
            version = lesson_from(row)
            if not subject.is_cited_by(version):
                continue
            deleted.add(row.id)
            if version.origin not in {GENERALIZED, WORDED}:
                kept = subject.without_citations(version)
                rewritten.append(lesson_record(kept, row.period))
        elif row.memory_type is MemoryType.OUTCOME and deleted & set(row.source_ids):
            rewritten.append(replace(row, source_ids=_without(row.source_ids, deleted)))
    return ExperienceErasure(frozenset(deleted), tuple(rewritten))


def _reports_of(deleted: Set[str], known: Mapping[str, Record]) -> list[str]:
    """Return the ids of reports of deleted episodes.

    A report names an episode, or the conversation whose last episode it is about.
    """
    targets: set[str | None] = set(deleted)
    for id_ in deleted:
        if known[id_].memory_type is MemoryType.EPISODE:
            targets.add(known[id_].conversation_id)
    reports = [r for r in known.values() if r.memory_type is MemoryType.OUTCOME]
    return [report.id for report in reports if report.about in targets]


@dataclass(frozen=True, slots=True)
class _Subject:
    """What is erased, with the ids of the rows `deleted` so far."""

    users: Set[str]
    conversations: Set[str]
    messages: Set[tuple[str, str]]
    deleted: set[str] = field(default_factory=set)

    def owns(self, row: Record) -> bool:
        if row.user_id in self.users or row.conversation_id in self.conversations:
            return True
        if row.memory_type is not MemoryType.EPISODE:
            return False
        return any(
            (row.conversation_id, id_) in self.messages for id_ in row.source_ids
        )

    def is_cited_by(self, version: LessonVersion) -> bool:
        evidence = {*version.supporting, *version.contradicting}
        return bool(
            evidence & self.deleted
            or set(version.user_ids) & self.users
            or set(version.conversation_ids) & self.conversations
        )

    def without_citations(self, version: LessonVersion) -> LessonVersion:
        return replace(
            version,
            supporting=_without(version.supporting, self.deleted),
            contradicting=_without(version.contradicting, self.deleted),
            user_ids=_without(version.user_ids, self.users),
            conversation_ids=_without(version.conversation_ids, self.conversations),
        )


def _without(ids: Iterable[str], erased: Set[str]) -> tuple[str, ...]:
    return tuple(id_ for id_ in ids if id_ not in erased)
