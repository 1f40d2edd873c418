"""Search: what `search_memory` answers. No model is asked, and identity is the caller's."""

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
from varve.domain.record import GRAINS, STORES
from varve.domain.search.answer import SearchResponse
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
from varve.domain.search.supersession import demote_ended, find_ended
from varve.domain.triple import Triple
from varve.ports.knowledge import Reranker
from varve.ports.models import Embedder
from varve.ports.records import MemoryReader
from varve.usecases.experience.rows import read_history
from varve.usecases.experience.search import with_experience
from varve.usecases.find import Stock, Wanted, find, reranked
from varve.usecases.ledger import Ledger
from varve.usecases.session import Session
from varve.usecases.views import View

if TYPE_CHECKING:
    from varve.domain.search.timewords import TimeWords

MAX_RESULTS = 100
SPARE_RESULTS = 10
"""Additional candidates if superseded statements may step back demote_ended their successors."""


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
    """Where one question is looked up, and when: the same for the whole of a search.

    `triples` are the agent's; they are read only if the question is about how things
    stand.
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
class _Asking:
    """A request beside where it is looked up, with the stores that were read for it."""

    lookup: Lookup
    request: SearchRequest
    stock: Stock = field(repr=False)

    def count(self, grain: Grain, where: Filter) -> int:
        """Count the records that pass the filter, in memory if the store is read anyway."""
        if self.request.text:
            return self.stock.count(grain, where)
        return self.lookup.reader.count(self.lookup.scope, grain, where=where)


def look_up(lookup: Lookup, request: SearchRequest) -> SearchResponse:
    """Answer one request about one agent's memory as the lookup's reader shows it.

    Filters apply before ranking and before the limit. Without a text: newest first.
    Raises Rejected, Misconfigured, Retryable as `search` does.
    """
    zone = lookup.zone
    way = route(request, lookup.now, zone)
    stock = Stock(lookup.scope, lookup.reader, lookup.embedder)
    asking = _Asking(lookup, request, stock)
    lanes = _lanes(way, asking)
    if way.weighs and not stock.holds(lanes.filled, way):
        way = way.seen_from(stock.newest(lanes.filled, way.present), zone)
    found = _find(way, lanes, asking)
    if not found and way.understood and way.text:
        wide = way.without_window(request)
        found = _find(wide, _lanes(wide, asking), asking)
    elsewhere = _elsewhere_hint(way, lanes, asking, bool(found))
    ranked = [item for item in found if isinstance(item, Ranked)]
    used = None
    if lookup.reranker is not None and ranked:
        found, used = reranked(way.text, ranked, lookup.reranker)
    best, tokens = fit_to_limits(found, request.max_results, request.max_tokens)
    hint = elsewhere if best else None
    # One validation of all values: twice as fast as one for each result.
    return SearchResponse.model_validate(
        {
            "results": [_result(item, zone) for item in best],
            "searched": _searched(way, lanes, tokens, used),
            "hint": hint or _hint(way, lanes, len(found), len(best), asking),
        }
    )


def _elsewhere_hint(
    way: Route, lanes: "_Lanes", asking: _Asking, found: bool
) -> str | None:
    """Say that the results lie outside the time that the question named."""
    if not way.understood:
        return None
    outside = way.weighs and not asking.stock.holds(lanes.filled, way)
    if outside or (found and not lanes.filled):
        phrase = way.understood.phrase
        return f"Nothing matches in the time of {phrase!r}; these are from any time."
    return None


def _result(item: Ranked | Browsed, zone: ZoneInfo) -> Any:
    if isinstance(item, Ranked):
        return ranked_result(item, zone)
    return item.result(zone)


@dataclass(frozen=True, slots=True)
class _Lanes:
    """The grains to search with how many records each has in the window; `fallback`: finer ones joined."""

    counts: dict[Grain, int]
    fallback: bool

    @property
    def filled(self) -> list[Grain]:
        return [grain for grain, count in self.counts.items() if count]


def _lanes(way: Route, asking: _Asking) -> _Lanes:
    """The route's lanes, and all finer ones where the grain asked for has no ready summary for the time."""
    counts = {grain: asking.count(grain, way.where) for grain in way.lanes}
    if way.asked in (None, Grain.WORKING):
        return _Lanes(counts, fallback=False)
    if counts[way.asked] and not _pending(way, asking):
        return _Lanes(counts, fallback=False)
    finer = list(Grain)[: list(Grain).index(way.asked)]
    missing = (grain for grain in finer if grain not in counts)
    wide = counts | {grain: asking.count(grain, way.where) for grain in missing}
    fallback = any(wide[grain] for grain in finer)
    return _Lanes(wide if fallback else counts, fallback)


def _pending(way: Route, asking: _Asking) -> bool:
    """Whether a period of the grain asked for that touches the window is due or stale."""
    since, until, zone = way.since, way.until, asking.lookup.zone
    return any(
        (until is None or due.period.start(zone) < until)
        and (since is None or due.period.end(zone) > since)
        for due in asking.lookup.ledger.due(
            Grain(way.asked or Grain.DAILY), asking.lookup.scope
        )
    )


def _find(way: Route, lanes: _Lanes, asking: _Asking) -> Sequence[Ranked | Browsed]:
    if not lanes.filled:
        return []
    if not way.text:
        return _newest(way, lanes.filled, asking)
    current = (
        way.since is None and way.until is None and asks_how_things_stand(way.text)
    )
    limit = asking.request.max_results + (SPARE_RESULTS if current else 0)
    wanted = Wanted(
        question=read_question(
            way.text, way.near_since, way.near_until, lasting=way.lasting
        ),
        where=way.where,
        present=way.present,
        strategy=with_half_life(
            CURRENT if current else BALANCED, asking.lookup.half_life_days
        ),
        weights={
            grain: lane_weight(grain, way.asked, way.age_days) for grain in lanes.filled
        },
        limit=MAX_RESULTS if asking.request.max_tokens else limit,
        explain=asking.request.explain,
    )
    found = find(wanted, asking.stock)
    if not current:
        return found
    triples = fold_of_user(asking.lookup.triples(), asking.request.user_id)
    return demote_ended(found, way.text, find_ended(triples, way.present))


def _newest(way: Route, grains: Sequence[Grain], asking: _Asking) -> list[Browsed]:
    """The newest of all grains, those of the grain asked for first; the score is how recent they are."""
    browsed = [
        (record, grain)
        for grain in grains
        for record in asking.lookup.reader.browse(
            asking.lookup.scope,
            grain,
            where=way.where,
            limit=asking.request.max_results,
        )
    ]
    browsed.sort(
        key=lambda pair: (
            pair[1] is not way.asked,
            -pair[0].event_time.timestamp(),
            -pair[0].position,
            pair[0].id,
        )
    )
    times = np.array(
        [microseconds(record.event_time) for record, _ in browsed], np.int64
    )
    fresh = recency(times, way.present, asking.lookup.half_life_days).tolist()
    return [
        Browsed(record, grain, score)
        for (record, grain), score in zip(browsed, fresh, strict=True)
    ]


def _searched(
    way: Route, lanes: _Lanes, tokens: int, reranked_: bool | None
) -> dict[str, Any]:
    """The values of the answer's `Searched`."""
    since, until, words = way.where.since, way.where.until, way.understood
    return {
        "grains": [grain for grain in Grain if grain in lanes.counts],
        "since": since and iso(since),
        "until": until and iso(until),
        "records": sum(lanes.counts.values()),
        "fallback": lanes.fallback,
        "tokens": tokens,
        "understood": words and _understood(words),
        "reranked": reranked_,
    }


def _understood(words: "TimeWords") -> dict[str, Any]:
    since, until = words.since, words.until
    return {
        "phrase": words.phrase,
        "since": since and iso(since),
        "until": until and iso(until),
        "grain": words.grain,
    }


def _hint(
    way: Route, lanes: _Lanes, found: int, shown: int, asking: _Asking
) -> str | None:
    """What to do next when nothing is shown; None when the answer speaks for itself."""
    if shown:
        return None
    if found:
        return f"{found} memories match, but none fits maxTokens={asking.request.max_tokens}; raise it."
    if lanes.filled:
        return "Nothing in this window matches; ask with other words, or without queryText to browse it."
    elsewhere = {
        grain: asking.lookup.reader.count(asking.lookup.scope, grain, where=Filter())
        for grain in Grain
    }
    names = ", ".join(f"{count} {grain}" for grain, count in elsewhere.items() if count)
    if any(elsewhere[grain] for grain in way.lanes):
        return f"There are {names} records, but none fit_to_limits these limits (time, user, conversation)."
    if names:
        return f"There are no {way.lanes[0]} records; there are {names} ones."
    return "This memory is empty: nothing has been ingested yet for this workspace and agent."
