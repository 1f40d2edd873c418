"""Lessons: one claim each with its condition and its action, and the episodes that speak for and against it.

A lesson is derived from the episodes there are, so the same episodes give the same lessons in whatever
order their outcomes came. What people write (a lesson by hand, a revision, a retirement) is kept as
versions, and every version stays.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import nsmallest
from math import sqrt

from varve.domain.experience.history import History, Lived
from varve.domain.experience.outcomes import Outcome
from varve.domain.experience.rows import LessonVersion, lesson_id
from varve.domain.experience.words import content_words

AGREEING = 2
"""Episodes that must agree before a lesson is proposed."""
CONDITION_WORDS = 5
RETIRED_BELOW = 0.15
USED_ENOUGH = 3
"""Uses from which it is asked whether a lesson does harm."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """A lesson as it stands; `versions` are all that it ever was, the oldest first.

    `standing` is `active`, `retired` (by hand, for want of evidence, or because too much speaks against
    it) or `quarantined` (episodes that used it did worse than those that did not).
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
        """The lower bound on how often it holds."""
        return wilson(
            len(self.supporting), len(self.supporting) + len(self.contradicting)
        )

    @property
    def version(self) -> int:
        """How often it has been said anew, from 1."""
        return len(self.versions)

    @property
    def active(self) -> bool:
        """Whether it is offered."""
        return self.standing == "active"


def wilson(successes: int, trials: int, z: float = 1.96) -> float:
    """The lower end of the Wilson score interval for a proportion; 0 without trials.

    E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference", JASA 22 (1927);
    `z` 1.96 is the two-sided 95 percent.
    """
    if not trials:
        return 0.0
    rate, square = successes / trials, z * z
    spread = z * sqrt(rate * (1 - rate) / trials + square / (4 * trials * trials))
    return max(0.0, (rate + square / (2 * trials) - spread) / (1 + square / trials))


def vague(condition: str, action: str) -> str | None:
    """Why a lesson would be of no use, or None: it must name when, in two words at least, and what."""
    when, what = content_words(condition) - _EMPTY, content_words(action) - _EMPTY
    if len(when) < 2:
        return (
            "does not say when: name at least two things that tell the situation apart"
        )
    return None if what else "does not say what to do"


_EMPTY = content_words(
    "often sometimes usually always never maybe careful carefully better wrong right good bad thing things "
    "stuff something anything everything problem problems issue issues situation situations case cases time "
    "times initial first check try think make sure really likely many much people users "
    "siempre nunca veces quizas cuidado mejor mal bien cosa cosas algo problema problemas caso casos"
)


def lessons(history: History) -> list[Lesson]:
    """All lessons, those most to be trusted first."""
    groups: defaultdict[str, list[Lived]] = defaultdict(list)
    for one in history.lived:
        if one.resolution:
            groups[lesson_id(one.episode.state, one.resolution)].append(one)
    versions = _replayed(history)
    for version in history.lesson_versions:
        versions[version.lesson_id].append(version)
    known = (
        _lesson(id_, groups.get(id_, []), versions[id_], history)
        for id_ in sorted(
            {id_ for id_, group in groups.items() if len(group) >= AGREEING}
            | set(versions)
        )
    )
    found = [lesson for lesson in known if lesson is not None]
    return sorted(found, key=lambda lesson: (-lesson.confidence, lesson.id))


def _lesson(
    id_: str, group: Sequence[Lived], noted: Sequence[LessonVersion], history: History
) -> Lesson | None:
    distinct = {version.id: version for version in noted}
    versions = tuple(
        sorted(distinct.values(), key=lambda v: (v.at, not v.active, v.id))
    )
    by_hand = [v for v in versions if v.origin not in {"generalized", "retirement"}]
    said = by_hand or [v for v in versions if v.claim]
    if not said:
        return None
    text = said[-1]
    cited = {i for v in versions for i in v.supporting}
    against = {i for v in versions for i in v.contradicting} | _contradicting(
        id_, text.action, history
    )
    supporting = ({one.episode.id for one in group} | cited) - against
    supporting |= {
        one.episode.id
        for one in history.lived
        if id_ in one.used and one.outcome is Outcome.SUCCESS
    } - against
    lesson = Lesson(
        id=id_,
        claim=text.claim,
        condition=text.condition,
        action=text.action,
        state=text.state,
        tags=tuple(sorted({tag for v in versions for tag in v.tags})),
        supporting=tuple(sorted(supporting)),
        contradicting=tuple(sorted(against)),
        standing="active",
        reason="",
        versions=versions,
    )
    standing, reason = _standing(lesson, history)
    return replace(lesson, standing=standing, reason=reason)


def _standing(lesson: Lesson, history: History) -> tuple[str, str]:
    said = [v for v in lesson.versions if v.origin != "generalized"]
    if said and not said[-1].active:
        return "retired", said[-1].reason or "retired by hand"
    if not lesson.supporting:
        return "retired", "no evidence is left"
    if lesson.confidence < RETIRED_BELOW and len(lesson.contradicting) >= len(
        lesson.supporting
    ):
        return "retired", f"{len(lesson.contradicting)} episodes speak against it"
    harm = _harm(lesson, history)
    return ("quarantined", harm) if harm else ("active", "")


def _harm(lesson: Lesson, history: History) -> str:
    """How episodes that used it fared against those of the same state that did not, where that is worse."""
    decided = [
        one
        for one in history.lived
        if one.episode.state == lesson.state
        and one.outcome in {Outcome.SUCCESS, Outcome.FAILURE}
    ]
    used = [one.outcome is Outcome.SUCCESS for one in decided if lesson.id in one.used]
    others = [
        one.outcome is Outcome.SUCCESS for one in decided if lesson.id not in one.used
    ]
    if len(used) < USED_ENOUGH or not others:
        return ""
    with_it, without = sum(used) / len(used), sum(others) / len(others)
    return (
        f"{with_it:.0%} succeeded with it, {without:.0%} without"
        if with_it < without
        else ""
    )


def _contradicting(id_: str, action: str, history: History) -> set[str]:
    """Episodes that did as it says and were wrong, or that used it, did so, and failed."""
    wanted = _plain(action)
    return {
        one.episode.id
        for one in history.lived
        if one.outcome is Outcome.FAILURE
        and _plain(one.decision) == wanted
        and _plain(one.resolution) != wanted
        and (id_ in one.used or lesson_id(one.episode.state, action) == id_)
    }


@dataclass(slots=True)
class _Agreeing:
    """The episodes of a lesson so far: in how many each stem is, and how often in which written form."""

    lived: list[Lived] = field(default_factory=list)
    stems: Counter[str] = field(default_factory=Counter)
    forms: defaultdict[str, Counter[str]] = field(
        default_factory=lambda: defaultdict(Counter)
    )

    def add(self, one: Lived) -> None:
        self.lived.append(one)
        self.stems.update(content_words(_told(one)))
        for word in _told(one).casefold().replace("_", " ").split():
            bare = word.strip(".,;:!?()[]\"'“”¿¡")
            for stem in content_words(bare):
                self.forms[stem][bare] += 1

    def written(self, stem: str) -> str:
        """The stem's most frequent written form; of equals the first in the alphabet."""
        found = self.forms[stem]
        return min(found, key=lambda form: (-found[form], form))


def _replayed(history: History) -> defaultdict[str, list[LessonVersion]]:
    """The versions that lessons went through as their episodes came, in the order of when they happened."""
    versions: defaultdict[str, list[LessonVersion]] = defaultdict(list)
    groups: defaultdict[str, _Agreeing] = defaultdict(_Agreeing)
    stems: Counter[str] = Counter()
    ended = [one for one in history.lived if one.resolution]
    for count, one in enumerate(
        sorted(ended, key=lambda one: (one.episode.began, one.episode.id)), start=1
    ):
        id_ = lesson_id(one.episode.state, str(one.resolution))
        group, known = groups[id_], versions.get(id_, [])
        group.add(one)
        stems.update(content_words(_told(one)))
        if len(group.lived) < AGREEING:
            continue
        condition = ", ".join(_telling(group, stems, count))
        if vague(condition, str(one.resolution)) is not None:
            continue
        if not known or known[-1].claim != _claim(condition, one):
            versions[id_].append(_generalized(id_, condition, group.lived))
    return versions


def _claim(condition: str, last: Lived) -> str:
    where = f"In {last.episode.state}, when" if last.episode.state else "When"
    return f"{where} it is about {condition}: {last.resolution}"


def _generalized(id_: str, condition: str, agreeing: Sequence[Lived]) -> LessonVersion:
    last = agreeing[-1]
    return LessonVersion(
        lesson_id=id_,
        claim=_claim(condition, last),
        condition=condition,
        action=str(last.resolution),
        at=last.episode.began,
        created_at=max(one.settled_at for one in agreeing),
        origin="generalized",
        state=last.episode.state,
        tags=tuple(sorted({tag for one in agreeing for tag in one.episode.tags})),
        supporting=tuple(sorted(one.episode.id for one in agreeing)),
        conversation_ids=tuple(
            sorted({one.episode.conversation_id for one in agreeing})
        ),
        user_ids=tuple(
            sorted({one.episode.user_id for one in agreeing if one.episode.user_id})
        ),
    )


def _telling(group: _Agreeing, stems: Mapping[str, int], count: int) -> list[str]:
    """The words that two agreeing episodes have and the fewest of the others, as they were written.

    `stems` says in how many of all `count` episodes so far each stem is.
    """
    size = len(group.lived)
    apart: dict[str, tuple[float, float]] = {}
    for stem, having in group.stems.items():
        if having >= AGREEING:
            mine, theirs = having / size, (stems[stem] - having) / max(1, count - size)
            if mine > theirs:
                apart[stem] = (mine - theirs, mine)
    best = nsmallest(
        CONDITION_WORDS,
        apart,
        key=lambda stem: (-apart[stem][0], -apart[stem][1], stem),
    )
    return [group.written(stem) for stem in best]


def _told(one: Lived) -> str:
    return f"{one.episode.situation} {one.correction or ''}"


def _plain(text: str | None) -> str:
    return " ".join((text or "").casefold().split())
