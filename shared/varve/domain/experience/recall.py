"""Recall: the past episodes and lessons that help in a situation, with their outcomes."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from varve.domain.experience.alike import Embed, EmbedWords
from varve.domain.experience.contrast import Belief, Precedent, form_belief
from varve.domain.experience.distinctions import put_side_by_side, tell_apart
from varve.domain.experience.history import History, PastEpisode
from varve.domain.experience.lessons import Lesson
from varve.domain.experience.outcomes import Outcome
from varve.domain.experience.rows import normalize
from varve.domain.record import Vector
from varve.domain.search.diversity import mmr

MOST_EPISODES = 1_000
"""The number of newest episodes compared; older ones are represented by lessons."""
LESSON_SCORE_SHARE = 0.5
"""The largest part of an answer's share that its lesson takes over from its episodes."""
OTHER_REGIME = 0.5
"""The factor for an episode of another regime than the one asked for."""
OTHER_STATE = 0.5
"""The factor for an episode of a state other than the one asked for."""
_NEVER_ZERO = 1e-6
"""Added to each likeness, so that an answer's sum is never 0."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """One recalled item: `kind` is "episode" or "lesson".

    `score` is the item's support for its answer; all scores of a recall sum to at most 1.
    `answer` is the right answer, if known. `looks_like` names the item before it that looks
    alike but had another answer, and what told the two apart.
    """

    kind: str
    id: str
    content: str
    outcome: str
    explicit: bool
    score: float
    likeness: float
    answer: str | None = None
    decision: str | None = None
    correction: str | None = None
    state: str | None = None
    confidence: float | None = None
    conversation_id: str | None = None
    looks_like: str | None = None


@dataclass(frozen=True, slots=True)
class Recollection:
    """One episode of each known answer, the likeliest first, then lessons and other episodes.

    `familiarity` is the probability that one of the known answers is right, in [0, 1].
    """

    items: tuple[Recalled, ...]
    familiarity: float


def recollect(
    situation: str,
    vector: Vector,
    history: History,
    lessons: Sequence[Lesson],
    embed: Embed,
    *,
    words: EmbedWords | None = None,
    state: str | None = None,
    limit: int = 8,
    most: int = MOST_EPISODES,
    regime: Mapping[str, str] | None = None,
) -> Recollection:
    """Return the episodes and lessons that matter for a situation.

    The nearest episode of each known answer comes first, by the answers' shares; those
    that look alike stand side by side. The other episodes are chosen by maximal marginal
    relevance. `words` embeds single words, if the embedder can do so locally. The newest
    `most` episodes are compared; older ones are represented by lessons. Episodes of another
    `regime` weigh half.
    """
    past = history.past_episodes[-most:]
    if not past:
        return Recollection((), 0.0)
    vectors = _embed_situations(past, embed)
    precedents = [
        _precedent(one, vectors, regime or {})
        for one in past
        if one.situation in vectors
    ]
    belief = form_belief(situation, vector, precedents, words)
    evidence = _Evidence(
        vectors=vectors,
        likeness={
            one.id: _likeness(vector, one, vectors, state) for one in past
        },
        belief=belief,
        lessons=_lessons_by_answer(lessons, belief, state),
    )
    first = _choose_first(past, evidence)[:limit]
    others = _choose_others(past, first, evidence, limit)
    apart = tell_apart(first, vectors)
    episodes = [
        replace(item, looks_like=apart.get(item.id))
        for item in _recall_episodes([*first, *others], evidence)
    ]
    items = [
        *episodes[: len(first)],
        *_recall_lessons(evidence),
        *episodes[len(first) :],
    ]
    return Recollection(tuple(items), _familiarity(past, belief))


def _familiarity(past: Sequence[PastEpisode], belief: Belief) -> float:
    """Return the probability of all known answers; an unresolved episode has none."""
    known = {_answer(one) for one in past if one.resolution}
    share = sum(belief.shares.get(answer, 0.0) for answer in sorted(known))
    return belief.familiarity * share


@dataclass(frozen=True, slots=True)
class _Evidence:
    """Vectors by situation, likeness by episode id, the belief, and lessons by answer."""

    vectors: Mapping[str, Vector]
    likeness: Mapping[str, float]
    belief: Belief
    lessons: Mapping[str, Lesson]


def _embed_situations(
    past: Sequence[PastEpisode], embed: Embed
) -> dict[str, Vector]:
    """Return the vector of each situation that has words, from one call of `embed`."""
    situations = dict.fromkeys(one.situation for one in past)
    texts = [text for text in situations if text.strip()]
    return dict(zip(texts, embed(texts), strict=True))


def _lessons_by_answer(
    lessons: Sequence[Lesson], belief: Belief, state: str | None
) -> dict[str, Lesson]:
    """Return the first active lesson of the state for each answer the belief knows."""
    found: dict[str, Lesson] = {}
    for lesson in lessons:
        if not lesson.active or not _has_state(lesson, state):
            continue
        answer = normalize(lesson.action)
        if answer in belief.shares:
            found.setdefault(answer, lesson)
    return found


def _precedent(
    past: PastEpisode,
    vectors: Mapping[str, Vector],
    regime: Mapping[str, str],
) -> Precedent:
    known = past.episode.regime
    differs = any(known.get(name) != value for name, value in regime.items())
    weight = OTHER_REGIME if differs else 1.0
    return Precedent(
        id=past.id,
        answer=_answer(past),
        situation=past.situation,
        vector=vectors[past.situation],
        correction=past.correction or "",
        weight=weight,
    )


def _answer(past: PastEpisode) -> str:
    """Return the episode's right answer; without one, the episode is its own group."""
    if past.resolution:
        return normalize(past.resolution)
    return past.id


def _likeness(
    vector: Vector,
    past: PastEpisode,
    vectors: Mapping[str, Vector],
    state: str | None,
) -> float:
    product = np.dot(vector, vectors[past.situation])
    cosine = max(0.0, float(product))
    if _has_state(past, state):
        return cosine
    return cosine * OTHER_STATE


def _has_state(item: PastEpisode | Lesson, state: str | None) -> bool:
    """Return whether an item has the state asked for; without one, every item has it."""
    return state is None or item.state == state


def _choose_first(
    past: Sequence[PastEpisode], evidence: _Evidence
) -> list[PastEpisode]:
    """Return the nearest episode of each known answer, the likeliest answers first."""
    by_answer: dict[str, PastEpisode] = {}
    for one in _nearest_first(past, evidence):
        if one.resolution:
            by_answer.setdefault(_answer(one), one)
    shares = evidence.belief.shares
    answers = sorted(
        by_answer, key=lambda answer: (-shares.get(answer, 0.0), answer)
    )
    likeliest = [by_answer[answer] for answer in answers]
    return put_side_by_side(likeliest, evidence.vectors)


def _choose_others(
    past: Sequence[PastEpisode],
    first: Sequence[PastEpisode],
    evidence: _Evidence,
    limit: int,
) -> list[PastEpisode]:
    """Return relevant and diverse episodes beside the first, `limit` in all."""
    left = limit - len(first)
    if left < 1:
        return []
    nearest = _nearest_first(past, evidence)
    rest = [one for one in nearest if one not in first]
    return _choose_diverse(rest[: 5 * limit], evidence, left)


def _nearest_first(
    past: Sequence[PastEpisode], evidence: _Evidence
) -> list[PastEpisode]:
    likeness = evidence.likeness
    return sorted(past, key=lambda one: (-likeness[one.id], one.id))


def _choose_diverse(
    past: Sequence[PastEpisode], evidence: _Evidence, limit: int
) -> list[PastEpisode]:
    """Return up to `limit` episodes by maximal marginal relevance."""
    if not past:
        return []
    relevance: list[float] = []
    for one in past:
        answer = _answer(one)
        share = evidence.belief.shares[answer]
        likeness = evidence.likeness[one.id]
        relevance.append(0.5 * likeness + 0.5 * share)
    vectors = [evidence.vectors[one.situation] for one in past]
    chosen = mmr(relevance, vectors, limit)
    return [past[index] for index in chosen]


def _recall_episodes(
    chosen: Sequence[PastEpisode], evidence: _Evidence
) -> list[Recalled]:
    """Return the episodes; they divide their answer's share by their likeness."""
    sums: defaultdict[str, float] = defaultdict(float)
    for past in chosen:
        answer = _answer(past)
        sums[answer] += evidence.likeness[past.id] + _NEVER_ZERO
    return [_recall_episode(past, evidence, sums) for past in chosen]


def _recall_episode(
    past: PastEpisode, evidence: _Evidence, sums: Mapping[str, float]
) -> Recalled:
    episode = past.episode
    likeness = evidence.likeness[episode.id]
    score = _score(past, evidence, sums)
    return Recalled(
        kind="episode",
        id=episode.id,
        content=episode.situation,
        outcome=str(past.outcome),
        explicit=past.explicit and past.outcome is not Outcome.UNKNOWN,
        score=round(score, 4),
        likeness=round(likeness, 4),
        answer=past.resolution,
        decision=past.decision,
        correction=past.correction,
        state=episode.state,
        conversation_id=episode.conversation_id,
    )


def _score(
    past: PastEpisode, evidence: _Evidence, sums: Mapping[str, float]
) -> float:
    """Return the episode's part of its answer's share, less the part of a lesson.

    `sums` has the sum of the likenesses of each answer's chosen episodes.
    """
    answer = _answer(past)
    belief = evidence.belief
    likeness = evidence.likeness[past.id] + _NEVER_ZERO
    share = belief.shares[answer] * likeness / sums[answer]
    left = 1.0
    lesson = evidence.lessons.get(answer)
    if lesson is not None:
        left -= LESSON_SCORE_SHARE * lesson.confidence
    return belief.familiarity * share * left


def _recall_lessons(evidence: _Evidence) -> list[Recalled]:
    belief = evidence.belief
    recalled: list[Recalled] = []
    for answer, lesson in sorted(evidence.lessons.items()):
        likeness = belief.familiarity * belief.shares[answer]
        item = _recall_lesson(lesson, likeness)
        recalled.append(item)
    return recalled


def _recall_lesson(lesson: Lesson, likeness: float) -> Recalled:
    score = likeness * LESSON_SCORE_SHARE * lesson.confidence
    supporting = len(lesson.supporting)
    contradicting = len(lesson.contradicting)
    return Recalled(
        kind="lesson",
        id=lesson.id,
        content=lesson.claim,
        outcome=f"{supporting} for, {contradicting} against",
        explicit=True,
        score=round(score, 4),
        likeness=round(likeness, 4),
        answer=lesson.action,
        state=lesson.state,
        confidence=round(lesson.confidence, 4),
    )
