"""Prior answers: results of earlier work, and whether they may be used again."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from operator import itemgetter
from typing import Any

from varve.domain.calendar import iso
from varve.domain.experience.alike import Embed, cosines
from varve.domain.experience.limits import AnswerLimits
from varve.domain.experience.results import Scalar, as_words, flatten
from varve.domain.experience.rows import ANSWER, as_text, normalize
from varve.domain.identity import digest
from varve.domain.record import MemoryType, Record

ENOUGH_CONFIDENCE = 0.55
MATERIAL_CHANGE = 0.25
DEFAULT_DAYS = 14
OTHER_REGIME = 0.5
"""The factor for an answer that was found under another regime."""
_FULL = 1.0

Key = tuple[str, str]
"""The subject and the task type of an answer."""


@dataclass(frozen=True, slots=True)
class PriorAnswer:
    """An answer with the time it was found; probability and confidence lie in [0, 1].

    `regime` and `signals` are those of that time, by dotted names; `confidence` is None if
    none was stated.
    """

    subject: str
    task_type: str
    question: str
    answer: str
    at: datetime
    created_at: datetime
    probability: float | None = None
    confidence: float | None = None
    citations: tuple[str, ...] = ()
    regime: Mapping[str, str] = field(default_factory=dict)
    signals: Mapping[str, Scalar] = field(default_factory=dict)
    conversation_id: str | None = None
    user_id: str | None = None

    @property
    def key(self) -> Key:
        """The subject and the task type, without case."""
        return answer_key(self.subject, self.task_type)

    @property
    def id(self) -> str:
        """The id, equal for the same answer at the same time."""
        said = (
            self.subject,
            self.task_type,
            self.question,
            self.answer,
            iso(self.at),
        )
        return ANSWER + digest(*said, length=24)


def answer_key(subject: str, task_type: str) -> Key:
    """Return the key of a subject and a task type; case and white space do not count."""
    return normalize(subject), normalize(task_type)


@dataclass(frozen=True, slots=True)
class Rerun:
    """Whether to ask again, and why; `prior` is the newest answer in the window, if any."""

    rerun: bool
    reason: str
    prior: PriorAnswer | None = None


def answer_record(answer: PriorAnswer, period: str) -> Record:
    """Return the row of an answer; a search finds it by its question."""
    details = {
        "taskType": answer.task_type,
        "answer": answer.answer,
        "probability": answer.probability,
        "regime": dict(answer.regime),
        "confidence": answer.confidence,
        "signals": dict(answer.signals),
    }
    confidence = answer.confidence
    if confidence is None:
        confidence = _FULL
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
        confidence=confidence,
        key_facts=as_text(details),
    )


def answer_from(record: Record) -> PriorAnswer:
    """Return the answer of a row; the inverse of `answer_record`."""
    details = json.loads(record.key_facts)
    return PriorAnswer(
        subject=record.about or "",
        task_type=details["taskType"],
        question=record.content,
        answer=details["answer"],
        at=record.event_time,
        created_at=record.created_at,
        probability=details["probability"],
        # Rows of an earlier format have the confidence in the record alone.
        confidence=details.get("confidence", record.confidence),
        citations=record.source_ids,
        regime=details["regime"],
        signals=details.get("signals", {}),
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
    regime: Mapping[str, Any] | None = None,
) -> Rerun:
    """Return whether to ask again, or to use the newest answer of the last `days` days.

    Asks again without such an answer, if a material signal differs from the answer's, if
    the regime differs, or if the answer's confidence is under 0.55. A signal that the
    answer does not know counts if it is set. An empty `material` makes every signal
    material. Signals and regime may be nested.
    """
    since = now - timedelta(days=days)
    prior = _newest(answers, answer_key(subject, task_type), since, now)
    if prior is None:
        return Rerun(True, f"no answer in the last {days} days")
    raised = _raised_signals(flatten(signals or {}), prior.signals, material)
    if raised:
        return Rerun(True, f"material signal: {', '.join(raised)}", prior)
    differing = _differing(flat_regime(regime or {}), prior.regime)
    if differing:
        return Rerun(True, f"another regime: {', '.join(differing)}", prior)
    if prior.confidence is None:
        reason = f"answered {iso(prior.at)} without a stated confidence"
        return Rerun(False, reason, prior)
    if prior.confidence < ENOUGH_CONFIDENCE:
        reason = (
            f"confidence {prior.confidence:.2f} is under {ENOUGH_CONFIDENCE}"
        )
        return Rerun(True, reason, prior)
    reason = f"answered {iso(prior.at)} with confidence {prior.confidence:.2f}"
    return Rerun(False, reason, prior)


def flat_regime(regime: Mapping[str, Any]) -> dict[str, str]:
    """Return a regime by dotted names, its values as text."""
    return {name: as_words(value) for name, value in flatten(regime).items()}


def _newest(
    answers: Sequence[PriorAnswer],
    key: Key,
    since: datetime,
    until: datetime,
) -> PriorAnswer | None:
    """Return the newest answer to (subject, task type) in a span of time, if any."""
    same = [answer for answer in answers if answer.key == key]
    recent = [answer for answer in same if since <= answer.at <= until]
    return max(recent, key=lambda answer: (answer.at, answer.id), default=None)


def _differing(
    wanted: Mapping[str, str], known: Mapping[str, str]
) -> list[str]:
    """Return the names, sorted, whose values differ or that only one regime has."""
    names = sorted({*wanted, *known})
    return [name for name in names if wanted.get(name) != known.get(name)]


def _raised_signals(
    signals: Mapping[str, Scalar],
    known: Mapping[str, Scalar],
    material: frozenset[str],
) -> list[str]:
    """Return the names, sorted, of the material signals that are news to an answer.

    A material name holds for the signals below it: `rates` for `rates.us`.
    """
    raised: list[str] = []
    for name, value in sorted(signals.items()):
        is_news = bool(value)
        if name in known:
            is_news = value != known[name]
        is_material = not material or _is_material(name, material)
        if is_news and is_material:
            raised.append(name)
    return raised


def _is_material(name: str, material: frozenset[str]) -> bool:
    parts = name.split(".")
    paths = {".".join(parts[:end]) for end in range(1, len(parts) + 1)}
    return not material.isdisjoint(paths)


def find_analogous(
    answers: Sequence[PriorAnswer],
    task_type: str,
    question: str,
    embed: Embed,
    k: int,
    regime: Mapping[str, str] | None = None,
) -> list[tuple[PriorAnswer, float]]:
    """Return the answers to the `k` most similar questions of a task type, with cosines.

    The cosine of an answer that was found under another `regime` counts half. Of
    each subject only the nearest answer is returned.
    """
    wanted = normalize(task_type)
    same_task = [one for one in answers if normalize(one.task_type) == wanted]
    if not same_task:
        return []
    newest_first = sorted(same_task, key=_newest_first)
    questions = [answer.question for answer in newest_first]
    likeness = cosines(question, questions, embed)
    pairs: list[tuple[PriorAnswer, float]] = []
    for answer, cosine in zip(newest_first, likeness, strict=True):
        differs = regime is not None and bool(
            _differing(regime, answer.regime)
        )
        pairs.append((answer, cosine * (OTHER_REGIME if differs else 1.0)))
    pairs.sort(key=itemgetter(1), reverse=True)
    nearest: dict[str, tuple[PriorAnswer, float]] = {}
    for answer, cosine in pairs:
        subject, _ = answer.key
        nearest.setdefault(subject, (answer, cosine))
    return list(nearest.values())[:k]


def _newest_first(answer: PriorAnswer) -> tuple[float, str]:
    return -answer.at.timestamp(), answer.id


def changed_materially(prior: PriorAnswer | None, new: PriorAnswer) -> bool:
    """Return whether a result differs from the prior by more than 0.25 in probability."""
    if prior is None or prior.probability is None or new.probability is None:
        return False
    return abs(prior.probability - new.probability) > MATERIAL_CHANGE


def choose_evicted(
    answers: Sequence[PriorAnswer],
    reads: Mapping[str, tuple[int, datetime]],
    now: datetime,
    limits: AnswerLimits,
    *,
    by: Sequence[str] = ("age", "number", "unread"),
) -> dict[str, str]:
    """Return the ids of answers to delete, each with its reason.

    An answer goes by age, for never being read, or if its subject and task type have too
    many newer ones.
    """
    evicted: dict[str, str] = {}
    kept: Counter[Key] = Counter()
    for answer in sorted(answers, key=_newest_first):
        age = now - answer.at
        unread = answer.id not in reads
        if "age" in by and age > limits.oldest:
            evicted[answer.id] = f"older than {limits.oldest.days} days"
        elif "unread" in by and unread and age > limits.unread_for:
            evicted[answer.id] = f"never read in {limits.unread_for.days} days"
        elif "number" in by and kept[answer.key] >= limits.most_per_key:
            reason = (
                f"more than {limits.most_per_key} of its subject and task type"
            )
            evicted[answer.id] = reason
        else:
            kept[answer.key] += 1
    return evicted
