"""Search: the answer that an agent would get, with the reasons for each result."""

from collections.abc import Mapping
from typing import Any

from varve.domain.calendar import Grain
from varve.domain.errors import Rejected, rename_field
from varve.domain.search.query import split_names
from varve.look.links import target
from varve.look.visit import PageView, Visit

BAR = 560
"""Width of the bar of signals, in pixels, for a score of 1."""
LEAST_PART = 0.005
"""Signals with a smaller share of the score are left out."""
TYPES = (
    "fact",
    "turn",
    "summary",
    "episode",
    "lesson",
    "prior_answer",
    "note",
)
FILTERS = {
    "user": "user_id",
    "grain": "grain",
    "since": "since",
    "until": "until",
    "at": "as_of",
    "type": "memory_types",
    "conversation": "conversation_id",
    "about": "about",
}
"""Names in an address, and the arguments of `Memory.search` they set."""
_NAMES = {argument: name for name, argument in FILTERS.items()}
SIGNALS = {
    "turn": "shares words with the question",
    "kin": "related words stand around it",
    "kind": "names the kind of thing asked for",
    "cosine": "means nearly the same",
    "session": "its conversation matches",
    "speaker": "said by or about the person named",
    "when": "tells a time",
    "date": "lies near the time named",
    "reply": "answers a question like this one",
    "opening": "opens its conversation",
    "address": "speaks to the listener",
    "substance": "has substance",
    "recency": "is recent",
    "importance": "was judged important",
    "shared": "other records say the same",
}
"""What each signal of the ranking says of a record, in words."""


def show_search(visit: Visit) -> PageView:
    """Show the results and the context block for a question, or only the form.

    A filter with a wrong value is explained above the form.
    """
    question = visit.where.option("q")
    values: dict[str, Any] = {
        "question": question,
        "given": dict(visit.where.options),
        "grains": ["auto", *Grain],
        "types": TYPES,
        "response": None,
        "bars": [],
        "agent": visit.memory.scope.agent,
        "block": None,
        "problem": None,
        "signals": SIGNALS,
    }
    asked = bool(visit.where.options)
    if asked and not visit.is_static:
        values.update(_answer(visit, question))
    title = f"Search: {question}" if question else "Search"
    command = ("search", question) if question else ("search",)
    return PageView(
        "search.html", title, values, up=target("timeline"), command=command
    )


def _answer(visit: Visit, question: str) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        argument: visit.where.option(name) or None
        for name, argument in FILTERS.items()
    }
    named = visit.where.option("agents")
    agents = split_names(named) if named else None
    try:
        _refuse_unknown(visit)
        with rename_field(_NAMES):
            response = visit.memory.search(
                question or None, explain=True, agents=agents, **arguments
            )
        answer: dict[str, Any] = {"response": response.to_dict()}
        if question:
            block = visit.memory.context(
                question, user_id=visit.user, agents=agents
            )
            answer["block"] = block
    except Rejected as error:
        return {"problem": str(error)}
    results = answer["response"]["results"]
    answer["bars"] = [draw_signals(one["why"]) for one in results]
    return answer


def _refuse_unknown(visit: Visit) -> None:
    """Raise Rejected if the address has an option that the page does not know.

    An unknown filter would be ignored without a word.
    """
    known = ("q", *FILTERS, "agents")
    for name, _ in visit.where.options:
        if name not in known:
            raise Rejected(
                name[:40], f"is no filter of this page: {', '.join(known)}"
            )


def draw_signals(
    why: Mapping[str, Any],
) -> list[tuple[str, float, float, float]]:
    """Return name, place, width and share of each signal's part in a score.

    The widths are in pixels, in the order of their size. Parts below zero are left out.
    """
    parts: Mapping[str, float] = why.get("parts") or {}
    large = {name: part for name, part in parts.items() if part >= LEAST_PART}
    bars: list[tuple[str, float, float, float]] = []
    x = 0.0
    for name in sorted(large, key=lambda name: -large[name]):
        part = large[name]
        width = BAR * part
        bars.append((name, x, width, part))
        x += width
    return bars
