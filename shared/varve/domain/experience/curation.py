"""Curation of lessons: conflicts, duplicates, stale lessons and merges; and their texts."""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain, combinations
from typing import Any

from varve.domain.block import PATTERNS_CLOSING as ENDING
from varve.domain.block import PATTERNS_OPENING as OPENING
from varve.domain.block import as_data
from varve.domain.experience.alike import Embed, cosines
from varve.domain.experience.lessons import Lesson
from varve.domain.experience.rows import (
    GENERALIZED,
    RETIREMENT,
    LessonVersion,
    normalize,
    union,
)
from varve.domain.experience.words import content_words

IdPair = tuple[str, str]

ALIKE = 0.6
"""The Jaccard index of two texts' words from which they say the same."""
STALE_AFTER = timedelta(days=180)


@dataclass(frozen=True, slots=True)
class Curation:
    """Pairs of conflicting lessons, pairs of duplicates, and stale lessons, by id."""

    conflicts: tuple[IdPair, ...]
    duplicates: tuple[IdPair, ...]
    stale: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values; a proposed merge keeps the first lesson of a pair."""
        merges = [
            {"keep": keep, "retire": retire}
            for keep, retire in self.duplicates
        ]
        return {
            "conflicts": [list(pair) for pair in self.conflicts],
            "duplicates": [list(pair) for pair in self.duplicates],
            "stale": list(self.stale),
            "merges": merges,
        }


def curate(lessons: Sequence[Lesson], now: datetime) -> Curation:
    """Find the lessons that a person should review; nothing is changed.

    In a pair the lesson with more confidence comes first.
    """
    active = [lesson for lesson in lessons if lesson.active]
    conflicts: list[IdPair] = []
    duplicates: list[IdPair] = []
    for one, other in combinations(active, 2):
        if not _same_condition(one, other):
            continue
        pair = (one.id, other.id)
        if _overlap(one.action, other.action) >= ALIKE:
            duplicates.append(pair)
        else:
            conflicts.append(pair)
    stale = [lesson.id for lesson in active if _stale_at(lesson) < now]
    return Curation(tuple(conflicts), tuple(duplicates), tuple(stale))


def _same_condition(one: Lesson, other: Lesson) -> bool:
    if one.state != other.state:
        return False
    return _overlap(one.condition, other.condition) >= ALIKE


def next_stale(lessons: Sequence[Lesson], now: datetime) -> datetime | None:
    """Return when the next active lesson becomes stale, if one will."""
    due: list[datetime] = []
    for lesson in lessons:
        stale_at = _stale_at(lesson)
        if lesson.active and stale_at >= now:
            due.append(stale_at)
    return min(due, default=None)


def _stale_at(lesson: Lesson) -> datetime:
    return lesson.versions[-1].at + STALE_AFTER


def merge_duplicates(
    report: Curation, lessons: Sequence[Lesson], now: datetime
) -> Iterator[LessonVersion]:
    """Yield the versions to write for the proposed merges.

    Of each pair one lesson takes over the evidence, the other is retired.
    """
    by_id = {lesson.id: lesson for lesson in lessons}
    retired: set[str] = set()
    for keep, retire in report.duplicates:
        if keep in retired or retire in retired:
            continue
        kept = by_id[keep]
        gone = by_id[retire]
        yield _new_version(
            kept, now, "merge", f"merged with {retire}", (kept, gone)
        )
        yield _new_version(
            gone, now, RETIREMENT, f"merged into {keep}", (gone,), active=False
        )
        retired.add(retire)


def unwritten_versions(
    lessons: Sequence[Lesson], written: Set[str]
) -> list[LessonVersion]:
    """Return each active lesson's newest generalized version if no row holds it yet."""
    unwritten: list[LessonVersion] = []
    for lesson in lessons:
        derived = [v for v in lesson.versions if v.origin == GENERALIZED]
        if not derived or not lesson.active:
            continue
        newest = derived[-1]
        if newest.id not in written:
            unwritten.append(newest)
    return unwritten


def markdown(lessons: Sequence[Lesson]) -> str:
    """Return all lessons with evidence, confidence and history, for a review."""
    lines = ["# Lessons", ""]
    for lesson in lessons:
        lines += _markdown_lines(lesson)
    return "\n".join(lines)


def _markdown_lines(lesson: Lesson) -> list[str]:
    reason = f" ({lesson.reason})" if lesson.reason else ""
    supporting = len(lesson.supporting)
    contradicting = len(lesson.contradicting)
    history = [
        f"- {v.at:%Y-%m-%d} {v.origin}: {v.claim}" for v in lesson.versions
    ]
    return [
        f"## {lesson.claim}",
        "",
        f"- id: `{lesson.id}`, version {lesson.version}, {lesson.standing}{reason}",
        f"- when: {lesson.condition}",
        f"- then: {lesson.action}",
        f"- basis: {lesson.basis} ({supporting} for, {contradicting} against)",
        f"- for: {', '.join(lesson.supporting) or 'none'}",
        f"- against: {', '.join(lesson.contradicting) or 'none'}",
        *history,
        "",
    ]


def select_lessons(
    lessons: Sequence[Lesson],
    most: int,
    embed: Embed,
    *,
    situation: str | None = None,
    tags: Sequence[str] = (),
) -> list[Lesson]:
    """Return the active lessons for a prompt, at most `most` of them.

    With tags, only lessons with one of them. If there are more than `most`, those nearest
    to the situation come first.
    """
    active = [lesson for lesson in lessons if lesson.active]
    if tags:
        wanted = set(tags)
        active = [
            lesson for lesson in active if wanted.intersection(lesson.tags)
        ]
    if len(active) <= most:
        return active
    if situation:
        active = _nearest_first(active, situation, embed)
    return active[:most]


def claim_line(lesson: Lesson) -> str:
    """Return the claim with its action, unless the claim names it, and its basis."""
    named = normalize(lesson.action) in normalize(lesson.claim)
    action = "" if named else f". Then: {lesson.action}"
    return f"{lesson.claim}{action} ({lesson.basis})"


def block(lessons: Sequence[Lesson]) -> str:
    """Return the `<learned_patterns>` block of a prompt; empty without lessons."""
    if not lessons:
        return ""
    lines = [f"- {as_data(claim_line(lesson))}" for lesson in lessons]
    return "\n".join([OPENING, *lines, ENDING])


def _nearest_first(
    lessons: Sequence[Lesson], situation: str, embed: Embed
) -> list[Lesson]:
    claims = [lesson.claim for lesson in lessons]
    likeness = cosines(situation, claims, embed)
    by_claim = dict(zip(claims, likeness, strict=True))
    return sorted(lessons, key=lambda one: (-by_claim[one.claim], one.id))


def _new_version(
    lesson: Lesson,
    now: datetime,
    origin: str,
    reason: str,
    sources: Sequence[Lesson],
    *,
    active: bool = True,
) -> LessonVersion:
    """Return a version of a lesson with the evidence of all `sources`."""
    versions = list(chain.from_iterable(source.versions for source in sources))
    return LessonVersion(
        lesson_id=lesson.id,
        claim=lesson.claim,
        condition=lesson.condition,
        action=lesson.action,
        at=now,
        created_at=now,
        origin=origin,
        state=lesson.state,
        tags=union(source.tags for source in sources),
        supporting=union(source.supporting for source in sources),
        contradicting=union(source.contradicting for source in sources),
        active=active,
        reason=reason,
        conversation_ids=union(v.conversation_ids for v in versions),
        user_ids=union(v.user_ids for v in versions),
        calibration=lesson.calibration,
    )


def _overlap(one: str, other: str) -> float:
    """Return the Jaccard index of the two texts' words; 0 if neither has any."""
    words = content_words(one)
    other_words = content_words(other)
    either = words | other_words
    if not either:
        return 0.0
    shared = words & other_words
    return len(shared) / len(either)
