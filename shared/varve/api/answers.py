"""One agent's prior answers, as a person uses them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from varve.domain.errors import Rejected
from varve.domain.experience.answers import (
    DEFAULT_DAYS,
    PriorAnswer,
    Rerun,
    answer_from,
    answer_record,
    changed_materially,
    choose_evicted,
    find_analogous,
    should_rerun,
)
from varve.domain.identity import Scope
from varve.domain.record import MemoryType
from varve.usecases.experience.rows import year_of
from varve.verbs.experience import ExperienceVerbs

CountReads = Callable[[Sequence[str]], None]


@dataclass(frozen=True, slots=True)
class Researched:
    """What a research step came to; `proposal` is a lesson to look at where the answer has changed much."""

    answer: PriorAnswer
    reused: bool
    reason: str
    proposal: str | None = None


class AnswerBook:
    """Answers by subject, task type and time."""

    def __init__(
        self, verbs: ExperienceVerbs, scope: Scope, count_reads: CountReads
    ) -> None:
        self._verbs, self.scope, self._count_reads = verbs, scope, count_reads

    def all(self) -> list[PriorAnswer]:
        """Every answer, the oldest first."""
        history = self._verbs.history(self.scope)
        return [answer_from(row) for row in history.rows(MemoryType.PRIOR_ANSWER)]

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
        """Keep an answer; `given` are probability, confidence, citations, regime, conversation_id, user_id.

        Raises Rejected: a text is empty, or a number lies outside [0, 1].
        """
        at = self._verbs.parts.at(now)
        question, answer = (
            self._verbs.private(self.scope, text) for text in (question, answer)
        )
        kept = PriorAnswer(subject, task_type, question, answer, at, at, **given)
        for name in ("subject", "task_type", "question", "answer"):
            if not getattr(kept, name).strip():
                raise Rejected(name, "must not be empty")
        for name in ("probability", "confidence"):
            value = getattr(kept, name)
            if value is not None and not 0 <= value <= 1:
                raise Rejected(name, "must lie between 0 and 1")
        zone = self._verbs.parts.config(self.scope.workspace).zone
        self._verbs.write(self.scope, [answer_record(kept, year_of(at, zone))])
        return kept

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
        """Whether to ask again, and why; an answer that may be used counts as read."""
        named = (
            self._verbs.parts.config(self.scope.workspace).experience.material_signals
            or ""
        )
        material = frozenset(name.strip() for name in named.split(",") if name.strip())
        at = self._verbs.parts.at(now)
        verdict = should_rerun(
            self.all(),
            subject,
            task_type,
            at,
            days=days,
            signals=signals,
            material=material,
            regime=regime,
        )
        if not verdict.rerun and verdict.prior:
            self._count_reads([verdict.prior.id])
        return verdict

    def analogous(
        self, task_type: str, question: str, k: int = 5
    ) -> list[tuple[PriorAnswer, float]]:
        """Answers to similar questions across subjects, with their cosines."""
        embedder = self._verbs.parts.embedder(
            self._verbs.parts.config(self.scope.workspace)
        )
        found = find_analogous(self.all(), task_type, question, embedder.embed, k)
        self._count_reads([answer.id for answer, _ in found])
        return found

    def evict(
        self,
        *,
        by: Sequence[str] = ("age", "number", "unread"),
        dry_run: bool = True,
        now: datetime | None = None,
    ) -> dict[str, str]:
        """What goes and why, by any of age, number and unread; done unless `dry_run`."""
        if unknown := set(by) - {"age", "number", "unread"}:
            raise Rejected("by", f"{min(unknown)!r} is none of age, number, unread")
        reads = self._verbs.history(self.scope).reads
        gone = choose_evicted(self.all(), reads, self._verbs.parts.at(now), by=by)
        if not dry_run:
            self._verbs.delete(self.scope, list(gone))
        return gone

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
        """Reuse the prior answer, or call `research` with the analogous ones and keep what it returns.

        `research` returns a mapping with `answer` and, if it likes, probability, confidence, citations.
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
        if changed_materially(verdict.prior, new) and verdict.prior:
            before, after = verdict.prior.probability, new.probability
            proposal = (
                f"When {task_type} about {subject} is asked again ({verdict.reason}): the probability "
                f"went from {before} to {after}; do not rely on the prior answer"
            )
        return Researched(new, False, verdict.reason, proposal)
