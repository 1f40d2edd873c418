"""Prior answers: kept by subject, task type and time, and used again while they hold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from varve.domain.errors import Rejected
from varve.domain.experience.answers import (
    PriorAnswer,
    Rerun,
    answer_from,
    answer_record,
    choose_evicted,
    find_analogous,
    flat_regime,
    should_rerun,
)
from varve.domain.experience.results import Scalar, flatten
from varve.domain.record import MemoryType
from varve.domain.validation import check_words
from varve.usecases.experience.rows import (
    delete_rows,
    read_past,
    send_rows,
    year_of,
)
from varve.usecases.session import Session

EVICTION_REASONS = ("age", "number", "unread")


@dataclass(frozen=True, slots=True)
class RerunRequest:
    """A question that has a prior answer, with the signals and regime of the present."""

    subject: str
    task_type: str
    days: int
    signals: Mapping[str, Any] | None = None
    regime: Mapping[str, Any] | None = None


def read_answers(session: Session) -> list[PriorAnswer]:
    """Return every answer, the oldest first."""
    rows = read_past(session).rows(MemoryType.PRIOR_ANSWER)
    return [answer_from(row) for row in rows]


def remember_answer(session: Session, answer: PriorAnswer) -> PriorAnswer:
    """Send an answer to the writer, filtered; return it as kept.

    Raises Rejected: a text is empty, or a number lies outside [0, 1].
    """
    private = session.privacy
    kept = replace(
        answer,
        subject=private(answer.subject),
        task_type=private(answer.task_type),
        question=private(answer.question),
        answer=private(answer.answer),
        citations=tuple(map(private, answer.citations)),
        regime=_filter_regime(session, answer.regime),
        signals=_filter_signals(session, answer.signals),
    )
    check_words(
        subject=kept.subject,
        task_type=kept.task_type,
        question=kept.question,
        answer=kept.answer,
    )
    for name in ("probability", "confidence"):
        value = getattr(kept, name)
        if value is not None and not 0 <= value <= 1:
            raise Rejected(name, "must lie between 0 and 1")
    send_rows(session, [answer_record(kept, year_of(kept.at, session.zone))])
    return kept


def _filter_regime(
    session: Session, regime: Mapping[str, str]
) -> dict[str, str]:
    private = session.privacy
    return {private(name): private(value) for name, value in regime.items()}


def _filter_signals(
    session: Session, signals: Mapping[str, Scalar]
) -> dict[str, Scalar]:
    """Return signals with their names and texts filtered."""
    private = session.privacy
    filtered: dict[str, Scalar] = {}
    for name, value in signals.items():
        kept = private(value) if isinstance(value, str) else value
        filtered[private(name)] = kept
    return filtered


def judge_rerun(session: Session, request: RerunRequest) -> Rerun:
    """Decide whether to ask again, and say why."""
    named = session.config.experience.material_signals or ""
    material = frozenset(
        name.strip() for name in named.split(",") if name.strip()
    )
    signals = _filter_signals(session, flatten(request.signals or {}))
    regime = _filter_regime(session, flat_regime(request.regime or {}))
    return should_rerun(
        read_answers(session),
        session.privacy(request.subject),
        session.privacy(request.task_type),
        session.now,
        days=request.days,
        signals=signals,
        material=material,
        regime=regime,
    )


def find_analogous_answers(
    session: Session,
    task_type: str,
    question: str,
    limit: int,
    regime: Mapping[str, Any] | None = None,
) -> list[tuple[PriorAnswer, float]]:
    """Return answers to similar questions across subjects, with their cosines.

    Those of another regime count half.
    """
    known = read_answers(session)
    sort, words = session.privacy(task_type), session.privacy(question)
    now = None
    if regime is not None:
        now = _filter_regime(session, flat_regime(regime))
    embed = session.embedder.embed
    return find_analogous(known, sort, words, embed, limit, now)


def evict_answers(
    session: Session, by: Sequence[str], *, dry_run: bool
) -> dict[str, str]:
    """Delete answers by age, number or disuse; return the reason for each.

    With `dry_run` nothing is deleted. Raises Rejected: `by` names another reason.
    """
    unknown = set(by) - set(EVICTION_REASONS)
    if unknown:
        raise Rejected(
            "by", f"{min(unknown)!r} is none of age, number, unread"
        )
    past = read_past(session)
    limits = session.config.experience.answer_limits
    answers = [answer_from(row) for row in past.rows(MemoryType.PRIOR_ANSWER)]
    gone = choose_evicted(answers, past.reads, session.now, limits, by=by)
    if not dry_run:
        delete_rows(session, list(gone))
    return gone
