"""Users and entities, as lists to choose from."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from varve.domain.calendar import Grain, day_of
from varve.domain.graph import Mentions
from varve.domain.names import normalized
from varve.domain.search.query import Filter
from varve.domain.tally import SPAN, Tally
from varve.usecases.session import Session


@dataclass(frozen=True, slots=True)
class UserShare:
    """What memory holds of one user; `user_id` None: messages without a user."""

    user_id: str | None
    records: int
    summaries: int
    conversations: int
    oldest: datetime
    newest: datetime


def list_users(session: Session) -> list[UserShare]:
    """Return the users whose records memory holds, the newest first; reads no words."""
    reader = session.records.at(session.scope)
    by_user: defaultdict[str | None, list[tuple[Grain, Tally]]] = defaultdict(
        list
    )
    for grain in Grain:
        span = () if grain is Grain.WORKING else SPAN
        tallies = reader.tally(
            session.scope, grain, ("user_id", *span), where=Filter()
        )
        for tally in tallies:
            by_user[tally.key[0]].append((grain, tally))
    shares = [
        _build_share(user_id, found, session.zone)
        for user_id, found in by_user.items()
    ]
    return sorted(shares, key=lambda share: share.newest, reverse=True)


def _build_share(
    user_id: str | None, found: Sequence[tuple[Grain, Tally]], zone: ZoneInfo
) -> UserShare:
    said = [tally for grain, tally in found if grain is Grain.WORKING]
    summed = [tally for grain, tally in found if grain is not Grain.WORKING]
    oldest, newest = _find_span(said, summed, zone)
    return UserShare(
        user_id=user_id,
        records=sum(tally.records for tally in said),
        summaries=sum(tally.records for tally in summed),
        conversations=sum(tally.conversations for tally in said),
        oldest=oldest,
        newest=newest,
    )


def _find_span(
    said: Sequence[Tally], summed: Sequence[Tally], zone: ZoneInfo
) -> tuple[datetime, datetime]:
    """Return the oldest and the newest event.

    Summaries tell only the days of those that facts and turns no longer have.
    """
    oldest = [tally.oldest for tally in said]
    newest = [tally.newest for tally in said]
    days = {day_of(instant, zone) for instant in (*oldest, *newest)}
    for tally in summed:
        dated = tally.date_by_sources()
        first, last = tally.days
        if all(first < day for day in days):
            oldest.append(dated.oldest)
        if all(last > day for day in days):
            newest.append(dated.newest)
    return min(oldest), max(newest)


def list_entities(
    session: Session, part: str = "", *, start: int, most: int
) -> list[Mentions]:
    """Return entities whose names contain `part`, the most mentioned first."""
    view = session.graph.open(session.scope)
    return view.entities(normalized(part), session.now, most=most, skip=start)
