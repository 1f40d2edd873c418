"""Lessons: a claim with a condition and an action, and the episodes for and against it.

Lessons are derived from the episodes, so the same episodes give the same lessons in whatever
order their outcomes arrive. What people write (a lesson, a revision, a retirement) is stored
as a version, and every version is kept.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING

from varve.domain.experience.agreement import action_taken, follows
from varve.domain.experience.generalizing import (
    replay_versions,
    resolved_episodes,
)
from varve.domain.experience.history import History, PastEpisode
from varve.domain.experience.outcomes import Outcome
from varve.domain.experience.resolutions import group_by_answer
from varve.domain.experience.rows import (
    GENERALIZED,
    RETIREMENT,
    STATED,
    LessonVersion,
    is_answer,
    union,
)

if TYPE_CHECKING:
    from varve.domain.experience.alike import Embed  # loads numpy

RETIRED_BELOW = 0.15
USED_ENOUGH = 3
"""Uses after which a lesson is checked for harm."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """The current state of a lesson; `versions` has its history, the oldest first.

    `standing` is `active`, `retired` (by hand, without evidence, or with too much evidence
    against it) or `quarantined` (episodes that followed it did worse than others).
    """

    id: str
    claim: str
    condition: str
    action: str
    state: str | None
    tags: tuple[str, ...]
    supporting: tuple[str, ...]
    contradicting: tuple[str, ...]
    standing: str
    reason: str
    versions: tuple[LessonVersion, ...]

    @property
    def confidence(self) -> float:
        """The lower bound on the share of episodes in which the lesson holds.

        Prior answers are evidence but no trials: a lesson on them alone has 0.
        """
        successes = sum(not is_answer(id_) for id_ in self.supporting)
        return wilson(successes, successes + len(self.contradicting))

    @property
    def basis(self) -> str:
        """What the lesson rests on: its confidence, or why it has none."""
        if self.confidence:
            return f"confidence {self.confidence:.2f}"
        if self.calibration:
            return f"calibrated on {self.calibration}"
        if self.supporting:
            return "from prior answers, untested"
        return "stated by hand, no evidence"

    @property
    def calibration(self) -> str:
        """The newest calibration set of the lesson's versions, or ""."""
        named = [v.calibration for v in self.versions if v.calibration]
        return named[-1] if named else ""

    @property
    def version(self) -> int:
        """The number of the current version, from 1."""
        return len(self.versions)

    @property
    def active(self) -> bool:
        """Whether the lesson may be shown to a model."""
        return self.standing == "active"


def wilson(successes: int, trials: int, z: float = 1.96) -> float:
    """Return the lower end of the Wilson score interval of a proportion; 0 without trials.

    E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference",
    JASA 22 (1927); `z` 1.96 is the two-sided 95 percent.
    """
    if not trials:
        return 0.0
    rate = successes / trials
    square = z * z
    centre = rate + square / (2 * trials)
    variance = rate * (1 - rate) / trials
    spread = z * sqrt(variance + square / (4 * trials * trials))
    return max(0.0, (centre - spread) / (1 + square / trials))


def derive_lessons(
    history: History, embed: "Embed | None" = None
) -> list[Lesson]:
    """Return all lessons, those with the highest confidence first.

    Without `embed`, resolutions in other words are not joined.
    """
    resolved = resolved_episodes(history)
    stored = [version.lesson_id for version in history.lesson_versions]
    lesson_of = group_by_answer(resolved, stored, embed)
    agreeing: defaultdict[str, list[PastEpisode]] = defaultdict(list)
    for past in resolved:
        agreeing[lesson_of[past.id]].append(past)
    versions = replay_versions(history, lesson_of)
    for version in history.lesson_versions:
        versions[version.lesson_id].append(version)
    found: list[Lesson] = []
    for id_, noted in versions.items():
        episodes = agreeing.get(id_, [])
        lesson = _build_lesson(id_, episodes, noted, history)
        if lesson is not None:
            found.append(lesson)
    return sorted(found, key=lambda lesson: (-lesson.confidence, lesson.id))


def _build_lesson(
    id_: str,
    agreeing: Sequence[PastEpisode],
    noted: Iterable[LessonVersion],
    history: History,
) -> Lesson | None:
    versions = _in_order(noted)
    text = _current_text(versions)
    if text is None:
        return None
    against = _contradicting(id_, text, history)
    supporting = {past.id for past in agreeing}
    supporting |= _successful_uses(id_, text.action, history)
    for version in versions:
        against.update(version.contradicting)
        supporting.update(version.supporting)
    lesson = Lesson(
        id=id_,
        claim=text.claim,
        condition=text.condition,
        action=text.action,
        state=text.state,
        tags=union(v.tags for v in versions),
        supporting=tuple(sorted(supporting - against)),
        contradicting=tuple(sorted(against)),
        standing="active",
        reason="",
        versions=tuple(versions),
    )
    standing, reason = _standing(lesson, history)
    return replace(lesson, standing=standing, reason=reason)


def _in_order(noted: Iterable[LessonVersion]) -> list[LessonVersion]:
    """Return the versions by time, each id once; a retirement comes last at one time."""
    distinct = {version.id: version for version in noted}
    return sorted(distinct.values(), key=lambda v: (v.at, not v.active, v.id))


def _current_text(versions: Sequence[LessonVersion]) -> LessonVersion | None:
    """Return the version whose words count: the last by hand, else the last with words."""
    derived = {GENERALIZED, RETIREMENT}
    by_hand = [
        version for version in versions if version.origin not in derived
    ]
    if by_hand:
        return by_hand[-1]
    worded = [version for version in versions if version.claim]
    return worded[-1] if worded else None


def _successful_uses(id_: str, action: str, history: History) -> set[str]:
    """Return the ids of successful episodes that saw the lesson and did as it says."""
    ids: set[str] = set()
    for past in history.past_episodes:
        if past.outcome is not Outcome.SUCCESS or id_ not in past.used:
            continue
        if follows(action_taken(past), action):
            ids.add(past.id)
    return ids


def _standing(lesson: Lesson, history: History) -> tuple[str, str]:
    """Return a lesson's standing, and the reason unless it is active."""
    stated = [v for v in lesson.versions if v.origin != GENERALIZED]
    if stated and not stated[-1].active:
        return "retired", stated[-1].reason or "retired by hand"
    if not lesson.supporting and not _needs_no_evidence(lesson):
        return "retired", "no evidence is left"
    if _is_outweighed(lesson):
        contradicting = len(lesson.contradicting)
        return "retired", f"{contradicting} episodes speak against it"
    harm = _harm(lesson, history)
    if harm:
        return "quarantined", harm
    return "active", ""


def _needs_no_evidence(lesson: Lesson) -> bool:
    """Return whether a person stated the lesson, or a calibration set supports it."""
    stated = any(version.origin == STATED for version in lesson.versions)
    return stated or bool(lesson.calibration)


def _is_outweighed(lesson: Lesson) -> bool:
    """Return whether more episodes speak against a lesson, or as many and few in all."""
    against = len(lesson.contradicting)
    surplus = against - len(lesson.supporting)
    is_tie = against > 0 and surplus == 0
    return surplus > 0 or (is_tie and lesson.confidence < RETIRED_BELOW)


def _harm(lesson: Lesson, history: History) -> str:
    """Return the success rates with and without the lesson if it does harm, else "".

    Only episodes of the lesson's state with a known outcome count. An episode that saw the
    lesson and decided otherwise is one without it.
    """
    with_it: list[bool] = []
    without: list[bool] = []
    for past in history.past_episodes:
        decided = past.outcome in {Outcome.SUCCESS, Outcome.FAILURE}
        if not decided or past.state != lesson.state:
            continue
        succeeded = past.outcome is Outcome.SUCCESS
        followed = follows(action_taken(past), lesson.action)
        if followed and lesson.id in past.used:
            with_it.append(succeeded)
        else:
            without.append(succeeded)
    if len(with_it) < USED_ENOUGH or not without:
        return ""
    rate = sum(with_it) / len(with_it)
    other_rate = sum(without) / len(without)
    if rate >= other_rate:
        return ""
    return f"{rate:.0%} succeeded with it, {other_rate:.0%} without"


def _contradicting(
    id_: str, text: LessonVersion, history: History
) -> set[str]:
    """Return the ids of failed episodes that did as the lesson says.

    They used the lesson or are of its state; and another action was right.
    """
    found: set[str] = set()
    for past in history.past_episodes:
        if past.outcome is not Outcome.FAILURE:
            continue
        followed = follows(past.decision, text.action)
        was_right = follows(past.resolution, text.action)
        if not followed or was_right:
            continue
        if past.state == text.state or id_ in past.used:
            found.add(past.id)
    return found
