"""Experience in the answer of `search_memory`: what was tried, learnt and answered, and how it ended."""

from datetime import datetime
from zoneinfo import ZoneInfo

import numpy as np

from varve.domain.calendar import day_of, iso
from varve.domain.experience.answers import answer_from
from varve.domain.experience.history import History, PastEpisode
from varve.domain.experience.lessons import Lesson, derive_lessons
from varve.domain.experience.outcomes import Outcome
from varve.domain.experience.recall import recollect
from varve.domain.record import MemoryType, Record, Store
from varve.domain.search.answer import Result, SearchResponse, Why
from varve.domain.search.nearness import recency
from varve.domain.search.outline import microseconds
from varve.domain.search.query import (
    EXPERIENCE_TYPES,
    Filter,
    SearchRequest,
    as_of,
    window,
)
from varve.domain.search.strategies import HALF_LIFE_DAYS
from varve.domain.text import estimated_tokens
from varve.ports.models import Embedder
from varve.ports.search import word_embedding
from varve.usecases.experience.learnt import rests_on
from varve.usecases.experience.rows import year_of

_LIVED = frozenset({"episode", "lesson"})


def _wanted(request: SearchRequest) -> frozenset[str]:
    """The kinds of experience that are looked at."""
    asked = EXPERIENCE_TYPES & set(request.memory_types)
    return asked | _LIVED if asked & _LIVED else asked


def with_experience(
    found: SearchResponse,
    request: SearchRequest,
    now: datetime,
    zone: ZoneInfo,
    *,
    history: History,
    embedder: Embedder,
) -> SearchResponse:
    """What the grains answered, where their memory types are asked for too, with what experience answers.

    Whoever asks for episodes or for lessons gets both: a lesson never stands in for what happened.
    Raises Rejected: the limits leave no time at all.
    """
    plain = bool(set(request.memory_types) - EXPERIENCE_TYPES)
    where, present, wanted = (
        window(request, now, zone),
        as_of(request, now, zone),
        _wanted(request),
    )
    held = History(row for row in history.all_rows if _within(row, where))
    known = _found(wanted, request, present, zone, held, embedder)
    both = [*(found.results if plain else ()), *known]
    shown: list[Result] = []
    tokens = 0
    for result in sorted(both, key=lambda result: (-result.score, result.id))[
        : request.max_results
    ]:
        cost = estimated_tokens(result.content)
        if request.max_tokens is None or tokens + cost <= request.max_tokens:
            shown.append(result)
            tokens += cost
    grains = [*(found.searched.grains if plain else ()), str(Store.EXPERIENCE)]
    rows = sum(row.memory_type in wanted for row in held.all_rows)
    records = rows + (found.searched.records if plain else 0)
    searched = found.searched.model_copy(
        update={"grains": grains, "records": records, "tokens": tokens}
    )
    hint = (
        None
        if shown
        else "No experience matches; episodes come with states and outcomes."
    )
    return SearchResponse(results=shown, searched=searched, hint=hint)


def _found(
    wanted: frozenset[str],
    request: SearchRequest,
    present: datetime,
    zone: ZoneInfo,
    held: History,
    embedder: Embedder,
) -> list[Result]:
    """What of an agent's experience answers the request, best first; without a text the newest first."""
    results: list[Result] = []
    if wanted & _LIVED:
        results += _lived(request, present, zone, held, embedder)
    if "prior_answer" in wanted:
        results += _answers(request, present, zone, held, embedder)
    return sorted(results, key=lambda result: (-result.score, result.id))[
        : request.max_results
    ]


def _recency(at: datetime, present: datetime) -> float:
    return float(recency(np.array([microseconds(at)]), present, HALF_LIFE_DAYS)[0])


def _within(row: Record, where: Filter) -> bool:
    """Whether a row may be looked at; lessons are made in time, and are of whose episodes they rest on."""
    if where.until is not None and row.event_time >= where.until:
        return False
    if row.memory_type is MemoryType.LESSON:
        return where.user_id is None or rests_on(row, where.user_id)
    return row.memory_type is MemoryType.USAGE or (
        (where.since is None or row.event_time >= where.since)
        and where.user_id in (None, row.user_id)
        and where.conversation_id in (None, row.conversation_id)
    )


def _lived(
    request: SearchRequest,
    present: datetime,
    zone: ZoneInfo,
    held: History,
    embedder: Embedder,
) -> list[Result]:
    if not request.text:
        newest = list(held.past_episodes)[-request.max_results :]
        return [
            _episode(one, _recency(one.episode.began, present), None, present, zone)
            for one in newest
        ]
    known = derive_lessons(held)
    (vector,) = embedder.embed([request.text])
    words = word_embedding(embedder)
    found = recollect(
        request.text,
        vector,
        held,
        known,
        embedder.embed,
        words=words,
        limit=request.max_results,
    )
    by_id = {lesson.id: lesson for lesson in known}
    return [
        _episode(held.by_id[item.id], item.likeness, item.likeness, present, zone)
        if item.kind == "episode"
        else _lesson(by_id[item.id], item.likeness, present, zone)
        for item in found.items
    ]


def _answers(
    request: SearchRequest,
    present: datetime,
    zone: ZoneInfo,
    held: History,
    embedder: Embedder,
) -> list[Result]:
    rows = held.rows(MemoryType.PRIOR_ANSWER)
    if not rows:
        return []
    vectors = (
        embedder.embed([request.text, *(row.content for row in rows)])
        if request.text
        else []
    )
    near = [float(np.dot(vectors[0], vector)) for vector in vectors[1:]]
    scores = near or [_recency(row.event_time, present) for row in rows]
    return [
        _result(
            row.id,
            f"{row.content} {answer_from(row).answer}",
            max(0.0, score),
            row,
            present,
            zone,
            bool(near),
        )
        for row, score in zip(rows, scores, strict=True)
    ]


def _episode(
    one: PastEpisode,
    score: float,
    vector: float | None,
    present: datetime,
    zone: ZoneInfo,
) -> Result:
    episode = one.episode
    known = [f"[{one.outcome}] {episode.situation}"]
    known += [f"Done: {one.decision}"] if one.decision else []
    known += (
        [f"Right: {one.resolution}"]
        if one.resolution and one.outcome is not Outcome.SUCCESS
        else []
    )
    known += [f"Correction: {one.correction}"] if one.correction else []
    return Result(
        id=episode.id,
        content=" ".join(known),
        grain=str(Store.EXPERIENCE),
        period=year_of(episode.began, zone),
        date=day_of(episode.began, zone),
        event_time=iso(episode.began),
        score=round(max(0.0, score), 4),
        why=Why(
            vector=vector,
            keyword=None,
            recency=round(_recency(episode.began, present), 4),
            importance=episode.importance,
        ),
        conversation_id=episode.conversation_id,
        source_ids=list(episode.message_ids),
        user_id=episode.user_id,
        memory_type="episode",
    )


def _lesson(lesson: Lesson, score: float, present: datetime, zone: ZoneInfo) -> Result:
    at = lesson.versions[-1].at
    evidence = f"{len(lesson.supporting)} for, {len(lesson.contradicting)} against"
    return Result(
        id=lesson.id,
        content=f"[LESSON, confidence {lesson.confidence:.2f}, {evidence}] {lesson.claim}",
        grain=str(Store.EXPERIENCE),
        period=year_of(at, zone),
        date=day_of(at, zone),
        event_time=iso(at),
        score=score,
        why=Why(
            vector=None,
            keyword=None,
            recency=round(_recency(at, present), 4),
            importance=lesson.confidence,
        ),
        conversation_id=None,
        source_ids=list(lesson.supporting),
        user_id=None,
        memory_type="lesson",
    )


def _result(
    id_: str,
    content: str,
    score: float,
    row: Record,
    present: datetime,
    zone: ZoneInfo,
    compared: bool,
) -> Result:
    return Result(
        id=id_,
        content=content,
        grain=str(Store.EXPERIENCE),
        period=row.period,
        date=day_of(row.event_time, zone),
        event_time=iso(row.event_time),
        score=round(score, 4),
        why=Why(
            vector=round(score, 4) if compared else None,
            keyword=None,
            recency=round(_recency(row.event_time, present), 4),
            importance=row.importance,
        ),
        conversation_id=row.conversation_id,
        source_ids=list(row.source_ids),
        user_id=row.user_id,
        memory_type=str(row.memory_type),
    )
