"""One period: its summaries, what changed in it, and its records a page at a time."""

from datetime import datetime
from typing import Any

from varve.domain.calendar import Grain, Period
from varve.domain.entities import find_spellings
from varve.domain.record import MemoryType, Record
from varve.domain.search.query import Filter
from varve.usecases.forget.asked_triples import triples_as_json
from varve.usecases.session import Session


def read_summaries(
    session: Session, period: Period, *, user_id: str | None = None, most: int
) -> list[Record]:
    """Return up to `most` summaries of a period, one for each user."""
    return _browse_summaries(session, period, period.grain, user_id, most)


def read_child_summaries(
    session: Session, period: Period, *, user_id: str | None = None, most: int
) -> list[Record]:
    """Return up to `most` summaries of the periods that tile a period, newest first."""
    below = period.grain.child
    if below is None or below is Grain.WORKING:
        return []
    return _browse_summaries(session, period, below, user_id, most)


def _browse_summaries(
    session: Session,
    period: Period,
    grain: Grain,
    user_id: str | None,
    most: int,
) -> list[Record]:
    # A summary's event time is the middle of its period.
    where = Filter(
        since=period.start(session.zone),
        until=period.end(session.zone),
        user_id=user_id,
        memory_types=(MemoryType.SUMMARY,),
    )
    return session.records.browse(
        session.scope, grain, where=where, limit=most
    )


def read_changes(
    session: Session, since: datetime, until: datetime, *, most: int
) -> list[dict[str, Any]]:
    """Return up to `most` triples that began or ended in a span, as JSON values.

    The last change comes first. Links between episodes are left out.
    """
    view = session.graph.open(session.scope)
    changed = view.changed(since, until, most)
    spellings = find_spellings([*view.aliases(), *changed])
    facts = triples_as_json(session, changed, spellings)
    return sorted(facts, key=_last_change, reverse=True)


def _last_change(fact: dict[str, Any]) -> str:
    return str(fact["invalidAt"] or fact["validAt"])
