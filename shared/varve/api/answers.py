"""One agent's prior answers, as a program uses them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from varve.domain.experience.answers import (
    DEFAULT_DAYS,
    PriorAnswer,
    Rerun,
    changed_materially,
)
from varve.domain.identity import Scope
from varve.usecases.experience import answers as usecases
from varve.usecases.experience.answers import EVICTION_REASONS, RerunRequest
from varve.usecases.session import Session
from varve.wiring.sessions import Sessions

CountReads = Callable[[Sequence[str]], None]


@dataclass(frozen=True, slots=True)
class Researched:
    """The result of a research step; `proposal` is a lesson to review if it changed much."""

    answer: PriorAnswer
    reused: bool
    reason: str
    proposal: str | None = None


class AnswerBook:
    """Answers by subject, task type and time."""

    def __init__(
        self, sessions: Sessions, scope: Scope, count_reads: CountReads
    ) -> None:
        self._sessions = sessions
        self._count_reads = count_reads
        self.scope = scope

    def all(self) -> list[PriorAnswer]:
        """Return every answer, the oldest first."""
        with self._open() as session:
            return usecases.read_answers(session)

    def remember(
        self,
        subject: str,
        task_type: str,
        question: str,
        answer: str,
        *,
        now: datetime | None = None,
        **given: Any,
    ) -> PriorAnswer:
        """Keep an answer.

        `given` are probability, confidence, citations, regime, conversation_id and
        user_id. Raises Rejected: a text is empty, or a number lies outside [0, 1].
        """
        with self._open(now) as session:
            at = session.now
            new = PriorAnswer(subject, task_type, question, answer, at, at, **given)
            return usecases.remember_answer(session, new)

    def should_rerun(
        self,
        subject: str,
        task_type: str,
        *,
        days: int = DEFAULT_DAYS,
        signals: Mapping[str, Any] | None = None,
        regime: Mapping[str, str] | None = None,
        now: datetime | None = None,
    ) -> Rerun:
        """Decide whether to ask again, and say why; a usable answer counts as read."""
        request = RerunRequest(subject, task_type, days, signals, regime)
        with self._open(now) as session:
            verdict = usecases.judge_rerun(session, request)
        if not verdict.rerun and verdict.prior:
            self._count_reads([verdict.prior.id])
        return verdict

    def analogous(
        self, task_type: str, question: str, k: int = 5
    ) -> list[tuple[PriorAnswer, float]]:
        """Return answers to similar questions across subjects, with their cosines."""
        with self._open() as session:
            found = usecases.find_analogous_answers(session, task_type, question, k)
        self._count_reads([answer.id for answer, _ in found])
        return found

    def evict(
        self,
        *,
        by: Sequence[str] = EVICTION_REASONS,
        dry_run: bool = True,
        now: datetime | None = None,
    ) -> dict[str, str]:
        """Delete answers by age, number or disuse; return the reason for each.

        With `dry_run` nothing is deleted.
        """
        with self._open(now) as session:
            return usecases.evict_answers(session, by, dry_run=dry_run)

    def research_step(
        self,
        subject: str,
        task_type: str,
        question: str,
        research: Callable[[Sequence[PriorAnswer]], Mapping[str, Any]],
        *,
        days: int = DEFAULT_DAYS,
        signals: Mapping[str, Any] | None = None,
        regime: Mapping[str, str] | None = None,
        now: datetime | None = None,
    ) -> Researched:
        """Reuse the prior answer, or call `research` with analogous ones and keep its result.

        `research` returns a mapping with `answer` and optionally probability,
        confidence and citations.
        """
        verdict = self.should_rerun(
            subject, task_type, days=days, signals=signals, regime=regime, now=now
        )
        if not verdict.rerun and verdict.prior:
            return Researched(verdict.prior, True, verdict.reason)
        hints = [answer for answer, _ in self.analogous(task_type, question)]
        result = dict(research(hints))
        text = str(result.pop("answer"))
        new = self.remember(
            subject,
            task_type,
            question,
            text,
            now=now,
            regime=dict(regime or {}),
            **result,
        )
        proposal = None
        if verdict.prior and changed_materially(verdict.prior, new):
            proposal = _propose(verdict.prior, new, verdict.reason)
        return Researched(new, False, verdict.reason, proposal)

    def _open(self, now: datetime | None = None) -> Session:
        return self._sessions.open(self.scope, now)


def _propose(before: PriorAnswer, after: PriorAnswer, reason: str) -> str:
    return (
        f"When {after.task_type} about {after.subject} is asked again ({reason}): the "
        f"probability went from {before.probability} to {after.probability}; do not rely "
        "on the prior answer"
    )
