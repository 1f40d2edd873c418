"""Search: what `search_memory` answers. No model is asked, and identity is the caller's."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from varve.domain.answer import Result, Searched, SearchResponse, Understood, Why
from varve.domain.calendar import Grain, Period, day_of, iso
from varve.domain.identity import Scope
from varve.domain.query import Filter, SearchRequest
from varve.domain.ranking import Candidate, Ranked, lane_weight, rank, recency, without_repeats
from varve.domain.record import MemoryType, Record
from varve.domain.routing import Route, route
from varve.domain.text import estimated_tokens
from varve.pipeline.ledger import Ledger
from varve.ports import Embedder, MemoryReader

if TYPE_CHECKING:
    from varve.domain.timewords import TimeWords

CANDIDATES_PER_RESULT = 5
MIN_CANDIDATES = 50
MAX_SOURCE_IDS = 50
"""Sources that a result lists; a summary may have hundreds, which `show` prints."""


@dataclass(frozen=True, slots=True)
class _Found:
    """A record to show, with what ranked it; cosine and BM25 are None when browsing by time."""

    record: Record
    score: float
    why: Why
    grain: Grain


@dataclass(frozen=True, slots=True)
class _Lanes:
    """The grains to search with how many records each has in the window; `fallback`: finer ones joined."""

    counts: dict[Grain, int]
    fallback: bool

    @property
    def filled(self) -> list[Grain]:
        return [grain for grain, count in self.counts.items() if count]


def search(
    scope: Scope,
    request: SearchRequest,
    now: datetime,
    zone: ZoneInfo,
    *,
    reader: MemoryReader,
    ledger: Ledger,
    embedder: Embedder,
) -> SearchResponse:
    """Answer one request about one agent's memory as it stands at this moment.

    Filters apply before ranking and before the limit. Without a text: newest first.
    Raises Rejected (the limits leave no time), Misconfigured (another embedding model), Retryable.
    """
    way = route(request, now, zone)
    lanes = _lanes(scope, way, zone, reader, ledger)
    found = _find(scope, request, way, lanes, reader, embedder)
    hint = None
    if not found and way.understood and way.text:
        wide = way.anywhen(request)
        found = _find(scope, request, wide, _lanes(scope, wide, zone, reader, ledger), reader, embedder)
        hint = f"Nothing matches in the time of {way.understood.phrase!r}; these are from any time."
    shown, tokens = _within(found, request)
    return SearchResponse(
        results=[_result(item, zone) for item in shown],
        searched=_searched(way, lanes, tokens),
        hint=(hint if shown else None) or _hint(scope, request, way, lanes, len(found), len(shown), reader),
    )


def _lanes(scope: Scope, way: Route, zone: ZoneInfo, reader: MemoryReader, ledger: Ledger) -> _Lanes:
    """The route's lanes, and all finer ones where the grain asked for has no ready summary for the time."""
    counts = {grain: reader.count(scope, grain, where=way.where) for grain in way.lanes}
    if way.asked in (None, Grain.WORKING):
        return _Lanes(counts, fallback=False)
    if counts[way.asked] and not _pending(scope, way, zone, ledger):
        return _Lanes(counts, fallback=False)
    finer = list(Grain)[: list(Grain).index(way.asked)]
    missing = (grain for grain in finer if grain not in counts)
    wide = counts | {grain: reader.count(scope, grain, where=way.where) for grain in missing}
    fallback = any(wide[grain] for grain in finer)
    return _Lanes(wide if fallback else counts, fallback)


def _pending(scope: Scope, way: Route, zone: ZoneInfo, ledger: Ledger) -> bool:
    """Whether a period of the grain asked for that touches the window is due or stale."""
    since, until = way.where.since, way.where.until
    return any(
        (until is None or due.period.start(zone) < until) and (since is None or due.period.end(zone) > since)
        for due in ledger.due(Grain(way.asked or Grain.DAILY), scope)
    )


def _find(
    scope: Scope, request: SearchRequest, way: Route, lanes: _Lanes, reader: MemoryReader, embedder: Embedder
) -> list[_Found]:
    if way.text:
        return _ranked(scope, request, way, lanes.filled, reader, embedder)
    return _newest(scope, request, way, lanes.filled, reader)


def _ranked(
    scope: Scope,
    request: SearchRequest,
    way: Route,
    grains: Sequence[Grain],
    reader: MemoryReader,
    embedder: Embedder,
) -> list[_Found]:
    """Candidates of all grains in one ranking."""
    if not grains:
        return []
    limit = max(MIN_CANDIDATES, CANDIDATES_PER_RESULT * request.max_results)
    (vector,) = embedder.embed([way.text])
    grain_of: dict[str, Grain] = {}
    candidates: list[Candidate] = []
    for grain in grains:
        lane = reader.search(
            scope,
            grain,
            text=way.text,
            vector=vector,
            model=embedder.model,
            where=way.where,
            limit=limit,
        )
        grain_of |= {candidate.record.id: grain for candidate in lane}
        candidates += lane
    weights = {id_: lane_weight(grain, way.asked, way.age_days) for id_, grain in grain_of.items()}
    ranked = rank(candidates, way.present, weights)
    return [_scored(item, grain_of[item.record.id]) for item in without_repeats(ranked)]


def _scored(item: Ranked, grain: Grain) -> _Found:
    why = Why(
        vector=round(item.vector, 4),
        keyword=round(item.keyword, 4),
        recency=round(item.recency, 4),
        importance=item.record.importance,
    )
    return _Found(item.record, round(item.score, 4), why, grain)


def _newest(
    scope: Scope, request: SearchRequest, way: Route, grains: Sequence[Grain], reader: MemoryReader
) -> list[_Found]:
    """The newest of all grains, those of the grain asked for first; the score is how recent they are."""
    browsed = [
        (record, grain)
        for grain in grains
        for record in reader.browse(scope, grain, where=way.where, limit=request.max_results)
    ]
    browsed.sort(
        key=lambda pair: (
            pair[1] is not way.asked,
            -pair[0].event_time.timestamp(),
            -pair[0].position,
            pair[0].id,
        )
    )
    return [_dated(record, grain, way.present) for record, grain in browsed]


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
        date=_date(item, zone),
        event_time=iso(record.event_time),
        score=item.score,
        why=item.why,
        conversation_id=record.conversation_id,
        source_ids=list(record.source_ids[:MAX_SOURCE_IDS]),
        user_id=record.user_id,
        memory_type=str(record.memory_type),
    )


def _date(item: _Found, zone: ZoneInfo) -> str:
    """The local day of what happened; of a summary the first day it sums up."""
    if item.record.memory_type is MemoryType.SUMMARY:
        return Period.parse(item.record.period, item.grain).days[0].isoformat()
    return day_of(item.record.event_time, zone)


def _searched(way: Route, lanes: _Lanes, tokens: int) -> Searched:
    since, until = way.where.since, way.where.until
    return Searched(
        grains=[str(grain) for grain in Grain if grain in lanes.counts],
        since=iso(since) if since else None,
        until=iso(until) if until else None,
        records=sum(lanes.counts.values()),
        fallback=lanes.fallback,
        tokens=tokens,
        understood=_understood(way.understood),
    )


def _understood(words: "TimeWords | None") -> Understood | None:
    if words is None:
        return None
    return Understood(
        phrase=words.phrase,
        since=iso(words.since) if words.since else None,
        until=iso(words.until) if words.until else None,
        grain=str(words.grain),
    )


def _hint(
    scope: Scope,
    request: SearchRequest,
    way: Route,
    lanes: _Lanes,
    found: int,
    shown: int,
    reader: MemoryReader,
) -> str | None:
    """What to do next when nothing is shown; None when the answer speaks for itself."""
    if shown:
        return None
    if found:
        return f"{found} memories match, but none fits maxTokens={request.max_tokens}; raise it."
    if lanes.filled:
        return "Nothing in this window matches; ask with other words, or without queryText to browse it."
    elsewhere = {grain: reader.count(scope, grain, where=Filter()) for grain in Grain}
    names = ", ".join(f"{count} {grain}" for grain, count in elsewhere.items() if count)
    if any(elsewhere[grain] for grain in way.lanes):
        return f"There are {names} records, but none within these limits (time, user, conversation)."
    if names:
        return f"There are no {way.lanes[0]} summaries; there are {names} records."
    return "This memory is empty: nothing has been ingested yet for this workspace and agent."
