"""The effect of an erasure on an agent's experience: rows to delete, rows to rewrite."""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, replace

from varve.domain.experience.rows import (
    GENERALIZED,
    PROPOSED,
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
    deleted = {id_ for id_, row in known.items() if subject.owns(row)}
    deleted.update(_reports_of(deleted, known))
    kept = [row for row in known.values() if row.id not in deleted]
    rewritten: list[Record] = []
    for row in kept:
        if row.memory_type is MemoryType.OUTCOME:
            rewritten += _rewrite_report(row, deleted)
        elif row.memory_type is MemoryType.LESSON:
            version = lesson_from(row)
            if subject.is_cited_by(version, deleted):
                deleted.add(row.id)
                rewritten += subject.rewrite_lesson(
                    version, deleted, row.period
                )
    return ExperienceErasure(frozenset(deleted), tuple(rewritten))


def _rewrite_report(row: Record, deleted: Set[str]) -> list[Record]:
    """Return a report's row without the deleted ids it used; nothing if it used none."""
    used = _without(row.source_ids, deleted)
    if used == row.source_ids:
        return []
    return [replace(row, source_ids=used)]


def _reports_of(deleted: Set[str], known: Mapping[str, Record]) -> list[str]:
    """Return the ids of reports of deleted episodes.

    A report names an episode, or the conversation whose last episode it is about.
    """
    targets: set[str | None] = set(deleted)
    for id_ in deleted:
        row = known[id_]
        if row.memory_type is MemoryType.EPISODE:
            targets.add(row.conversation_id)
    reports = [
        r for r in known.values() if r.memory_type is MemoryType.OUTCOME
    ]
    return [report.id for report in reports if report.about in targets]


@dataclass(frozen=True, slots=True)
class _Subject:
    """The users, conversations and (conversation, message) pairs to erase."""

    users: Set[str]
    conversations: Set[str]
    messages: Set[tuple[str, str]]

    def owns(self, row: Record) -> bool:
        """Return whether a row is of the subject; an episode may have messages of it."""
        is_of_user = row.user_id in self.users
        if is_of_user or row.conversation_id in self.conversations:
            return True
        if row.memory_type is not MemoryType.EPISODE:
            return False
        messages = {(row.conversation_id, id_) for id_ in row.source_ids}
        return not messages.isdisjoint(self.messages)

    def is_cited_by(self, version: LessonVersion, deleted: Set[str]) -> bool:
        """Return whether a version refers to the subject or to a deleted row."""
        return not (
            deleted.isdisjoint(version.supporting)
            and deleted.isdisjoint(version.contradicting)
            and self.users.isdisjoint(version.user_ids)
            and self.conversations.isdisjoint(version.conversation_ids)
        )

    def rewrite_lesson(
        self, version: LessonVersion, deleted: Set[str], period: str
    ) -> list[Record]:
        """Return the row of a version without its erased evidence.

        Returns nothing for a version whose words come from the evidence.
        """
        if version.origin in {GENERALIZED, PROPOSED, WORDED}:
            return []
        cleaned = replace(
            version,
            supporting=_without(version.supporting, deleted),
            contradicting=_without(version.contradicting, deleted),
            user_ids=_without(version.user_ids, self.users),
            conversation_ids=_without(
                version.conversation_ids, self.conversations
            ),
        )
        return [lesson_record(cleaned, period)]


def _without(ids: Iterable[str], erased: Set[str]) -> tuple[str, ...]:
    return tuple(id_ for id_ in ids if id_ not in erased)
