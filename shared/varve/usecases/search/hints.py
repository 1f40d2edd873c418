"""The hints of a search: why it found nothing, or not where the question asked."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from varve.domain.calendar import Grain
from varve.domain.entities import fold_of_user
from varve.domain.search.answer import SearchResponse
from varve.domain.search.query import Filter, SearchRequest
from varve.domain.search.question import asks_how_things_stand
from varve.domain.search.ranking import Ranked
from varve.domain.search.results import Browsed
from varve.domain.search.routing import Route
from varve.usecases.search.lookup import Lanes, Lookup, Running
from varve.usecases.search.meant import explain_ambiguous

LookUp = Callable[[Lookup, SearchRequest], SearchResponse]
_NO_LIMITS: Mapping[str, Any] = {
    "since": None,
    "until": None,
    "minimum_days_ago": 0,
    "maximum_days_ago": None,
    "memory_types": [],
    "topics": [],
    "people": [],
    "about": None,
}


def explain_found(
    way: Route,
    lanes: Lanes,
    running: Running,
    found: Sequence[Ranked | Browsed],
) -> str | None:
    """Return the hint of an answer with results; None: there is nothing to say."""
    return (
        _explain_outside(way, lanes, running)
        or _explain_finer(way, lanes)
        or _explain_name(way, running)
        or _explain_guess(found)
    )


def _explain_guess(found: Sequence[Ranked | Browsed]) -> str | None:
    """Say that the results are guessed; None: they are not."""
    if any(isinstance(one, Browsed) or one.is_near for one in found):
        return None
    return (
        "Nothing here shares a word or a meaning with the question; these "
        "may answer it."
    )


def _explain_outside(way: Route, lanes: Lanes, running: Running) -> str | None:
    """Say that the results lie outside the time that the question names.

    None: they do not.
    """
    if not way.understood:
        return None
    outside = way.weighs and not running.holds(lanes.filled, way)
    if outside or not lanes.filled:
        phrase = way.understood.phrase
        if not way.text:
            return f"Nothing of {phrase!r} itself is left; summaries of longer periods tell of it."
        return f"Nothing matches in the time of {phrase!r}; these are from any time."
    return None


def _explain_finer(way: Route, lanes: Lanes) -> str | None:
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


def _explain_name(way: Route, running: Running) -> str | None:
    """Say whom a name in a question about the present may mean; None: it is clear.

    Other questions do not read the triples.
    """
    request = running.request
    if request.about or not asks_how_things_stand(way.text):
        return None
    triples = fold_of_user(running.lookup.triples(), request.user_id)
    return explain_ambiguous(way.text, triples)


def explain_empty(
    way: Route,
    lanes: Lanes,
    found: int,
    running: Running,
    look_up: LookUp,
) -> str:
    """Say why nothing is shown and what to do next; `found` records matched.

    `look_up` answers a request: a question may find something without its limits.
    """
    if found:
        limit = running.request.max_tokens
        return f"Of {found} that match none fits maxTokens={limit}; raise it."
    if lanes.filled:
        return _explain_unmatched(way, running, look_up)
    lookup = running.lookup
    counts = {
        grain: lookup.reader.count(lookup.scope, grain, where=Filter())
        for grain in dict.fromkeys((*Grain, *way.lanes))
    }
    stored = ", ".join(
        f"{count} {grain}" for grain, count in counts.items() if count
    )
    if not stored:
        return "This memory is empty: there are no records of this workspace and agent."
    in_lanes = any(counts[grain] for grain in way.lanes)
    return _explain_limits(stored, way, running, in_lanes=in_lanes)


def _explain_unmatched(way: Route, running: Running, look_up: LookUp) -> str:
    """Say that no record matches the question or, without one, has what is to be mentioned."""
    named = _list_named(running)
    if named and not way.text:
        return f"Nothing here mentions {named}; leave that out to list the newest."
    if way.text and _finds_outside(running, look_up):
        return (
            "Nothing within these limits matches, but something outside them "
            "does; widen the time, the types, the topics or the names."
        )
    return (
        "Nothing here matches; ask in other words, or leave the question "
        "out to list the newest."
    )


def _finds_outside(running: Running, look_up: LookUp) -> bool:
    """Return whether the question finds anything without its limits of time, type and mentions."""
    wide = running.request.model_copy(update=_NO_LIMITS)
    if wide == running.request:
        return False
    lookup = replace(running.lookup, reranker=None)
    return bool(look_up(lookup, wide).results)


def _explain_limits(
    stored: str, way: Route, running: Running, *, in_lanes: bool
) -> str:
    """Say which limit of a search nothing passes; `stored` counts the records by grain."""
    named = _list_named(running)
    if named:
        return (
            f"Nothing within these limits mentions {named}; leave that out to "
            "search the rest."
        )
    if in_lanes:
        return (
            f"Records by grain: {stored}; none within these limits "
            "(time, user, conversation, type)."
        )
    return f"There are no {way.lanes[0]} records. By grain: {stored}."


def _list_named(running: Running) -> str:
    """Return what a request wants mentioned: its `about`, `people` and `topics`; "": nothing."""
    request = running.request
    about = [] if request.about is None else [request.about]
    named = (*about, *(request.people or ()), *(request.topics or ()))
    return ", ".join(map(repr, named))
