"""What of the past to show for a situation: its nearest episodes and lessons, each with how it ended."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from varve.domain.experience.alike import EmbedWords
from varve.domain.experience.contrast import Belief, Precedent, belief
from varve.domain.experience.history import History, Lived
from varve.domain.experience.lessons import Lesson
from varve.domain.experience.outcomes import Outcome
from varve.domain.record import Vector
from varve.domain.search.diversity import mmr

Embed = Callable[[Sequence[str]], Sequence[Vector]]

MOST_EPISODES = 1_000
"""The newest episodes that are looked at; what is older has long become lessons."""
LESSON_SHARE = 0.5
"""How much of an answer's share its lesson may take over from its episodes."""
NEAREST_ANSWERS = 3
OTHER_STATE = 0.5
"""What an episode of another state counts, where a state is asked for."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """One item of a recall: `kind` is episode or lesson, `score` how much it speaks for its answer here.

    The scores of all items of a recall sum to at most its familiarity; `answer` is what was right, where
    that is known.
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
    """The items, nearest first, and how much of the situation is known from the past, in [0, 1]."""

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
    user_id: str | None = None,
    limit: int = 8,
) -> Recollection:
    """The episodes and lessons that bear on a situation.

    Of each of the likeliest answers the nearest episode comes first, so that failures stand beside
    successes; the rest are chosen by maximal marginal relevance. Lessons come with their confidence.
    `words` embeds single words, where the embedder has such at hand.
    """
    lived = [
        one
        for one in history.lived
        if user_id is None or one.episode.user_id == user_id
    ]
    if not lived:
        return Recollection((), 0.0)
    lived = lived[-MOST_EPISODES:]
    vectors = _embedded(lived, embed)
    precedents = [
        _precedent(one, vectors) for one in lived if one.episode.situation in vectors
    ]
    believed = belief(situation, vector, precedents, words)
    likeness = {one.episode.id: _likeness(vector, one, vectors, state) for one in lived}
    chosen = _chosen(lived, likeness, believed, vectors, limit)
    offered = [one for one in lessons if one.active and state in (None, one.state)]
    bearing = {
        _key(one.action): one
        for one in reversed(offered)
        if _key(one.action) in believed.shares
    }
    parts = [
        *_episodes(chosen, likeness, believed, bearing),
        *_lessons(bearing, believed),
    ]
    return Recollection(
        tuple(sorted(parts, key=lambda item: (-item.likeness, item.kind, item.id))),
        believed.familiarity,
    )


def _embedded(lived: Sequence[Lived], embed: Embed) -> dict[str, Vector]:
    """The vectors of all situations, asked for at once."""
    texts = (one.episode.situation for one in lived)
    wanted = list(dict.fromkeys(text for text in texts if text.strip()))
    return dict(zip(wanted, embed(wanted), strict=True))


def _precedent(one: Lived, vectors: Mapping[str, Vector]) -> Precedent:
    return Precedent(
        id=one.episode.id,
        answer=_answer(one),
        situation=one.episode.situation,
        vector=vectors[one.episode.situation],
        correction=one.correction or "",
    )


def _answer(one: Lived) -> str:
    """What the episode ended in; one whose answer nobody knows is a group of its own."""
    return _key(one.resolution) if one.resolution else one.episode.id


def _key(answer: str | None) -> str:
    return " ".join((answer or "").casefold().split())


def _likeness(
    vector: Vector, one: Lived, vectors: Mapping[str, Vector], state: str | None
) -> float:
    near = max(0.0, float(np.dot(vector, vectors[one.episode.situation])))
    return near * (1.0 if state in (None, one.episode.state) else OTHER_STATE)


def _chosen(
    lived: Sequence[Lived],
    likeness: Mapping[str, float],
    believed: Belief,
    vectors: Mapping[str, Vector],
    limit: int,
) -> list[Lived]:
    """The nearest of each of the likeliest answers, then the most relevant that differ from those before."""
    nearest = sorted(lived, key=lambda one: (-likeness[one.episode.id], one.episode.id))
    answers = sorted(
        believed.shares, key=lambda answer: (-believed.shares[answer], answer)
    )
    first = [
        next(one for one in nearest if _answer(one) == answer)
        for answer in answers[:NEAREST_ANSWERS]
    ]
    rest = [one for one in nearest if one not in first][: 5 * limit]
    relevance = [
        0.5 * likeness[one.episode.id] + 0.5 * believed.shares[_answer(one)]
        for one in rest
    ]
    order = (
        mmr(relevance, [vectors[one.episode.situation] for one in rest], limit)
        if rest
        else []
    )
    return [*first, *(rest[index] for index in order)][:limit]


def _episodes(
    chosen: Sequence[Lived],
    likeness: Mapping[str, float],
    believed: Belief,
    bearing: Mapping[str, Lesson],
) -> list[Recalled]:
    """The episodes; an answer's share divides among its episodes by how near they are."""
    sums: defaultdict[str, float] = defaultdict(float)
    for one in chosen:
        sums[_answer(one)] += likeness[one.episode.id] + 1e-6
    return [
        _recalled(
            one,
            likeness[one.episode.id],
            _score(one, likeness, sums, believed, bearing),
        )
        for one in chosen
    ]


def _score(
    one: Lived,
    likeness: Mapping[str, float],
    sums: Mapping[str, float],
    believed: Belief,
    bearing: Mapping[str, Lesson],
) -> float:
    answer = _answer(one)
    share = believed.shares[answer] * (likeness[one.episode.id] + 1e-6) / sums[answer]
    left = 1.0 - LESSON_SHARE * bearing[answer].confidence if answer in bearing else 1.0
    return believed.familiarity * share * left


def _recalled(one: Lived, likeness: float, score: float) -> Recalled:
    episode = one.episode
    return Recalled(
        kind="episode",
        id=episode.id,
        content=episode.situation,
        outcome=str(one.outcome),
        explicit=one.explicit and one.outcome is not Outcome.UNKNOWN,
        score=round(score, 4),
        likeness=round(likeness, 4),
        answer=one.resolution,
        decision=one.decision,
        correction=one.correction,
        state=episode.state,
        conversation_id=episode.conversation_id,
    )


def _lessons(bearing: Mapping[str, Lesson], believed: Belief) -> list[Recalled]:
    return [
        Recalled(
            kind="lesson",
            id=lesson.id,
            content=lesson.claim,
            outcome=f"{len(lesson.supporting)} for, {len(lesson.contradicting)} against",
            explicit=True,
            score=round(
                believed.familiarity
                * believed.shares[answer]
                * LESSON_SHARE
                * lesson.confidence,
                4,
            ),
            likeness=round(believed.familiarity * believed.shares[answer], 4),
            answer=lesson.action,
            state=lesson.state,
            confidence=round(lesson.confidence, 4),
        )
        for answer, lesson in sorted(bearing.items())
    ]
