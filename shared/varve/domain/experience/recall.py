"""Recall: the past episodes and lessons that help in a situation, with their outcomes."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from varve.domain.experience.alike import Embed, EmbedWords
from varve.domain.experience.contrast import Belief, Precedent, form_belief
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
NEAREST_ANSWERS = 3
OTHER_STATE = 0.5
"""The factor for an episode of a state other than the one asked for."""
_NEVER_ZERO = 1e-6
"""Added to each likeness, so that an answer's sum is never 0."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """One recalled item: `kind` is "episode" or "lesson".

    `score` is the item's support for its answer; all scores of a recall sum to at most its
    familiarity. `answer` is the right answer, if known.
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


@dataclass(frozen=True, slots=True)
class Recollection:
    """The items, nearest first, and how familiar the situation is, in [0, 1]."""

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
) -> Recollection:
    """Return the episodes and lessons that matter for a situation.

    The nearest episode of each of the likeliest answers comes first, so that failures stand
    beside successes. The other episodes are chosen by maximal marginal relevance. `words`
    embeds single words, if the embedder can do so locally.
    """
    past = history.past_episodes[-MOST_EPISODES:]
    if not past:
        return Recollection((), 0.0)
    vectors = _embed_situations(past, embed)
    precedents = [
        _precedent(one, vectors) for one in past if one.situation in vectors
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
    chosen = _choose(past, evidence, limit)
    items = [*_recall_episodes(chosen, evidence), *_recall_lessons(evidence)]
    items.sort(key=lambda item: (-item.likeness, item.kind, item.id))
    return Recollection(tuple(items), belief.familiarity)


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


def _precedent(past: PastEpisode, vectors: Mapping[str, Vector]) -> Precedent:
    return Precedent(
        id=past.id,
        answer=_answer(past),
        situation=past.situation,
        vector=vectors[past.situation],
        correction=past.correction or "",
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


def _choose(
    past: Sequence[PastEpisode], evidence: _Evidence, limit: int
) -> list[PastEpisode]:
    """Return the nearest episode of each likely answer, then relevant and diverse ones."""
    likeness = evidence.likeness
    nearest = sorted(past, key=lambda one: (-likeness[one.id], one.id))
    first = _nearest_of_answers(nearest, evidence.belief)
    rest = [one for one in nearest if one not in first]
    diverse = _choose_diverse(rest[: 5 * limit], evidence, limit)
    return [*first, *diverse][:limit]


def _nearest_of_answers(
    nearest: Sequence[PastEpisode], belief: Belief
) -> list[PastEpisode]:
    """Return the nearest episode of each of the likeliest answers."""
    shares = belief.shares
    answers = sorted(shares, key=lambda answer: (-shares[answer], answer))
    by_answer: dict[str, PastEpisode] = {}
    for past in nearest:
        by_answer.setdefault(_answer(past), past)
    return [by_answer[answer] for answer in answers[:NEAREST_ANSWERS]]


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
