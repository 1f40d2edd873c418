"""One agent's lessons, as a program uses them."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from varve.api.arguments import checks_arguments
from varve.domain.calendar import iso
from varve.domain.experience import curation
from varve.domain.experience.lessons import Lesson
from varve.domain.identity import Scope
from varve.usecases.experience import lessons as usecases
from varve.usecases.experience.lessons import Calibration, NewLesson
from varve.usecases.session import Session
from varve.wiring.sessions import Sessions


@checks_arguments
class LessonBook:
    """One agent's lessons."""

    def __init__(
        self,
        sessions: Sessions,
        scope: Scope,
        flush_reads: Callable[[], None],
    ) -> None:
        self._sessions = sessions
        self._flush_reads = flush_reads
        self.scope = scope

    def all(self) -> list[Lesson]:
        """Return every lesson, retired and quarantined too, the most trustworthy first."""
        with self._open() as session:
            return usecases.read_lessons(session)

    def find(self, id_: str) -> Lesson:
        """Return one lesson. Raises Rejected: there is no such lesson."""
        with self._open() as session:
            return usecases.find_lesson(session, id_)

    def add(
        self,
        claim: str,
        *,
        when: str,
        then: str,
        evidence: Sequence[str] = (),
        calibration: Calibration | None = None,
        state: str | None = None,
        tags: Sequence[str] = (),
        now: datetime | None = None,
    ) -> str:
        """Write a lesson, or revise the one with the same action and state; return its id.

        `evidence` are ids of episodes and prior answers. Without evidence and calibration
        the lesson has no confidence and says so. Raises Rejected: it is vague, or the
        evidence does not exist.
        """
        new = NewLesson(claim, when, then, evidence, state, tags, calibration)
        return self.accept(new, now=now)

    def accept(
        self, proposal: NewLesson, *, now: datetime | None = None
    ) -> str:
        """Write a lesson that a research step proposed (`Researched.proposal`).

        Return its id. Raises Rejected: it is vague, or its evidence does not exist.
        """
        self._flush_reads()
        with self._open(now) as session:
            return usecases.add_lesson(session, proposal)

    def retire(
        self, id_: str, *, reason: str = "", now: datetime | None = None
    ) -> None:
        """Stop offering a lesson; all its versions stay. Raises Rejected: no such lesson."""
        self._flush_reads()
        with self._open(now) as session:
            usecases.retire_lesson(session, id_, reason)

    def curate(
        self, *, apply: bool = False, now: datetime | None = None
    ) -> dict[str, Any]:
        """Report conflicting, duplicate and stale lessons; `apply` merges duplicates.

        It also writes lessons generalized so far, so that they outlive their episodes.
        """
        self._flush_reads()
        with self._open(now) as session:
            return usecases.curate_lessons(session, apply=apply)

    def reword(
        self, *, apply: bool = False, now: datetime | None = None
    ) -> dict[str, Any]:
        """Propose a model's words for derived lessons; `apply` writes them.

        Raises Misconfigured: no model is configured; Retryable.
        """
        with self._open(now) as session:
            return usecases.reword_lessons(session, apply=apply)

    def last_curation(self) -> dict[str, Any] | None:
        """Return the report of the last `curate`; None: there was none."""
        with self._open() as session:
            return usecases.read_last_curation(session)

    def render(self) -> str:
        """Return all lessons as Markdown, for review."""
        return curation.markdown(self.all())

    def block(
        self, situation: str | None = None, *, tags: Sequence[str] = ()
    ) -> str:
        """Return the `<learned_patterns>` block for a prompt; empty without lessons."""
        with self._open() as session:
            return usecases.build_lesson_block(session, situation, tags)

    def _open(self, now: datetime | None = None) -> Session:
        return self._sessions.open(self.scope, now)


def lesson_as_json(lesson: Lesson) -> dict[str, Any]:
    """Return a lesson as JSON values, its versions the oldest first."""
    return {
        "id": lesson.id,
        "claim": lesson.claim,
        "condition": lesson.condition,
        "action": lesson.action,
        "state": lesson.state,
        "tags": list(lesson.tags),
        "confidence": round(lesson.confidence, 4),
        "basis": lesson.basis,
        "supporting": list(lesson.supporting),
        "contradicting": list(lesson.contradicting),
        "version": lesson.version,
        "active": lesson.active,
        "standing": lesson.standing,
        "reason": lesson.reason,
        "versions": [
            {
                "at": iso(version.at),
                "origin": version.origin,
                "claim": version.claim,
            }
            for version in lesson.versions
        ],
    }
