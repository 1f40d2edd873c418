"""A librarian's look at the lessons: conflicts, duplicates, stale ones, merges; and the ways to show them."""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import combinations
from typing import Any

import numpy as np

from varve.domain.block import PATTERNS_CLOSING as ENDING
from varve.domain.block import PATTERNS_OPENING as OPENING
from varve.domain.block import as_data
from varve.domain.experience.lessons import Lesson
from varve.domain.experience.recall import Embed
from varve.domain.experience.rows import LessonVersion
from varve.domain.experience.words import content_words

ALIKE = 0.6
"""The share of their conditions' words that two lessons have in common from which they are compared."""
STALE_AFTER = timedelta(days=180)


@dataclass(frozen=True, slots=True)
class Curation:
    """Pairs of lessons that say different things of one situation, or the same twice, and old ones."""

    conflicts: tuple[tuple[str, str], ...]
    duplicates: tuple[tuple[str, str], ...]
    stale: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """As JSON values; of a proposed merge the first stays."""
        return {
            "conflicts": [list(pair) for pair in self.conflicts],
            "duplicates": [list(pair) for pair in self.duplicates],
            "stale": list(self.stale),
            "merges": [
                {"keep": keep, "retire": retire} for keep, retire in self.duplicates
            ],
        }


def curate(lessons: Sequence[Lesson], now: datetime) -> Curation:
    """What a person should look at; nothing is changed. Of a pair the one more to be trusted comes first."""
    active = [lesson for lesson in lessons if lesson.active]
    conflicts: list[tuple[str, str]] = []
    duplicates: list[tuple[str, str]] = []
    for one, other in combinations(active, 2):
        if one.state != other.state or _overlap(one.condition, other.condition) < ALIKE:
            continue
        same = _overlap(one.action, other.action) >= ALIKE
        (duplicates if same else conflicts).append((one.id, other.id))
    stale = tuple(
        lesson.id for lesson in active if now - lesson.versions[-1].at > STALE_AFTER
    )
    return Curation(tuple(conflicts), tuple(duplicates), stale)


def next_stale(lessons: Sequence[Lesson], now: datetime) -> datetime | None:
    """When the next active lesson that is not stale yet will be, if there is one."""
    ends = (lesson.versions[-1].at + STALE_AFTER for lesson in lessons if lesson.active)
    return min((end for end in ends if end >= now), default=None)


def merges(
    report: Curation, lessons: Sequence[Lesson], now: datetime
) -> Iterator[LessonVersion]:
    """What a confirmed merge writes: one lesson takes over the evidence, the other is retired."""
    by_id = {lesson.id: lesson for lesson in lessons}
    retired: set[str] = set()
    for keep, retire in report.duplicates:
        if retired & {keep, retire}:
            continue
        kept, gone = by_id[keep], by_id[retire]
        yield _version(
            kept, now, "merge", f"merged with {gone.id}", (kept, gone), active=True
        )
        yield _version(
            gone, now, "retirement", f"merged into {kept.id}", (gone,), active=False
        )
        retired.add(retire)


def unwritten(lessons: Sequence[Lesson], written: Set[str]) -> list[LessonVersion]:
    """The newest generalized versions that no row holds yet."""
    found = []
    for lesson in lessons:
        derived = [v for v in lesson.versions if v.origin == "generalized"]
        if derived and lesson.active and derived[-1].id not in written:
            found.append(derived[-1])
    return found


def markdown(lessons: Sequence[Lesson]) -> str:
    """For review: every lesson with its evidence, confidence and history."""
    lines = ["# Lessons", ""]
    for lesson in lessons:
        lines += [
            f"## {lesson.claim}",
            "",
            f"- id: `{lesson.id}`, version {lesson.version}, {lesson.standing}"
            + (f" ({lesson.reason})" if lesson.reason else ""),
            f"- when: {lesson.condition}",
            f"- then: {lesson.action}",
            f"- confidence: {lesson.confidence:.2f} "
            f"({len(lesson.supporting)} for, {len(lesson.contradicting)} against)",
            f"- for: {', '.join(lesson.supporting) or 'none'}",
            f"- against: {', '.join(lesson.contradicting) or 'none'}",
            *(f"- {v.at:%Y-%m-%d} {v.origin}: {v.claim}" for v in lesson.versions),
            "",
        ]
    return "\n".join(lines)


def offered(
    lessons: Sequence[Lesson],
    most: int,
    embed: Embed,
    *,
    situation: str | None = None,
    tags: Sequence[str] = (),
) -> list[Lesson]:
    """What a prompt is told: all active lessons, beyond `most` those of the tags or nearest."""
    active = [lesson for lesson in lessons if lesson.active]
    if len(active) <= most:
        return active
    tagged = (
        [lesson for lesson in active if set(tags) & set(lesson.tags)]
        if tags
        else active
    )
    return (_nearest(tagged, situation, embed) if situation else tagged)[:most]


def claim_line(lesson: Lesson) -> str:
    """The claim and how far it can be trusted."""
    return f"{lesson.claim} (confidence {lesson.confidence:.2f})"


def block(lessons: Sequence[Lesson]) -> str:
    """`<learned_patterns>` for a prompt; empty without any."""
    if not lessons:
        return ""
    return "\n".join(
        [OPENING, *(f"- {as_data(claim_line(lesson))}" for lesson in lessons), ENDING]
    )


def _nearest(lessons: Sequence[Lesson], situation: str, embed: Embed) -> list[Lesson]:
    vector, *claims = embed([situation, *(lesson.claim for lesson in lessons)])
    near = {
        lesson.id: float(np.dot(vector, claim))
        for lesson, claim in zip(lessons, claims, strict=True)
    }
    return sorted(lessons, key=lambda lesson: (-near[lesson.id], lesson.id))


def _version(
    lesson: Lesson,
    now: datetime,
    origin: str,
    reason: str,
    sources: Sequence[Lesson],
    *,
    active: bool,
) -> LessonVersion:
    versions = [version for source in sources for version in source.versions]
    return LessonVersion(
        lesson_id=lesson.id,
        claim=lesson.claim,
        condition=lesson.condition,
        action=lesson.action,
        at=now,
        created_at=now,
        origin=origin,
        state=lesson.state,
        tags=tuple(sorted({tag for source in sources for tag in source.tags})),
        supporting=tuple(
            sorted({id_ for source in sources for id_ in source.supporting})
        ),
        contradicting=tuple(
            sorted({id_ for source in sources for id_ in source.contradicting})
        ),
        active=active,
        reason=reason,
        conversation_ids=tuple(
            sorted({id_ for v in versions for id_ in v.conversation_ids})
        ),
        user_ids=tuple(sorted({id_ for v in versions for id_ in v.user_ids})),
    )


def _overlap(one: str, other: str) -> float:
    """Jaccard's index of the two texts' words."""
    a, b = content_words(one), content_words(other)
    return len(a & b) / len(a | b) if a | b else 0.0
