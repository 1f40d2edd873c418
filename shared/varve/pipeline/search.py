"""Search: what `search_memory` answers. No model is asked, and identity is the caller's."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from varve.domain.answer import Result, Searched, SearchResponse, Why
from varve.domain.calendar import Grain, day_of, iso
from varve.domain.identity import Scope
from varve.domain.query import Filter, SearchRequest, as_of, window
from varve.domain.ranking import Candidate, Ranked, rank, recency, without_repeats
from varve.domain.record import Record
from varve.domain.text import estimated_tokens
from varve.ports import Embedder, MemoryReader

CANDIDATES_PER_RESULT = 5
MIN_CANDIDATES = 50
BUILT_GRAINS = (Grain.WORKING,)


@dataclass(frozen=True, slots=True)
class _Found:
    """A record to show, with what ranked it; cosine and BM25 are None when browsing by time."""

    record: Record
    score: float
    why: Why
    grain: Grain


def search(
    scope: Scope,
    request: SearchRequest,
    now: datetime,
    zone: ZoneInfo,
    *,
    reader: MemoryReader,
    embedder: Embedder,
) -> SearchResponse:
    """Answer one request about one agent's memory as it stands at this moment.

    Filters apply before ranking and before the limit. Without a text: newest first.
    Raises Rejected (the limits leave no time), Misconfigured (another embedding model), Retryable.
    """
    where = window(request, now, zone)
    present = as_of(request, now, zone)
    grains = list(BUILT_GRAINS) if request.grain == "auto" else [Grain(request.grain)]
    counts = {grain: reader.count(scope, grain, where=where) for grain in grains}
    searched = [grain for grain in grains if counts[grain]]
    if request.text:
        found = _ranked(scope, request, searched, where, present, reader, embedder)
    else:
        found = _newest(scope, request, searched, where, present, reader)
    shown, tokens = _within(found, request)
    records = sum(counts.values())
    return SearchResponse(
        results=[_result(item, zone) for item in shown],
        searched=Searched(
            grains=[str(grain) for grain in grains],
            since=iso(where.since) if where.since else None,
            until=iso(where.until) if where.until else None,
            records=records,
            fallback=False,
            tokens=tokens,
        ),
        hint=_hint(scope, request, grains, records, len(found), len(shown), reader),
    )


def _ranked(
    scope: Scope,
    request: SearchRequest,
    grains: Sequence[Grain],
    where: Filter,
    present: datetime,
    reader: MemoryReader,
    embedder: Embedder,
) -> list[_Found]:
    """Candidates of all grains in one ranking."""
    if not grains:
        return []
    limit = max(MIN_CANDIDATES, CANDIDATES_PER_RESULT * request.max_results)
    (vector,) = embedder.embed([request.text])
    grain_of: dict[str, Grain] = {}
    candidates: list[Candidate] = []
    for grain in grains:
        lane = reader.search(scope, grain, text=request.text, vector=vector, where=where, limit=limit)
        grain_of |= {candidate.record.id: grain for candidate in lane}
        candidates += lane
    return [_scored(item, grain_of[item.record.id]) for item in without_repeats(rank(candidates, present))]


def _scored(item: Ranked, grain: Grain) -> _Found:
    why = Why(
        vector=round(item.vector, 4),
        keyword=round(item.keyword, 4),
        recency=round(item.recency, 4),
        importance=item.record.importance,
    )
    return _Found(item.record, round(item.score, 4), why, grain)


def _newest(
    scope: Scope,
    request: SearchRequest,
    grains: Sequence[Grain],
    where: Filter,
    present: datetime,
    reader: MemoryReader,
) -> list[_Found]:
    """The newest of all grains; the score is how recent they are."""
    browsed = [
        (record, grain)
        for grain in grains
        for record in reader.browse(scope, grain, where=where, limit=request.max_results)
    ]
    browsed.sort(key=lambda pair: (-pair[0].event_time.timestamp(), -pair[0].position, pair[0].id))
    return [_dated(record, grain, present) for record, grain in browsed]


def _dated(record: Record, grain: Grain, present: datetime) -> _Found:
    fresh = round(recency(record.event_time, present), 4)
    why = Why(vector=None, keyword=None, recency=fresh, importance=record.importance)
    return _Found(record, fresh, why, grain)


def _within(found: Iterable[_Found], request: SearchRequest) -> tuple[list[_Found], int]:
    """The best that fit both limits, and the tokens of their contents; at least one is shown.

    What does not fit is passed over for shorter ones that do.
    """
    shown: list[_Found] = []
    tokens = 0
    for item in found:
        cost = estimated_tokens(item.record.content)
        if request.max_tokens is None or tokens + cost <= request.max_tokens:
            shown.append(item)
            tokens += cost
        if len(shown) == request.max_results:
            break
    return shown, tokens


def _result(item: _Found, zone: ZoneInfo) -> Result:
    record = item.record
    return Result(
        id=record.id,
        content=record.content,
        grain=str(item.grain),
        period=record.period,
        date=day_of(record.event_time, zone),
        event_time=iso(record.event_time),
        score=item.score,
        why=item.why,
        conversation_id=record.conversation_id,
        source_ids=list(record.source_ids),
        user_id=record.user_id,
        memory_type=str(record.memory_type),
    )


def _hint(
    scope: Scope,
    request: SearchRequest,
    grains: Sequence[Grain],
    records: int,
    found: int,
    shown: int,
    reader: MemoryReader,
) -> str | None:
    """What to do next when little or nothing is shown; None when the answer speaks for itself."""
    if shown:
        return None
    if found:
        return f"{found} memories match, but none fits maxTokens={request.max_tokens}; raise it."
    if records:
        return "Nothing in this window matches; ask with other words, or without queryText to browse it."
    names = ", ".join(grains)
    total = sum(reader.count(scope, grain, where=Filter()) for grain in grains)
    if total:
        return (
            f"{total} {names} memories exist, but none within these limits (time, user, conversation); "
            "widen or drop them."
        )
    if any(grain not in BUILT_GRAINS for grain in grains):
        return f"There are no {names} summaries; search grain 'working' or 'auto'."
    return "This memory is empty: nothing has been ingested yet for this workspace and agent."
