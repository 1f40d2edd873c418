"""The rows of the experience store, each with an id derived from its content.

Rows are only added. Every read folds episodes with their reports, and lessons with their
versions, so rows may arrive in any order and any number of times. A row's details are JSON
in `key_facts`.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from typing import Any

from varve.domain.calendar import iso, parse_instant
from varve.domain.experience.outcomes import Outcome, Verdict
from varve.domain.identity import digest
from varve.domain.record import MemoryType, Record

_ID = 24
_EPISODE = "episode-"
ANSWER = "answer-"
"""The beginning of a prior answer's id."""


@dataclass(frozen=True, slots=True)
class Episode:
    """A span of messages in the timeline, with the facts read from them.

    `why` is the reason for the cut before it; `regime` is a small mapping that the caller
    sets; `signals` are those of its first and its last message. `summary` tells its outcome,
    decisions, corrections and dates in at most 200 tokens.
    """

    id: str
    conversation_id: str
    message_ids: tuple[str, ...]
    began: datetime
    ended: datetime
    situation: str
    why: str
    verdict: Verdict
    created_at: datetime
    state: str | None = None
    user_id: str | None = None
    subject: str | None = None
    task_type: str | None = None
    decisions: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    corrections: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    regime: Mapping[str, str] = field(default_factory=dict)
    importance: float = 0.5
    signals: tuple[str | None, str | None] = (None, None)
    summary: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """A stated outcome of an episode, or of a conversation's last episode.

    `decision` is the action taken, `resolution` the action that would have been right,
    `used` the ids of the episodes and lessons consulted before the decision.
    """

    target: str
    outcome: Outcome
    at: datetime
    created_at: datetime
    correction: str | None = None
    decision: str | None = None
    resolution: str | None = None
    used: tuple[str, ...] = ()
    user_id: str | None = None
    conversation_id: str | None = None

    @property
    def id(self) -> str:
        """The id, equal for the same statement at the same time."""
        about = (self.target, self.outcome, iso(self.at))
        said = (
            self.correction or "",
            self.decision or "",
            self.resolution or "",
        )
        used = sorted(self.used)
        return "outcome-" + digest(*about, *said, *used, length=_ID)

    @property
    def names_episode(self) -> bool:
        """Whether the target is an episode, not a conversation."""
        return self.target.startswith(_EPISODE)


GENERALIZED = "generalized"
"""The origin of a version that a rule derived from the evidence."""
WORDED = "worded"
"""The origin of a version that a model worded from the evidence."""
STATED = "stated"
"""The origin of a version that a person wrote without evidence."""
PROPOSED = "proposed"
"""The origin of a version that a research step proposed from its answers."""
RETIREMENT = "retirement"
"""The origin of a version that retires a lesson."""


@dataclass(frozen=True, slots=True)
class LessonVersion:
    """One version of a lesson, written by a person or by `curate`.

    A version with `active` False retires the lesson. `supporting` are ids of episodes and
    prior answers. `calibration` names a set of predictions: its name, range and size.
    """

    lesson_id: str
    claim: str
    condition: str
    action: str
    at: datetime
    created_at: datetime
    origin: str = "hand"
    state: str | None = None
    tags: tuple[str, ...] = ()
    supporting: tuple[str, ...] = ()
    contradicting: tuple[str, ...] = ()
    active: bool = True
    reason: str = ""
    conversation_ids: tuple[str, ...] = ()
    user_ids: tuple[str, ...] = ()
    calibration: str = ""

    @property
    def id(self) -> str:
        """The id, from the whole content, so that no version replaces another."""
        words = (self.claim, self.condition, self.action)
        said = (*words, self.origin, self.state or "", self.reason)
        evidence = (*sorted(self.supporting), "-", *sorted(self.contradicting))
        when = (iso(self.at), str(self.active), *self.tags)
        if self.calibration:
            when = (*when, self.calibration)
        return "lessonversion-" + digest(
            self.lesson_id, *said, *when, *evidence, length=_ID
        )


def episode_id(conversation_id: str, first_message_id: str) -> str:
    """Return an episode's id, from its first message: it stays the same as it grows."""
    return _EPISODE + digest(conversation_id, first_message_id, length=_ID)


def is_answer(id_: str) -> bool:
    """Return whether an id is that of a prior answer."""
    return id_.startswith(ANSWER)


def lesson_id(state: str | None, action: str) -> str:
    """Return a lesson's id: one for the same action in the same state."""
    folded = (state or "").casefold()
    return "lesson-" + digest(folded, normalize(action), length=_ID)


def episode_record(episode: Episode, period: str) -> Record:
    """Return the row of an episode; a longer episode replaces a shorter one of its id."""
    verdict = episode.verdict
    details = {
        "ended": iso(episode.ended),
        "why": episode.why,
        "outcome": [verdict.outcome, verdict.source, verdict.because],
        "state": episode.state,
        "taskType": episode.task_type,
        "decisions": list(episode.decisions),
        "assumptions": list(episode.assumptions),
        "corrections": list(episode.corrections),
        "regime": dict(episode.regime),
        "signals": list(episode.signals),
        "summary": episode.summary,
    }
    return Record(
        id=episode.id,
        memory_type=MemoryType.EPISODE,
        content=episode.situation,
        period=period,
        event_time=episode.began,
        created_at=episode.created_at,
        source_ids=episode.message_ids,
        conversation_id=episode.conversation_id,
        user_id=episode.user_id,
        about=episode.subject,
        importance=episode.importance,
        position=len(episode.message_ids),
        topics=episode.tags,
        key_facts=as_text(details),
    )


def episode_from(record: Record) -> Episode:
    """Return the episode of a row; the inverse of `episode_record`."""
    details = json.loads(record.key_facts)
    outcome, source, because = details["outcome"]
    first, last = details.get("signals") or (None, None)
    return Episode(
        id=record.id,
        conversation_id=record.conversation_id or "",
        message_ids=record.source_ids,
        began=record.event_time,
        ended=parse_instant(details["ended"]),
        situation=record.content,
        why=details["why"],
        verdict=Verdict(Outcome(outcome), source, because),
        created_at=record.created_at,
        state=details["state"],
        user_id=record.user_id,
        subject=record.about,
        task_type=details["taskType"],
        decisions=tuple(details["decisions"]),
        assumptions=tuple(details["assumptions"]),
        corrections=tuple(details["corrections"]),
        tags=record.topics,
        regime=details["regime"],
        importance=record.importance,
        signals=(first, last),
        summary=details.get("summary", ""),
    )


def report_record(report: Report, period: str) -> Record:
    """Return the row of a report; a search finds it by its content."""
    said = [
        f"{report.target}: {report.outcome}",
        report.resolution or "",
        report.correction or "",
    ]
    details = {
        "outcome": str(report.outcome),
        "correction": report.correction,
        "decision": report.decision,
        "resolution": report.resolution,
    }
    return Record(
        id=report.id,
        memory_type=MemoryType.OUTCOME,
        content=". ".join(part for part in said if part),
        period=period,
        event_time=report.at,
        created_at=report.created_at,
        source_ids=report.used,
        conversation_id=report.conversation_id,
        user_id=report.user_id,
        about=report.target,
        key_facts=as_text(details),
    )


def report_from(record: Record) -> Report:
    """Return the report of a row; the inverse of `report_record`."""
    details = json.loads(record.key_facts)
    return Report(
        target=record.about or "",
        outcome=Outcome(details["outcome"]),
        at=record.event_time,
        created_at=record.created_at,
        correction=details["correction"],
        decision=details["decision"],
        resolution=details["resolution"],
        used=record.source_ids,
        user_id=record.user_id,
        conversation_id=record.conversation_id,
    )


def lesson_record(version: LessonVersion, period: str) -> Record:
    """Return the row of one version."""
    details = {
        "condition": version.condition,
        "action": version.action,
        "origin": version.origin,
        "state": version.state,
        "contradicting": list(version.contradicting),
        "active": version.active,
        "reason": version.reason,
        "conversationIds": list(version.conversation_ids),
        "userIds": list(version.user_ids),
        "calibration": version.calibration,
    }
    return Record(
        id=version.id,
        memory_type=MemoryType.LESSON,
        content=version.claim,
        period=period,
        event_time=version.at,
        created_at=version.created_at,
        source_ids=version.supporting,
        about=version.lesson_id,
        topics=version.tags,
        key_facts=as_text(details),
    )


def lesson_from(record: Record) -> LessonVersion:
    """Return the version of a row; the inverse of `lesson_record`."""
    details = json.loads(record.key_facts)
    return LessonVersion(
        lesson_id=record.about or "",
        claim=record.content,
        condition=details["condition"],
        action=details["action"],
        at=record.event_time,
        created_at=record.created_at,
        origin=details["origin"],
        state=details["state"],
        tags=record.topics,
        supporting=record.source_ids,
        contradicting=tuple(details["contradicting"]),
        active=details["active"],
        reason=details["reason"],
        conversation_ids=tuple(details["conversationIds"]),
        user_ids=tuple(details["userIds"]),
        calibration=details.get("calibration", ""),
    )


def normalize(text: str | None) -> str:
    """Return a text in lower case with single spaces, for comparison."""
    return " ".join((text or "").casefold().split())


def union(groups: Iterable[Iterable[str]]) -> tuple[str, ...]:
    """Return the distinct members of all groups, sorted."""
    return tuple(sorted(set(chain.from_iterable(groups))))


def of_type(rows: Sequence[Record], kind: MemoryType) -> list[Record]:
    """Return the rows of one memory type, ordered by event time and id."""
    found = [row for row in rows if row.memory_type is kind]
    return sorted(found, key=lambda row: (row.event_time, row.id))


def as_text(details: Mapping[str, Any]) -> str:
    """Return a row's details as JSON with sorted keys."""
    return json.dumps(details, ensure_ascii=False, sort_keys=True)
