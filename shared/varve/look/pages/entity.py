"""Entities: all of them as a list, and one of them through time."""

from datetime import UTC, datetime, timedelta
from typing import Any

from varve.domain.calendar import parse_instant
from varve.domain.errors import Rejected
from varve.look.drawing import draw_inline
from varve.look.life import draw_life
from varve.look.links import target
from varve.look.visit import SHOWN, PageView, Visit

MAX_FACTS = 200
"""Facts of one entity on its page."""


def list_entities(visit: Visit) -> PageView:
    """List entities, the most mentioned first, a page at a time."""
    part = visit.where.option("q")
    start = visit.where.number("start")
    found = visit.inspection.entities(part, start=start, most=SHOWN + 1)
    values = {
        "entities": found[:SHOWN],
        "part": part,
        "start": start,
        "shown": SHOWN,
        "more": len(found) > SHOWN,
    }
    return PageView(
        "entities.html",
        "Entities",
        values,
        up=target("timeline"),
        command=("graph", "show"),
    )


def show_entity(visit: Visit) -> PageView:
    """Show an entity's facts through time, at the date asked about or now.

    Raises Rejected: nothing is known of it, or the date is not one.
    """
    name = visit.key()
    now = visit.inspection.now
    at = _read_day(visit, now)
    known = visit.memory.graph.entity(name, history=True)
    facts = known["facts"]
    mentions = known["mentions"]
    if not facts and not mentions:
        raise Rejected("entity", f"the graph knows nothing of {name[:80]!r}")
    values = {
        "neighbourhood": _draw_neighbourhood(visit, known["id"]),
        "entity": known,
        "at": at,
        "is_now": at >= now,
        "slider": _build_slider(facts + mentions, at, now),
        "life": draw_life(facts[:MAX_FACTS], now, at),
        "holding": [one for one in facts if _holds(one, at)][:MAX_FACTS],
        "past": [one for one in facts if _ended(one, at)][:MAX_FACTS],
        "mentions": [one for one in mentions if _holds(one, at)][:MAX_FACTS],
        "left_out": max(0, len(facts) - MAX_FACTS)
        + max(0, len(mentions) - MAX_FACTS),
    }
    return PageView(
        "entity.html",
        known["name"],
        values,
        up=target("entities"),
        command=("graph", "show", name),
    )


def _draw_neighbourhood(visit: Visit, id_: str) -> str:
    """Return the drawing of what holds around an entity, with the neighbours' own facts."""
    around = visit.memory.graph.neighbourhood(id_, most=MAX_FACTS)
    holding = [edge for edge in around.edges if not edge["invalidAt"]]

    def address(entity: str) -> str:
        return visit.link("entity", entity)

    return draw_inline(holding, id_, around.left_out, address)


def _read_day(visit: Visit, now: datetime) -> datetime:
    """Return the end of the day asked about, or now."""
    day = visit.where.option("at")
    days = visit.where.number("day")
    if not day and not days:
        return now
    try:
        start = _parse_day(day) if day else _from_ordinal(days)
    except (ValueError, OverflowError) as error:
        raise Rejected(
            "at", f"{(day or str(days))[:40]!r} is not a date"
        ) from error
    return min(now, start + timedelta(days=1, microseconds=-1))


def _parse_day(text: str) -> datetime:
    return parse_instant(text).replace(
        hour=0, minute=0, second=0, microsecond=0
    )


def _from_ordinal(days: int) -> datetime:
    return datetime.fromordinal(days).replace(tzinfo=UTC)


def _holds(fact: dict[str, Any], at: datetime) -> bool:
    began = parse_instant(fact["validAt"]) <= at
    return began and not _ended(fact, at)


def _ended(fact: dict[str, Any], at: datetime) -> bool:
    ended = fact["invalidAt"]
    return bool(ended) and parse_instant(ended) <= at


def _build_slider(
    facts: list[dict[str, Any]], at: datetime, now: datetime
) -> dict[str, Any]:
    """Return the limits of the slider in days, and the days on which something changed."""
    changes: set[datetime] = set()
    for fact in facts:
        for field in ("validAt", "invalidAt"):
            if fact[field]:
                changes.add(parse_instant(fact[field]))
    days = sorted({one.date() for one in changes if one <= now})
    today = now.date()
    first = days[0] if days else today
    last = max(first, today)
    return {
        "first": first.toordinal(),
        "last": last.toordinal(),
        "value": at.date().toordinal(),
        "changes": [day.isoformat() for day in days][-24:],
        "at": at.date().isoformat(),
    }
