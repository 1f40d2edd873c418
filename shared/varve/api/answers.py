"""One agent's prior answers, as a program uses them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from varve.api.arguments import checks_arguments
from varve.domain.errors import VarveError
from varve.domain.experience.answers import (
    DEFAULT_DAYS,
    PriorAnswer,
    Rerun,
    changed_materially,
    flat_regime,
)
from varve.domain.experience.results import (
    ResearchResult,
    flatten,
    read_citations,
    read_result,
)
from varve.domain.identity import Scope
from varve.domain.validation import check_words
from varve.usecases.experience import answers as usecases
from varve.usecases.experience.answers import (
    EVICTION_REASONS,
    RerunRequest,
)
from varve.usecases.experience.lessons import NewLesson
from varve.usecases.session import Session
from varve.wiring.sessions import Sessions

CountReads = Callable[[Sequence[str]], None]


@dataclass(frozen=True, slots=True)
class Researched:
    """The result of a research step.

    - `result`: what the caller's function returned; None if an answer was reused.
    - `warnings`: why parts of the result were kept as text, or not kept.
    - `stored`: False if the store refused the new answer.
    - `proposal`: a lesson to review if the probability changed much; `lessons.accept`
      writes it.
    """

    answer: PriorAnswer
    reused: bool
    reason: str
    result: object = None
    warnings: tuple[str, ...] = ()
    stored: bool = True
    proposal: NewLesson | None = None


@dataclass(frozen=True, slots=True)
class _Step:
    """The question of a research step, with the present regime and signals."""

    subject: str
    task_type: str
    question: str
    regime: Mapping[str, Any]
    signals: Mapping[str, Any]


@checks_arguments
class AnswerBook:
    """Answers by subject, task type and time."""

    def __init__(
        self,
        sessions: Sessions,
        scope: Scope,
        count_reads: CountReads,
        flush_reads: Callable[[], None],
    ) -> None:
        self._sessions = sessions
        self._count_reads = count_reads
        self._flush_reads = flush_reads
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
        probability: float | None = None,
        confidence: float | None = None,
        citations: str | Sequence[str] = (),
        regime: Mapping[str, Any] | None = None,
        signals: Mapping[str, Any] | None = None,
        conversation_id: str | None = None,
        user_id: str | None = None,
        now: datetime | None = None,
    ) -> PriorAnswer:
        """Keep an answer, with the regime and the signals under which it was found.

        Both may be nested. Without a confidence the answer is reused until its time is
        over. A text as `citations` is one citation. Raises Rejected: a text is empty, or a
        number lies outside [0, 1].
        """
        self._flush_reads()
        with self._open(now) as session:
            new = PriorAnswer(
                subject,
                task_type,
                question,
                answer,
                session.now,
                session.now,
                probability=probability,
                confidence=confidence,
                citations=read_citations(citations),
                regime=flat_regime(regime or {}),
                signals=flatten(signals or {}),
                conversation_id=conversation_id,
                user_id=user_id,
            )
            return usecases.remember_answer(session, new)

    def should_rerun(
        self,
        subject: str,
        task_type: str,
        *,
        days: int = DEFAULT_DAYS,
        signals: Mapping[str, Any] | None = None,
        regime: Mapping[str, Any] | None = None,
        now: datetime | None = None,
    ) -> Rerun:
        """Decide whether to ask again, and say why; a usable answer counts as read.

        The read is written immediately: it decides whether the answer is evicted.
        """
        request = RerunRequest(subject, task_type, days, signals, regime)
        with self._open(now) as session:
            verdict = usecases.judge_rerun(session, request)
        if not verdict.rerun and verdict.prior:
            self._count_reads([verdict.prior.id])
            self._flush_reads()
        return verdict

    def analogous(
        self,
        task_type: str,
        question: str,
        k: int = 5,
        *,
        regime: Mapping[str, Any] | None = None,
    ) -> list[tuple[PriorAnswer, float]]:
        """Return answers to similar questions across subjects, with their cosines.

        The cosines of answers found under another `regime` count half.
        """
        with self._open() as session:
            found = usecases.find_analogous_answers(
                session, task_type, question, k, regime
            )
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
        research: Callable[[Sequence[PriorAnswer]], object],
        *,
        days: int = DEFAULT_DAYS,
        signals: Mapping[str, Any] | None = None,
        regime: Mapping[str, Any] | None = None,
        now: datetime | None = None,
    ) -> Researched:
        """Reuse the prior answer, or call `research` with analogous ones and keep its result.

        `research` returns a mapping with `answer` and optionally probability,
        confidence and citations. A result of another shape is kept as text and returned
        with warnings, and so is one that the store refuses. Raises Rejected before
        `research` is called: a text is empty.
        """
        step = _Step(subject, task_type, question, regime or {}, signals or {})
        check_words(subject=subject, task_type=task_type, question=question)
        verdict = self.should_rerun(
            subject,
            task_type,
            days=days,
            signals=signals,
            regime=regime,
            now=now,
        )
        if not verdict.rerun and verdict.prior:
            return Researched(verdict.prior, True, verdict.reason)
        alike = self.analogous(task_type, question, regime=regime)
        hints = [answer for answer, _ in alike]
        return self._keep_result(step, verdict, research(hints), now)

    def _keep_result(
        self, step: _Step, verdict: Rerun, given: object, now: datetime | None
    ) -> Researched:
        """Store a result that was paid for, and return it whether the store takes it or not."""
        read = read_result(given)
        warnings = read.warnings
        stored = True
        try:
            new = self._remember_result(step, read, now)
        except VarveError as error:
            # The research may have cost much: its result reaches the caller regardless.
            warnings = (*warnings, f"the answer is not stored: {error}")
            stored = False
            new = self._unstored(step, read, now)
        proposal = None
        if stored and verdict.prior and changed_materially(verdict.prior, new):
            proposal = _propose(verdict.prior, new, verdict.reason)
        return Researched(
            new, False, verdict.reason, given, warnings, stored, proposal
        )

    def _remember_result(
        self, step: _Step, read: ResearchResult, now: datetime | None
    ) -> PriorAnswer:
        return self.remember(
            step.subject,
            step.task_type,
            step.question,
            read.text,
            probability=read.probability,
            confidence=read.confidence,
            citations=read.citations,
            regime=step.regime,
            signals=step.signals,
            now=now,
        )

    def _unstored(
        self, step: _Step, read: ResearchResult, now: datetime | None
    ) -> PriorAnswer:
        """Return the answer of a result that is not stored."""
        at = self._open(now).now
        return PriorAnswer(
            step.subject,
            step.task_type,
            step.question,
            read.text,
            at,
            at,
            probability=read.probability,
            confidence=read.confidence,
            citations=read.citations,
        )

    def _open(self, now: datetime | None = None) -> Session:
        return self._sessions.open(self.scope, now)


def _propose(
    before: PriorAnswer, after: PriorAnswer, reason: str
) -> NewLesson:
    """Return the lesson not to reuse answers of this task where this reason holds."""
    task, subject = after.task_type, after.subject
    condition = f"{task} about {subject} is asked again ({reason})"
    changed = f"the probability went from {before.probability} to {after.probability}"
    return NewLesson(
        claim=f"When {condition}: {changed}",
        condition=condition,
        action=f"research {task} about {subject} again",
        evidence=(before.id, after.id),
        proposed=True,
    )
