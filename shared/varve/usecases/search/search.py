"""Search: answer `search_memory` without calling a chat model.

Workspace and agent come from the caller's session, never from the request.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from varve.domain.calendar import Grain, iso
from varve.domain.entities import fold_of_user
from varve.domain.record import GRAINS, STORES, Store
from varve.domain.search.answer import SearchResponse
from varve.domain.search.query import EXPERIENCE_TYPES, SearchRequest
from varve.domain.search.question import asks_how_things_stand, read_question
from varve.domain.search.ranking import Ranked, lane_weight
from varve.domain.search.results import Browsed, fit_to_limits, ranked_result
from varve.domain.search.routing import Route, route
from varve.domain.search.strategies import (
    BALANCED,
    CURRENT,
    with_half_life,
    with_weights,
)
from varve.domain.search.supersession import (
    demote_ended,
    drop_corrected,
    find_ended,
    put_current_first,
)
from varve.domain.statements.answers.answering import ASKED_PLACES
from varve.domain.statements.questions.bearing import is_of_own
from varve.domain.statements.texts.cues import asks_past
from varve.domain.summary import NO_WORDS
from varve.ports.knowledge import Reranker
from varve.ports.meter import doing
from varve.usecases.experience.search import with_experience
from varve.usecases.forget.asked_to_forget import (
    drop_forgotten,
    drop_forgotten_of_shared,
    has_requests,
)
from varve.usecases.search.browsing import browse
from varve.usecases.search.covering import (
    Telling,
    choose_telling,
    list_covering,
)
from varve.usecases.search.find import Wanted, find, rerank
from varve.usecases.search.hints import explain_empty, explain_found
from varve.usecases.search.lookup import (
    Lanes,
    Lookup,
    Running,
    SharedMemory,
    choose_lanes,
)
from varve.usecases.search.meant import (
    Meant,
    ask_which,
    explain_bearers,
    find_meant,
)
from varve.usecases.search.own_answers import put_own_answers_first
from varve.usecases.search.shared_memories import (
    AskedGrants,
    open_shared,
    say_what_was_shared,
    start_reading_configured_grants,
    start_reading_grants,
)
from varve.usecases.session import Session
from varve.usecases.views import StoreNames, View

if TYPE_CHECKING:
    from varve.domain.language.timewords import TimeWords

MAX_RESULTS = 100
SPARE_RESULTS = 20
"""Additional candidates for a question in which superseded statements are demoted."""


@doing("search")
def search(session: Session, request: SearchRequest) -> SearchResponse:
    """Answer `search_memory` for one agent.

    Experience is searched too if the request asks for its memory types, and the memory
    of other agents if the request or the configuration names them and they granted it.
    Raises Rejected: the limits leave no time; Misconfigured: the store has another
    embedding model; Retryable.
    """
    stores = _choose_stores(request)
    grants = start_reading_grants(session, request.agents)
    answer = partial(_answer_view, session, request, grants, stores)
    return session.views.answer(session, request, answer, stores)


def _choose_stores(request: SearchRequest) -> StoreNames:
    if EXPERIENCE_TYPES & set(request.memory_types):
        return STORES
    return (*GRAINS, Store.NOTES) if request.asks_for("note") else GRAINS


def _answer_view(
    session: Session,
    request: SearchRequest,
    grants: AskedGrants,
    stores: StoreNames,
    view: View,
) -> SearchResponse:
    session = session.with_config(view.config)
    request = session.privacy.filter_request(request)
    grants = grants or start_reading_configured_grants(session, request.agents)
    shared = open_shared(session, grants, stores)
    lookup = build_lookup(session, view, shared)
    found = look_up(lookup, request)
    if EXPERIENCE_TYPES & set(request.memory_types):
        found = with_experience(found, request, lookup)
    if session.searches is not None:
        session.searches.note(session, request, found)
    return say_what_was_shared(found, grants)


def build_lookup(
    session: Session, view: View, shared: Sequence[SharedMemory] = ()
) -> Lookup:
    """Return what a search of a view reads, as the session's configuration has it."""
    config = session.config
    return Lookup(
        scope=session.scope,
        now=session.now,
        zone=session.zone,
        reader=view.reader,
        ledger=view.ledger,
        embedder=session.embedder,
        half_life_days=config.search.half_life_days,
        weights=config.search.read_weights(),
        reranker=session.models.reranker(config),
        triples=view.triples,
        has_triples=view.has_triples,
        shared=shared,
        scans=session.scans,
    )


def look_up(lookup: Lookup, request: SearchRequest) -> SearchResponse:
    """Answer one request about one agent's memory as the lookup's reader shows it.

    Filters apply before ranking and before the limit. Without a text: newest first.
    Raises Rejected, Misconfigured, Retryable as `search` does.
    """
    lookup = replace(lookup, triples=cache(lookup.triples))
    zone = lookup.zone
    meant = find_meant(request, lookup.triples)
    if meant.candidates:
        return ask_which(request, meant.candidates)
    running = Running(lookup, request, lookup.open_stocks(request.where))
    way, lanes = _route(meant, running)
    if way.weighs and not running.holds(lanes.filled, way):
        newest = running.find_newest(lanes.filled, way.present)
        way = way.seen_from(newest, zone)
    found = _hide_forgotten(_find_widened(way, lanes, running), running)
    ordered, reranked = _rerank(way, found, lookup.reranker)
    best, tokens = fit_to_limits(
        ordered, request.max_results, request.max_tokens
    )
    hint = (
        explain_bearers(meant, [item.content for item in best])
        or explain_found(way, lanes, running, best)
        if best
        else explain_empty(way, lanes, len(found), running, look_up)
    )
    # One validation of all values: twice as fast as one for each result.
    return SearchResponse.model_validate(
        {
            "results": [_result(item, lookup) for item in best],
            "searched": _searched(way, lanes, tokens, reranked, running),
            "hint": hint,
        }
    )


def _route(meant: Meant, running: Running) -> tuple[Route, Lanes]:
    """Return the route to what a request means, and its lanes.

    A name that nothing has limits nothing.
    """
    lookup = running.lookup
    asked = route(running.request, lookup.now, lookup.zone)
    way = asked.mentioning(meant.mentions)
    if meant.everything and way.has_limits:
        way = way.browsing()
    lanes = choose_lanes(way, running)
    if meant.whom and not lanes.filled:
        return asked, choose_lanes(asked, running)
    return way, lanes


def _find_widened(
    way: Route, lanes: Lanes, running: Running
) -> Sequence[Ranked | Browsed]:
    """Return what is found; nothing in the window of time words: what is found outside.

    For a question of time alone those are the summaries of longer periods that tell of it.
    What was told of a holiday soon after it comes before the words of its days.
    """
    found = _find(way, lanes, running)
    later = way.after_holiday()
    if later is not None:
        told = _find(later, choose_lanes(later, running), running)
        found = [*told, *found]
    if found or way.understood is None:
        return found
    if way.text:
        wide = way.without_window(running.request)
        return _find(wide, choose_lanes(wide, running), running)
    return _find_covering(way, way.understood, running)


def _find_covering(
    way: Route, words: "TimeWords", running: Running
) -> Sequence[Ranked | Browsed]:
    """Return the summaries of the longer periods that tell of most days of a time."""
    zone = running.lookup.zone
    best = Telling([], 0)
    for longer in list_covering(way, zone):
        covering = _find(longer, choose_lanes(longer, running), running)
        telling = choose_telling(covering, words, zone)
        if telling.days > best.days:
            best = telling
    return best.found


def _hide_forgotten(
    found: Sequence[Ranked | Browsed], running: Running
) -> Sequence[Ranked | Browsed]:
    """Return the records that have words, without those that a user asked to forget.

    A question reads the triples only if any turn may ask to forget. A browse does not
    load the store, and reads the triples.
    """
    found = [one for one in found if one.content != NO_WORDS]
    zone = running.lookup.zone
    found = drop_forgotten_of_shared(found, running.stocks[1:], zone)
    if not found:
        return found
    if not running.request.text:
        return drop_forgotten(found, running.lookup)
    held = running.stocks[0].columns(Grain.WORKING)
    if not has_requests(held):
        return found
    return drop_forgotten(found, running.lookup, held)


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


def _result(item: Ranked | Browsed, lookup: Lookup) -> dict[str, Any]:
    """Return the values of a result; with other agents searched, whose it is."""
    values = _list_values(item, lookup.zone)
    if lookup.shared:
        values["agent_id"] = item.agent or lookup.scope.agent
    return values


def _list_values(item: Ranked | Browsed, zone: ZoneInfo) -> dict[str, Any]:
    if isinstance(item, Ranked):
        return ranked_result(item, zone)
    return item.result(zone)


def _find(
    way: Route, lanes: Lanes, running: Running
) -> Sequence[Ranked | Browsed]:
    if not lanes.filled:
        return []
    if not way.text:
        browsed = browse(way, lanes, running)
        if not running.request.text or running.request.include_superseded:
            return browsed
        return put_current_first(browsed)
    no_window = way.since is None and way.until is None
    current = no_window and asks_how_things_stand(way.text)
    found = find(_wanted(way, lanes, running, current=current), running.stocks)
    told, user = running.stocks[0].told, running.request.user_id
    if current:
        of_user = fold_of_user(told.triples, user)
        found = demote_ended(found, way.text, find_ended(of_user, way.present))
    found = put_own_answers_first(found, way, told, user)
    if running.request.include_superseded or not _is_about_present(way):
        return found
    return drop_corrected(found)


def _wanted(
    way: Route, lanes: Lanes, running: Running, *, current: bool
) -> Wanted:
    request = running.request
    limit = max(ASKED_PLACES, request.max_results + SPARE_RESULTS)
    if request.max_tokens:
        limit = MAX_RESULTS
    lookup = running.lookup
    base = CURRENT if current else BALANCED
    strategy = with_weights(base, lookup.weights)
    question = read_question(
        way.text, way.near_since, way.near_until, lasting=way.lasting
    )
    weights = {
        grain: lane_weight(grain, way.asked, way.age_days)
        for grain in lanes.filled
    }
    return Wanted(
        question=question,
        where=way.where,
        filters=lanes.filters(way),
        present=way.present,
        strategy=with_half_life(strategy, lookup.half_life_days),
        weights=weights,
        limit=limit,
        explain=request.explain,
        about_present=_is_about_present(way),
        folds=len(weights) > 1 and not lookup.by_line,
        by_line=lookup.by_line,
        guesses=_may_guess(way),
    )


def _is_about_present(way: Route) -> bool:
    """Return whether a question asks for what holds, not for bygone times."""
    return not _has_window(way) and not asks_past(way.text)


def _has_window(way: Route) -> bool:
    return way.since is not None or way.until is not None


def _may_guess(way: Route) -> bool:
    """Return whether a question of oneself or one's people, present or past, names no time."""
    is_timeless = way.understood is None and not _has_window(way)
    return is_timeless and is_of_own(way.text)


def _searched(
    way: Route,
    lanes: Lanes,
    tokens: int,
    reranked: bool | None,
    running: Running,
) -> dict[str, Any]:
    """Return the values of the answer's `Searched`."""
    since = way.where.since
    until = way.where.until
    return {
        "grains": _name_stores(lanes),
        "since": since and iso(since),
        "until": until and iso(until),
        "records": sum(lanes.counts.values()),
        "fallback": lanes.fallback,
        "tokens": tokens,
        "understood": way.understood
        and _understood(way.understood, is_all=not way.text),
        "reranked": reranked,
        "weights": _own_weights(running),
    }


def _own_weights(running: Running) -> dict[str, float] | None:
    """Return the workspace's own weights, if the request asks for explanations."""
    return dict(running.lookup.weights) if running.request.explain else None


def _name_stores(lanes: Lanes) -> list[str]:
    """Return the grains searched, and the store of notes if it has any in the window."""
    names = [str(grain) for grain in Grain if grain in lanes.counts]
    if lanes.counts.get(Store.NOTES):
        names.append(str(Store.NOTES))
    return names


def _understood(words: "TimeWords", *, is_all: bool) -> dict[str, Any]:
    return {
        "phrase": words.phrase,
        "since": words.since and iso(words.since),
        "until": words.until and iso(words.until),
        "grain": words.grain,
        "is_all": is_all,
    }
