"""Users and entities, as lists to choose from."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from varve.domain.calendar import Grain
from varve.domain.graph import Mentions
from varve.domain.names import normalized
from varve.domain.search.query import Filter
from varve.domain.tally import Tally
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
        tallies = reader.tally(
            session.scope, grain, ("user_id",), where=Filter()
        )
        for tally in tallies:
            by_user[tally.key[0]].append((grain, tally))
    shares = [
        _build_share(user_id, found) for user_id, found in by_user.items()
    ]
    return sorted(shares, key=lambda share: share.newest, reverse=True)


def _build_share(
    user_id: str | None, found: Sequence[tuple[Grain, Tally]]
) -> UserShare:
    said = [tally for grain, tally in found if grain is Grain.WORKING]
    records = sum(tally.records for tally in said)
    all_records = sum(tally.records for _, tally in found)
    return UserShare(
        user_id=user_id,
        records=records,
        summaries=all_records - records,
        conversations=sum(tally.conversations for tally in said),
        oldest=min(tally.oldest for _, tally in found),
        newest=max(tally.newest for _, tally in found),
    )


def list_entities(
    session: Session, part: str = "", *, start: int, most: int
) -> list[Mentions]:
    """Return entities whose names contain `part`, the most mentioned first."""
    view = session.graph.open(session.scope)
    return view.entities(normalized(part), session.now, most=most, skip=start)
