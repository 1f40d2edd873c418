"""Search: answer `search_memory` without calling a chat model.

Workspace and agent come from the caller's session, never from the request.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import numpy as np

from varve.domain.calendar import Grain, iso
from varve.domain.entities import fold_of_user
from varve.domain.identity import Scope
from varve.domain.record import GRAINS, STORES, Record
from varve.domain.search.answer import SearchResponse
from varve.domain.search.mentions import has_mentions
from varve.domain.search.nearness import recency
from varve.domain.search.outline import microseconds
from varve.domain.search.query import EXPERIENCE_TYPES, Filter, SearchRequest
from varve.domain.search.question import asks_how_things_stand, read_question
from varve.domain.search.ranking import Ranked, lane_weight
from varve.domain.search.results import Browsed, fit_to_limits, ranked_result
from varve.domain.search.routing import Route, route
from varve.domain.search.strategies import (
    BALANCED,
    CURRENT,
    HALF_LIFE_DAYS,
    with_half_life,
)
from varve.domain.search.supersession import demote_ended, drop_succeeded, find_ended
from varve.domain.statements.cues import asks_past
from varve.domain.triple import Triple
from varve.ports.knowledge import Reranker
from varve.ports.meter import doing
from varve.ports.models import Embedder
from varve.ports.records import MemoryReader
from varve.usecases.experience.rows import read_history
from varve.usecases.experience.search import with_experience
from varve.usecases.find import Stock, Wanted, find, rerank
from varve.usecases.ledger import Ledger
from varve.usecases.meant import ask_which, find_meant
from varve.usecases.metadata import find_ids
from varve.usecases.session import Session
from varve.usecases.views import View

if TYPE_CHECKING:
    from varve.domain.language.timewords import TimeWords

MAX_RESULTS = 100
MAX_BROWSED = 1_000
"""The newest records of a grain among which a browse looks for words."""
SPARE_RESULTS = 10
"""Additional candidates for a question in which superseded statements are demoted."""


@doing("search")
def search(session: Session, request: SearchRequest) -> SearchResponse:
    """Answer `search_memory` for one agent.

    Experience is searched too if the request asks for its memory types.
    Raises Rejected: the limits leave no time; Misconfigured: the store has another
    embedding model; Retryable.
    """
    stores = STORES if EXPERIENCE_TYPES & set(request.memory_types) else GRAINS
    answer = partial(_answer_view, session, request)
    return session.views.answer(session, request, answer, stores)


def _answer_view(
    session: Session, request: SearchRequest, view: View
) -> SearchResponse:
    session = session.with_config(view.config)
    request = session.privacy.filter_request(request)
    lookup = Lookup(
        scope=session.scope,
        now=session.now,
        zone=session.zone,
        reader=view.reader,
        ledger=view.ledger,
        embedder=session.embedder,
        half_life_days=session.config.search.half_life_days,
        reranker=session.models.reranker(session.config),
        triples=view.triples,
    )
    found = look_up(lookup, request)
    if not EXPERIENCE_TYPES & set(request.memory_types):
        return found
    return with_experience(
        found,
        request,
        session.now,
        session.zone,
        history=read_history(session.scope, reader=view.reader),
        embedder=lookup.embedder,
    )


@dataclass(frozen=True, slots=True)
class Lookup:
    """Whose memory a search reads, when, and by which ports.

    `triples` reads the agent's triples; it is called only if the question is about how
    things stand.
    """

    scope: Scope
    now: datetime
    zone: ZoneInfo
    reader: MemoryReader
    ledger: Ledger
    embedder: Embedder
    half_life_days: float = HALF_LIFE_DAYS
    reranker: Reranker | None = None
    triples: Callable[[], Sequence[Triple]] = list


@dataclass(frozen=True, slots=True)
class _Search:
    """One search: the lookup, its request, and the stores read for it."""

    lookup: Lookup
    request: SearchRequest
    stock: Stock = field(repr=False)

    def count(self, grain: Grain, where: Filter) -> int:
        """Count the records that pass the filter.

        For a question the store is read anyway, so it is counted in memory.
        """
        if self.request.text:
            return self.stock.count(grain, where)
        return self.lookup.reader.count(self.lookup.scope, grain, where=where)


@dataclass(frozen=True, slots=True)
class _Lanes:
    """The grains to search, with the number of records in the window.

    `fallback`: finer grains were added to the one asked for.
    """

    counts: dict[Grain, int]
    fallback: bool

    @property
    def filled(self) -> list[Grain]:
        """The grains that have records in the window."""
        return [grain for grain, count in self.counts.items() if count]


def look_up(lookup: Lookup, request: SearchRequest) -> SearchResponse:
    """Answer one request about one agent's memory as the lookup's reader shows it.

    Filters apply before ranking and before the limit. Without a text: newest first.
    Raises Rejected, Misconfigured, Retryable as `search` does.
    """
    zone = lookup.zone
    meant = find_meant(request, lookup.triples)
    if meant.candidates:
        return ask_which(request, meant.candidates)
    stock = Stock(lookup.scope, lookup.reader, lookup.embedder)
    running = _Search(lookup, request, stock)
    ids = find_ids(lookup.reader, lookup.scope, request.where)
    way = route(request, lookup.now, zone).mentioning(meant.mentions).among(ids)
    lanes = _choose_lanes(way, running)
    if way.weighs and not stock.holds(lanes.filled, way):
        way = way.seen_from(stock.newest(lanes.filled, way.present), zone)
    found = _find(way, lanes, running)
    if not found and way.understood and way.text:
        wide = way.without_window(request)
        found = _find(wide, _choose_lanes(wide, running), running)
    outside = _explain_outside(way, lanes, stock, bool(found))
    outside = outside or _explain_finer(way, lanes)
    ordered, reranked = _rerank(way, found, lookup.reranker)
    best, tokens = fit_to_limits(ordered, request.max_results, request.max_tokens)
    hint = outside if best else _explain_empty(way, lanes, len(found), running)
    # One validation of all values: twice as fast as one for each result.
    return SearchResponse.model_validate(
        {
            "results": [_result(item, zone) for item in best],
            "searched": _searched(way, lanes, tokens, reranked),
            "hint": hint,
        }
    )


def _rerank(
    way: Route, found: Sequence[Ranked | Browsed], reranker: Reranker | None
) -> tuple[Sequence[Ranked | Browsed], bool | None]:
    """Return the records in the reranker's order, and whether it answered.

    None: it was not called.
    """
    ranked = [item for item in found if isinstance(item, Ranked)]
    if reranker is None or not ranked:
        return found, None
    return rerank(way.text, ranked, reranker)


def _result(item: Ranked | Browsed, zone: ZoneInfo) -> Any:
    if isinstance(item, Ranked):
        return ranked_result(item, zone)
    return item.result(zone)


def _choose_lanes(way: Route, running: _Search) -> _Lanes:
    """Return the route's lanes.

    If the grain asked for has no ready summary in the window, the finer grains join it.
    """
    counts = {grain: running.count(grain, way.where) for grain in way.lanes}
    if way.asked in (None, Grain.WORKING):
        return _Lanes(counts, fallback=False)
    if counts[way.asked] and not _is_pending(way, running):
        return _Lanes(counts, fallback=False)
    grains = list(Grain)
    finer = grains[: grains.index(way.asked)]
    wide = dict(counts)
    for grain in finer:
        if grain not in wide:
            wide[grain] = running.count(grain, way.where)
    if any(wide[grain] for grain in finer):
        return _Lanes(wide, fallback=True)
    return _Lanes(counts, fallback=False)


def _is_pending(way: Route, running: _Search) -> bool:
    """Return whether a due or stale period of the grain asked for touches the window."""
    lookup = running.lookup
    for due in lookup.ledger.due(Grain(way.asked or Grain.DAILY), lookup.scope):
        period = due.period
        begins_inside = way.until is None or period.start(lookup.zone) < way.until
        ends_inside = way.since is None or period.end(lookup.zone) > way.since
        if begins_inside and ends_inside:
            return True
    return False


def _find(way: Route, lanes: _Lanes, running: _Search) -> Sequence[Ranked | Browsed]:
    if not lanes.filled:
        return []
    if not way.text:
        return _browse(way, lanes.filled, running)
    no_window = way.since is None and way.until is None
    current = no_window and asks_how_things_stand(way.text)
    found = find(_wanted(way, lanes, running, current=current), running.stock)
    if current:
        triples = fold_of_user(running.lookup.triples(), running.request.user_id)
        found = demote_ended(found, way.text, find_ended(triples, way.present))
    if running.request.include_superseded or not _is_about_present(way):
        return found
    return drop_succeeded(found)


def _wanted(way: Route, lanes: _Lanes, running: _Search, *, current: bool) -> Wanted:
    request = running.request
    limit = request.max_results + (SPARE_RESULTS if current else 0)
    if request.max_tokens:
        limit = MAX_RESULTS
    strategy = CURRENT if current else BALANCED
    return Wanted(
        question=read_question(
            way.text, way.near_since, way.near_until, lasting=way.lasting
        ),
        where=way.where,
        present=way.present,
        strategy=with_half_life(strategy, running.lookup.half_life_days),
        weights={
            grain: lane_weight(grain, way.asked, way.age_days) for grain in lanes.filled
        },
        limit=limit,
        explain=request.explain,
        about_present=_is_about_present(way),
    )


def _is_about_present(way: Route) -> bool:
    """Return whether a question asks for what holds, not for bygone times."""
    has_window = way.since is not None or way.until is not None
    return not has_window and not asks_past(way.text)


def _browse(way: Route, grains: Sequence[Grain], running: _Search) -> list[Browsed]:
    """Return the newest records of all grains; the score is the recency."""
    lookup = running.lookup
    mentions = way.where.mentions
    limit = MAX_BROWSED if mentions else running.request.max_results
    browsed: list[tuple[Record, Grain]] = []
    for grain in grains:
        records = lookup.reader.browse(
            lookup.scope, grain, where=way.where, limit=limit
        )
        for record in records:
            if has_mentions(record.content, mentions):
                browsed.append((record, grain))

    def newest_first(pair: tuple[Record, Grain]) -> tuple[float, int, str]:
        record, _ = pair
        seconds = record.event_time.timestamp()
        return -seconds, -record.position, record.id

    browsed.sort(key=newest_first)
    moments = [microseconds(record.event_time) for record, _ in browsed]
    times = np.array(moments, np.int64)
    scores = recency(times, way.present, lookup.half_life_days).tolist()
    return [
        Browsed(record, grain, score)
        for (record, grain), score in zip(browsed, scores, strict=True)
    ]


def _searched(
    way: Route, lanes: _Lanes, tokens: int, reranked: bool | None
) -> dict[str, Any]:
    """Return the values of the answer's `Searched`."""
    since = way.where.since
    until = way.where.until
    return {
        "grains": [grain for grain in Grain if grain in lanes.counts],
        "since": since and iso(since),
        "until": until and iso(until),
        "records": sum(lanes.counts.values()),
        "fallback": lanes.fallback,
        "tokens": tokens,
        "understood": way.understood and _understood(way.understood),
        "reranked": reranked,
    }


def _understood(words: "TimeWords") -> dict[str, Any]:
    return {
        "phrase": words.phrase,
        "since": words.since and iso(words.since),
        "until": words.until and iso(words.until),
        "grain": words.grain,
    }


def _explain_outside(
    way: Route, lanes: _Lanes, stock: Stock, found: bool
) -> str | None:
    """Say that the results lie outside the time that the question names.

    None: they do not.
    """
    if not way.understood:
        return None
    outside = way.weighs and not stock.holds(lanes.filled, way)
    if outside or (found and not lanes.filled):
        phrase = way.understood.phrase
        return f"Nothing matches in the time of {phrase!r}; these are from any time."
    return None


def _explain_finer(way: Route, lanes: _Lanes) -> str | None:
    """Say that finer grains answer in place of the one that the request names."""
    if not lanes.fallback or way.asked is None or way.understood:
        return None
    finer = [grain for grain in lanes.filled if grain is not way.asked]
    if not finer:
        return None
    if lanes.counts[way.asked]:
        missing = f"Some {way.asked} summaries are not built yet"
    else:
        missing = f"There are no {way.asked} summaries here"
    return f"{missing}; {', '.join(finer)} records answer as well."


def _explain_empty(way: Route, lanes: _Lanes, found: int, running: _Search) -> str:
    """Say why nothing is shown and what to do next; `found` records matched."""
    if found:
        limit = running.request.max_tokens
        return f"Of {found} that match none fits maxTokens={limit}; raise it."
    if lanes.filled:
        return (
            "Nothing in this window matches; ask with other words, or without "
            "queryText to browse it."
        )
    lookup = running.lookup
    counts = {
        grain: lookup.reader.count(lookup.scope, grain, where=Filter())
        for grain in Grain
    }
    stored = ", ".join(f"{count} {grain}" for grain, count in counts.items() if count)
    if any(counts[grain] for grain in way.lanes):
        return (
            f"Records by grain: {stored}; none within these limits "
            "(time, user, conversation)."
        )
    if stored:
        return f"There are no {way.lanes[0]} records. By grain: {stored}."
    return (
        "This memory is empty: nothing has been ingested yet for this workspace "
        "and agent."
    )
