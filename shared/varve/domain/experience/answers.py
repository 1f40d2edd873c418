"""Prior answers: what was found out before, and whether it may still be used."""

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from varve.domain.calendar import iso
from varve.domain.experience.rows import as_text
from varve.domain.identity import digest
from varve.domain.record import MemoryType, Record, Vector

ENOUGH_CONFIDENCE = 0.55
MATERIAL_CHANGE = 0.25
DEFAULT_DAYS = 14
OLDEST, MOST_PER_KEY, UNREAD_FOR = timedelta(days=180), 20, timedelta(days=30)


@dataclass(frozen=True, slots=True)
class PriorAnswer:
    """An answer with the time it was found; probability and confidence lie in [0, 1]."""

    subject: str
    task_type: str
    question: str
    answer: str
    at: datetime
    created_at: datetime
    probability: float | None = None
    confidence: float = 1.0
    citations: tuple[str, ...] = ()
    regime: Mapping[str, str] = field(default_factory=dict)
    conversation_id: str | None = None
    user_id: str | None = None

    @property
    def id(self) -> str:
        """The same answer at the same time is the same record."""
        said = (self.subject, self.task_type, self.question, self.answer, iso(self.at))
        return "answer-" + digest(*said, length=24)


@dataclass(frozen=True, slots=True)
class Rerun:
    """Whether to ask again, and why; `prior` is the newest answer in the window, if any."""

    rerun: bool
    reason: str
    prior: PriorAnswer | None = None


def answer_record(answer: PriorAnswer, period: str) -> Record:
    """The row of an answer; a search finds it by its question."""
    details = {
        "taskType": answer.task_type,
        "answer": answer.answer,
        "probability": answer.probability,
        "regime": dict(answer.regime),
    }
    return Record(
        id=answer.id,
        memory_type=MemoryType.PRIOR_ANSWER,
        content=answer.question,
        period=period,
        event_time=answer.at,
        created_at=answer.created_at,
        source_ids=answer.citations,
        conversation_id=answer.conversation_id,
        user_id=answer.user_id,
        about=answer.subject,
        confidence=answer.confidence,
        key_facts=as_text(details),
    )


def answer_from(record: Record) -> PriorAnswer:
    """The inverse of `answer_record`."""
    details = json.loads(record.key_facts)
    return PriorAnswer(
        subject=record.about or "",
        task_type=details["taskType"],
        question=record.content,
        answer=details["answer"],
        at=record.event_time,
        created_at=record.created_at,
        probability=details["probability"],
        confidence=record.confidence,
        citations=record.source_ids,
        regime=details["regime"],
        conversation_id=record.conversation_id,
        user_id=record.user_id,
    )


def should_rerun(
    answers: Sequence[PriorAnswer],
    subject: str,
    task_type: str,
    now: datetime,
    *,
    days: int = DEFAULT_DAYS,
    signals: Mapping[str, Any] | None = None,
    material: frozenset[str] = frozenset(),
    regime: Mapping[str, str] | None = None,
) -> Rerun:
    """Whether the newest answer of the last `days` days may be used again.

    Not when there is none, when one of the signals is material and set (all are, where no names are
    configured), when the regime is another, or when its confidence is under 0.55.
    """
    recent = [
        a
        for a in answers
        if (a.subject, a.task_type) == (subject, task_type)
        and now - timedelta(days=days) <= a.at <= now
    ]
    if not recent:
        return Rerun(True, f"no answer in the last {days} days")
    prior = max(recent, key=lambda answer: (answer.at, answer.id))
    raised = [
        n
        for n, v in sorted((signals or {}).items())
        if v and (not material or n in material)
    ]
    if raised:
        return Rerun(True, f"material signal: {', '.join(raised)}", prior)
    differing = [
        name
        for name, value in sorted((regime or {}).items())
        if prior.regime.get(name) != value
    ]
    if differing:
        return Rerun(True, f"another regime: {', '.join(differing)}", prior)
    if prior.confidence < ENOUGH_CONFIDENCE:
        return Rerun(
            True,
            f"confidence {prior.confidence:.2f} is under {ENOUGH_CONFIDENCE}",
            prior,
        )
    return Rerun(
        False, f"answered {iso(prior.at)} with confidence {prior.confidence:.2f}", prior
    )


def analogous(
    answers: Sequence[PriorAnswer],
    task_type: str,
    question: str,
    embed: Callable[[Sequence[str]], Sequence[Vector]],
    k: int,
) -> list[tuple[PriorAnswer, float]]:
    """The answers to the task type's most similar questions, of each subject the nearest, with cosines."""
    asked = [answer for answer in answers if answer.task_type == task_type]
    if not asked:
        return []
    vector, *others = embed([question, *(answer.question for answer in asked)])
    near = [
        (answer, float(np.dot(vector, other)))
        for answer, other in zip(asked, others, strict=True)
    ]
    near.sort(key=lambda pair: (-pair[1], -pair[0].at.timestamp(), pair[0].id))
    best: dict[str, tuple[PriorAnswer, float]] = {}
    for answer, cosine in near:
        best.setdefault(answer.subject, (answer, cosine))
    return list(best.values())[:k]


def changed_materially(prior: PriorAnswer | None, new: PriorAnswer) -> bool:
    """Whether a new result differs from the prior by more than 0.25 in probability."""
    if prior is None or prior.probability is None or new.probability is None:
        return False
    return abs(prior.probability - new.probability) > MATERIAL_CHANGE


def evicted(
    answers: Sequence[PriorAnswer],
    reads: Mapping[str, tuple[int, datetime]],
    now: datetime,
    *,
    by: Sequence[str] = ("age", "number", "unread"),
) -> dict[str, str]:
    """The ids that go, each with its reason: by age, by number per subject and task, by never being read."""
    gone: dict[str, str] = {}
    kept: defaultdict[tuple[str, str], int] = defaultdict(int)
    for answer in sorted(answers, key=lambda a: (-a.at.timestamp(), a.id)):
        key = (answer.subject, answer.task_type)
        if "age" in by and now - answer.at > OLDEST:
            gone[answer.id] = f"older than {OLDEST.days} days"
        elif "unread" in by and answer.id not in reads and now - answer.at > UNREAD_FOR:
            gone[answer.id] = f"never read in {UNREAD_FOR.days} days"
        elif "number" in by and kept[key] >= MOST_PER_KEY:
            gone[answer.id] = f"more than {MOST_PER_KEY} of its subject and task type"
        else:
            kept[key] += 1
    return gone
