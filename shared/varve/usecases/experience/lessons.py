"""Lessons: written by hand or generalized from episodes, curated, worded, retired."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from varve.domain.calendar import Grain, Period, iso
from varve.domain.damage import intact
from varve.domain.errors import Misconfigured, Rejected
from varve.domain.experience import curation
from varve.domain.experience.curation import next_stale
from varve.domain.experience.generalizing import explain_vagueness
from varve.domain.experience.history import History
from varve.domain.experience.lessons import Lesson, derive_lessons
from varve.domain.experience.rows import (
    GENERALIZED,
    PROPOSED,
    STATED,
    LessonVersion,
    lesson_id,
    lesson_record,
    union,
)
from varve.domain.ledger import LedgerChanges, curation_key, expiry_key
from varve.domain.record import MemoryType, Record, Store
from varve.domain.retention import expires_at
from varve.domain.validation import check_words
from varve.ports.meter import doing
from varve.usecases.experience.judging import word_lesson
from varve.usecases.experience.rows import read_past, send_rows, year_of
from varve.usecases.session import Session

MAX_REWORDED = 20
"""Lessons that one call asks the model about."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """A set of predictions with known outcomes: its name, its range of time, its size."""

    name: str
    range: str
    n: int


@dataclass(frozen=True, slots=True)
class NewLesson:
    """A lesson written by hand or proposed: when `condition` holds, do `action`.

    `evidence` are ids of episodes and prior answers; it may be empty. `calibration` names
    the predictions that the lesson was checked on. `proposed` if a research step wrote it.
    """

    claim: str
    condition: str
    action: str
    evidence: Sequence[str] = ()
    state: str | None = None
    tags: Sequence[str] = ()
    calibration: Calibration | None = None
    proposed: bool = False

    @property
    def origin(self) -> str:
        """The origin of the version that it becomes."""
        if self.proposed:
            return PROPOSED
        has_evidence = self.evidence or self.calibration
        return "hand" if has_evidence else STATED


def read_lessons(session: Session) -> list[Lesson]:
    """Return every lesson, retired ones too, the most trustworthy first."""
    return derive_lessons(read_past(session), session.embedder.embed)


def find_lesson(session: Session, id_: str) -> Lesson:
    """Return one lesson. Raises Rejected: there is none of this id."""
    for lesson in read_lessons(session):
        if lesson.id == id_:
            return lesson
    raise Rejected(
        "lesson", f"there is no lesson {id_[:60]!r} in {session.scope}"
    )


def add_lesson(session: Session, new: NewLesson) -> str:
    """Write a lesson, or revise the one with the same action and state; return its id.

    Raises Rejected: it is vague, or cites an id that is neither an episode's nor a prior answer's.
    """
    check_words(claim=new.claim)
    claim = session.privacy(new.claim)
    condition = session.privacy(new.condition)
    action = session.privacy(new.action)
    state = new.state and session.privacy(new.state)
    if vague := explain_vagueness(condition, action):
        raise Rejected(*vague)
    cited = _find_evidence(new.evidence, read_past(session))
    users = union((one.user_id,) for one in cited if one.user_id)
    conversations = ((c.conversation_id,) for c in cited if c.conversation_id)
    version = LessonVersion(
        lesson_id=lesson_id(state, action),
        claim=claim,
        condition=condition,
        action=action,
        at=session.now,
        created_at=session.now,
        origin=new.origin,
        state=state,
        tags=tuple(sorted(map(session.privacy, new.tags))),
        supporting=tuple(sorted(new.evidence)),
        conversation_ids=union(conversations),
        user_ids=users,
        calibration=_tell_calibration(session, new.calibration),
    )
    _write_versions(session, [version])
    return version.lesson_id


def retire_lesson(session: Session, id_: str, reason: str = "") -> None:
    """Stop offering a lesson; its versions stay. Raises Rejected: there is no such lesson."""
    lesson = find_lesson(session, id_)
    version = replace(
        lesson.versions[-1],
        at=session.now,
        created_at=session.now,
        origin="retirement",
        active=False,
        reason=session.privacy(reason),
    )
    _write_versions(session, [version])


@doing("curate")
def curate_lessons(session: Session, *, apply: bool = False) -> dict[str, Any]:
    """Report conflicting, duplicate and stale lessons; with `apply` merge duplicates.

    It also writes the lessons generalized so far, so that they outlive their episodes.
    """
    history = read_past(session)
    known = derive_lessons(history, session.embedder.embed)
    report = curation.curate(known, session.now)
    written = {version.id for version in history.lesson_versions}
    kept = curation.unwritten_versions(known, written)
    merges = (
        curation.merge_duplicates(report, known, session.now) if apply else []
    )
    _write_versions(session, [*kept, *merges])
    found = {
        "at": iso(session.now),
        **report.to_dict(),
        "kept": len(kept),
        "applied": apply,
    }
    session.objects.put(
        curation_key(session.scope), json.dumps(found).encode()
    )
    return found


@doing("curate")
def curate_agent(session: Session, months: Sequence[str]) -> None:
    """Curate an agent's lessons for the monthly schedule, and note when to do it again.

    `months` are the ledger's notes that called for it.
    """
    session.ledger.settle_lessons(session.scope, months)
    with session:
        curate_lessons(session)
    again = next_stale(read_lessons(session), session.now)
    if again is not None:
        # Passes run at the beginning of a month. The 28th plus four days is in the next.
        next_month = again.replace(day=28) + timedelta(days=4)
        session.ledger.note_lessons(session.scope, next_month)
    _note_expiry(session)


def reword_lessons(session: Session, *, apply: bool = False) -> dict[str, Any]:
    """Propose a model's words for derived lessons; `apply` writes them.

    Words that say too little are refused. Raises Misconfigured: no model; Retryable.
    """
    llm = session.llm
    if llm is None:
        raise Misconfigured(
            "VARVE_LLM: names the model that words lessons, and is not set"
        )
    history = read_past(session)
    proposed: list[LessonVersion] = []
    refused: list[dict[str, str]] = []
    for lesson in _find_generalized(session, history)[:MAX_REWORDED]:
        known = history.by_id
        evidence = [known[id_] for id_ in lesson.supporting if id_ in known]
        try:
            proposed.append(word_lesson(lesson, evidence, session.now, llm))
        except Rejected as error:
            refused.append({"lesson": lesson.id, "reason": error.reason})
    if apply:
        _write_versions(session, proposed)
    shown = [
        {
            "lesson": one.lesson_id,
            "condition": one.condition,
            "claim": one.claim,
        }
        for one in proposed
    ]
    return {"proposed": shown, "refused": refused, "applied": apply}


def read_last_curation(session: Session) -> dict[str, Any] | None:
    """Return the report of the last curation; None: there was none. Raises Damaged."""
    key = curation_key(session.scope)
    stored = session.objects.get(key)
    if stored is None:
        return None
    with intact(key):
        return dict(json.loads(stored.data))


def build_lesson_block(
    session: Session, situation: str | None = None, tags: Sequence[str] = ()
) -> str:
    """Return the `<learned_patterns>` block for a prompt; empty without lessons."""
    offered = curation.select_lessons(
        read_lessons(session),
        session.config.experience.block_lessons,
        session.embedder.embed,
        situation=situation,
        tags=tuple(map(session.privacy, tags)),
    )
    return curation.block(offered)


def _find_generalized(session: Session, history: History) -> list[Lesson]:
    lessons = derive_lessons(history, session.embedder.embed)
    active = [one for one in lessons if one.active]
    return [one for one in active if one.versions[-1].origin == GENERALIZED]


def _find_evidence(ids: Sequence[str], history: History) -> list[Record]:
    """Return the rows of the cited episodes and prior answers."""
    kinds = (MemoryType.EPISODE, MemoryType.PRIOR_ANSWER)
    rows = {
        row.id: row for row in history.all_rows if row.memory_type in kinds
    }
    for id_ in ids:
        if id_ not in rows:
            reason = f"there is no episode or prior answer {id_[:60]!r}"
            raise Rejected("evidence", reason)
    return [rows[id_] for id_ in ids]


def _tell_calibration(
    session: Session, calibration: Calibration | None
) -> str:
    """Return a calibration set as text, filtered; "" for none."""
    if calibration is None:
        return ""
    if calibration.n < 1:
        raise Rejected("calibration", "n must be 1 or more")
    name = session.privacy(calibration.name)
    return f"{name}, {calibration.range}, n={calibration.n}"


def _write_versions(
    session: Session, versions: Sequence[LessonVersion]
) -> None:
    for version in versions:
        record = lesson_record(version, year_of(version.at, session.zone))
        send_rows(session, [record])


def _note_expiry(session: Session) -> None:
    """Note when an agent's experience expires: no summary may exist that notes it."""
    limit = session.config.limit(Grain.YEARLY)
    labels = session.records.periods(session.scope, Store.EXPERIENCE)
    years = [Period(Grain.YEARLY, label) for label in labels]
    notes = tuple(
        expiry_key(
            expires_at(year, limit, session.zone), session.scope, Grain.YEARLY
        )
        for year in years
    )
    session.ledger.change(LedgerChanges(expiries=notes))
