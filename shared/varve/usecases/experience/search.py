"""Experience in `search_memory`: episodes with their outcomes, lessons, prior answers."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

import numpy as np

from varve.domain.calendar import day_of, iso, microseconds
from varve.domain.experience.answers import answer_from
from varve.domain.experience.history import History, PastEpisode
from varve.domain.experience.lessons import Lesson, derive_lessons
from varve.domain.experience.outcomes import Outcome
from varve.domain.experience.recall import recollect
from varve.domain.record import MemoryType, Record, Store
from varve.domain.search.answer import Result, SearchResponse, Why
from varve.domain.search.nearness import recency
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
from varve.usecases.experience.learnt import read_granted_rows, rests_on
from varve.usecases.experience.rows import read_rows, year_of
from varve.usecases.search.lookup import Lookup

_LIVED = frozenset({"episode", "lesson"})


@dataclass(frozen=True, slots=True)
class _ExperienceSearch:
    """A request for experience, its time, the history it may see, and the embedder.

    `wanted` are the memory types to find, and `agent` is the one whose history it is.
    """

    request: SearchRequest
    present: datetime
    zone: ZoneInfo
    history: History
    embedder: Embedder
    wanted: frozenset[str]
    agent: str

    def recency(self, at: datetime) -> float:
        """Return the recency of an instant, from 0 to 1."""
        times = np.array([microseconds(at)])
        return float(recency(times, self.present, HALF_LIFE_DAYS)[0])


def with_experience(
    found: SearchResponse, request: SearchRequest, lookup: Lookup
) -> SearchResponse:
    """Add experience to a response, or replace it if no other memory type is asked for.

    A request for episodes or lessons gets both: a lesson never stands in for what
    happened. Of other agents it gets the types that they granted.
    Raises Rejected: the limits leave no time.
    """
    results: list[Result] = []
    records = 0
    for one in _open_searches(request, lookup):
        own = _find(one)
        agent_id = one.agent if lookup.shared else None
        results += [
            item.model_copy(update={"agent_id": agent_id}) for item in own
        ]
        rows = one.history.all_rows
        records += sum(row.memory_type in one.wanted for row in rows)
    results = _best(results, request.max_results)
    grains = [str(Store.EXPERIENCE)]
    if set(request.memory_types) - EXPERIENCE_TYPES:
        results = _best([*found.results, *results], request.max_results)
        grains = [*found.searched.grains, *grains]
        records += found.searched.records
    shown, tokens = _fit(results, request.max_tokens)
    searched = found.searched.model_copy(
        update={"grains": grains, "records": records, "tokens": tokens}
    )
    hint = None
    if not shown:
        hint = "No experience matches; episodes come with states and outcomes."
    return SearchResponse(results=shown, searched=searched, hint=hint)


def _open_searches(
    request: SearchRequest, lookup: Lookup
) -> Iterator[_ExperienceSearch]:
    """Yield the search of the agent's own experience and of each that is shared with it."""
    where = window(request, lookup.now, lookup.zone)
    present = as_of(request, lookup.now, lookup.zone)
    wanted = _wanted_types(request)

    def open_search(
        agent: str, rows: Iterable[Record], types: frozenset[str]
    ) -> _ExperienceSearch:
        visible = History(row for row in rows if _is_visible(row, where))
        return _ExperienceSearch(
            request,
            present,
            lookup.zone,
            visible,
            lookup.embedder,
            types,
            agent,
        )

    own = read_rows(lookup.scope, reader=lookup.reader)
    yield open_search(lookup.scope.agent, own, wanted)
    for memory in lookup.shared:
        grant = memory.grant
        types = grant.find_experience(wanted)
        if types and grant.includes(request.user_id):
            yield open_search(grant.agent, read_granted_rows(memory), types)


def _wanted_types(request: SearchRequest) -> frozenset[str]:
    """Return the memory types of experience to search."""
    asked = EXPERIENCE_TYPES & set(request.memory_types)
    if asked & _LIVED:
        asked |= _LIVED
    return asked


def _best(results: Iterable[Result], limit: int) -> list[Result]:
    ordered = sorted(results, key=lambda result: (-result.score, result.id))
    return ordered[:limit]


def _fit(
    results: Iterable[Result], max_tokens: int | None
) -> tuple[list[Result], int]:
    """Return the results that fit the tokens, and the sum of theirs.

    A result that does not fit is skipped; a shorter one after it may fit.
    """
    shown: list[Result] = []
    tokens = 0
    for result in results:
        cost = estimated_tokens(result.content)
        if max_tokens is None or tokens + cost <= max_tokens:
            shown.append(result)
            tokens += cost
    return shown, tokens


def _is_visible(row: Record, where: Filter) -> bool:
    """Return whether the filter lets a row through.

    A lesson has no start, and belongs to the user of its episodes. Counts of reads have
    neither start nor user.
    """
    if where.until is not None and row.event_time >= where.until:
        return False
    if row.memory_type is MemoryType.LESSON:
        return where.user_id is None or rests_on(row, where.user_id)
    if row.memory_type is MemoryType.USAGE:
        return True
    if where.since is not None and row.event_time < where.since:
        return False
    is_users = where.user_id in (None, row.user_id)
    return is_users and where.conversation_id in (None, row.conversation_id)


def _find(running: _ExperienceSearch) -> list[Result]:
    """Return the experience of the wanted types that answers; without a text the newest."""
    results: list[Result] = []
    if running.wanted & _LIVED:
        results += (
            _find_lived(running) if running.request.text else _newest(running)
        )
    if "prior_answer" in running.wanted:
        results += _find_answers(running)
    return [
        result for result in results if result.memory_type in running.wanted
    ]


def _newest(running: _ExperienceSearch) -> list[Result]:
    newest = list(running.history.past_episodes)[
        -running.request.max_results :
    ]
    return [
        _episode_result(running, one, running.recency(one.episode.began), None)
        for one in newest
    ]


def _find_lived(running: _ExperienceSearch) -> list[Result]:
    """Return the episodes and lessons that bear on the text."""
    history = running.history
    embedder = running.embedder
    text = running.request.text
    lessons = derive_lessons(history, embedder.embed)
    (vector,) = embedder.embed([text])
    found = recollect(
        text,
        vector,
        history,
        lessons,
        embedder.embed,
        words=word_embedding(embedder),
        limit=running.request.max_results,
    )
    by_id = {lesson.id: lesson for lesson in lessons}
    results: list[Result] = []
    for item in found.items:
        score = item.likeness
        if item.kind == "episode":
            episode = history.by_id[item.id]
            results.append(_episode_result(running, episode, score, score))
        else:
            results.append(_lesson_result(running, by_id[item.id], score))
    return results


def _find_answers(running: _ExperienceSearch) -> list[Result]:
    rows = running.history.rows(MemoryType.PRIOR_ANSWER)
    text = running.request.text
    if not rows or not text:
        return [
            _answer_result(running, row, running.recency(row.event_time), None)
            for row in rows
        ]
    vector, *vectors = running.embedder.embed(
        [text, *(row.content for row in rows)]
    )
    results: list[Result] = []
    for row, other in zip(rows, vectors, strict=True):
        score = max(0.0, float(np.dot(vector, other)))
        results.append(_answer_result(running, row, score, round(score, 4)))
    return results


def _episode_result(
    running: _ExperienceSearch,
    past: PastEpisode,
    score: float,
    vector: float | None,
) -> Result:
    episode = past.episode
    parts = [f"[{past.outcome}] {episode.situation}"]
    if past.decision:
        parts.append(f"Done: {past.decision}")
    if past.resolution and past.outcome is not Outcome.SUCCESS:
        parts.append(f"Right: {past.resolution}")
    if past.correction:
        parts.append(f"Correction: {past.correction}")
    return Result(
        id=episode.id,
        content=" ".join(parts),
        grain=str(Store.EXPERIENCE),
        period=year_of(episode.began, running.zone),
        date=day_of(episode.began, running.zone),
        event_time=iso(episode.began),
        score=round(max(0.0, score), 4),
        why=_why(running, episode.began, episode.importance, vector),
        conversation_id=episode.conversation_id,
        source_ids=list(episode.message_ids),
        user_id=episode.user_id,
        memory_type="episode",
    )


def _lesson_result(
    running: _ExperienceSearch, lesson: Lesson, score: float
) -> Result:
    at = lesson.versions[-1].at
    evidence = (
        f"{len(lesson.supporting)} for, {len(lesson.contradicting)} against"
    )
    return Result(
        id=lesson.id,
        content=f"[LESSON, confidence {lesson.confidence:.2f}, {evidence}] {lesson.claim}",
        grain=str(Store.EXPERIENCE),
        period=year_of(at, running.zone),
        date=day_of(at, running.zone),
        event_time=iso(at),
        score=score,
        why=_why(running, at, lesson.confidence, None),
        conversation_id=None,
        source_ids=list(lesson.supporting),
        user_id=None,
        memory_type="lesson",
    )


def _answer_result(
    running: _ExperienceSearch, row: Record, score: float, vector: float | None
) -> Result:
    return Result(
        id=row.id,
        content=f"{row.content} {answer_from(row).answer}",
        grain=str(Store.EXPERIENCE),
        period=row.period,
        date=day_of(row.event_time, running.zone),
        event_time=iso(row.event_time),
        score=round(score, 4),
        why=_why(running, row.event_time, row.importance, vector),
        conversation_id=row.conversation_id,
        source_ids=list(row.source_ids),
        user_id=row.user_id,
        memory_type=str(row.memory_type),
    )


def _why(
    running: _ExperienceSearch,
    at: datetime,
    importance: float,
    vector: float | None,
) -> Why:
    return Why(
        vector=vector,
        keyword=None,
        recency=round(running.recency(at), 4),
        importance=importance,
    )
