"""One agent's memory, as a page shows it: read-only, a bounded part at a time."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from varve import __version__
from varve.api.administration import Administration
from varve.api.memory import Memory
from varve.domain.calendar import Grain, Period
from varve.domain.costs import Costs
from varve.domain.errors import Rejected
from varve.domain.graph import Mentions
from varve.domain.identity import Scope
from varve.domain.notes import Note
from varve.domain.prices import Prices, prices_with
from varve.domain.record import Record
from varve.domain.retention import expires_at
from varve.domain.search.query import Filter
from varve.domain.strata import Strata
from varve.domain.tally import Tally
from varve.usecases.inspection import (
    conversations,
    notes,
    people,
    periods,
    strata,
)
from varve.usecases.inspection.conversations import (
    ConversationDay,
    ConversationPage,
)
from varve.usecases.inspection.notes import NotePage
from varve.usecases.inspection.people import UserShare
from varve.usecases.inspection.record_details import (
    RecordDetails,
    read_record_details,
)
from varve.usecases.notes import get_note
from varve.usecases.operate.costs import list_months, read_month
from varve.usecases.session import Session


class Inspection:
    """What a reader looks at in one agent's memory.

    Every method opens a session, reads the state of that moment, and changes nothing.

    >>> Inspection(memory).strata().years
    """

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    @property
    def now(self) -> datetime:
        """The present, by the memory's clock."""
        return self._memory.sessions.clock()

    @property
    def scope(self) -> Scope:
        """The workspace and agent that are looked at."""
        return self._memory.scope

    def zone(self) -> ZoneInfo:
        """Return the workspace's time zone."""
        with self._open() as session:
            return session.zone

    def strata(self, *, user_id: str | None = None) -> Strata:
        """Return all periods with their states and counts, of all users or of one."""
        with self._open() as session:
            return strata.read_strata(session, user_id=user_id)

    def expiry(self, period: Period) -> datetime:
        """Return when retention deletes the period's records, in UTC."""
        with self._open() as session:
            limit = session.config.limit(period.grain)
            return expires_at(period, limit, session.zone)

    def count(
        self, period: Period, *, user_id: str | None = None
    ) -> Tally | None:
        """Count the turns and facts of a period; None: there are none."""
        with self._open() as session:
            where = Filter(
                since=period.start(session.zone),
                until=period.end(session.zone),
                user_id=user_id,
            )
            return strata.count_span(session, where)

    def summaries(
        self, period: Period, *, user_id: str | None = None, most: int = 50
    ) -> list[Record]:
        """Return up to `most` summaries of a period, one for each user."""
        with self._open() as session:
            return periods.read_summaries(
                session, period, user_id=user_id, most=most
            )

    def child_summaries(
        self, period: Period, *, user_id: str | None = None, most: int = 50
    ) -> list[Record]:
        """Return up to `most` summaries of the periods that tile a period."""
        with self._open() as session:
            return periods.read_child_summaries(
                session, period, user_id=user_id, most=most
            )

    def changes(
        self, period: Period, *, most: int = 50
    ) -> list[dict[str, Any]]:
        """Return up to `most` triples that began or ended in a period, newest first."""
        with self._open() as session:
            since = period.start(session.zone)
            until = period.end(session.zone)
            return periods.read_changes(session, since, until, most=most)

    def conversations(
        self, day: Period, *, start: int = 0, most: int = 50
    ) -> ConversationPage:
        """Return up to `most` conversations of a day, each with its first message."""
        with self._open() as session:
            return conversations.list_conversations(
                session, day.label, start=start, most=most
            )

    def conversation(
        self,
        day: Period,
        conversation_id: str,
        *,
        start: int = 0,
        most: int = 50,
    ) -> ConversationDay:
        """Return up to `most` messages of a conversation on a day, in order."""
        with self._open() as session:
            return conversations.read_conversation(
                session, day.label, conversation_id, start=start, most=most
            )

    def facts_of(self, conversation_id: str) -> list[Record]:
        """Return the newest facts drawn from a conversation."""
        with self._open() as session:
            return conversations.read_records_of(session, conversation_id)

    def held(self, turn_ids: Iterable[str]) -> set[str]:
        """Return those of the turns' ids that memory has; tools' messages have no turn."""
        with self._open() as session:
            found = session.records.get(
                session.scope, Grain.WORKING, [*turn_ids]
            )
        return {one.id for one in found}

    def days_of(self, conversation_id: str) -> list[str]:
        """Return the days on which memory keeps records of a conversation."""
        with self._open() as session:
            return conversations.list_conversation_days(
                session, conversation_id
            )

    def statement(self, record_id: str) -> RecordDetails:
        """Return a record with its sources, its triples and the summaries that cite it.

        Raises Rejected: there is no such record.
        """
        with self._open() as session:
            return read_record_details(session, record_id)

    def notes(
        self,
        prefix: str = "",
        *,
        user_id: str | None = None,
        start: int = 0,
        most: int = 50,
    ) -> NotePage:
        """Return up to `most` notes below a prefix, of all users or of one, by path."""
        with self._open() as session:
            return notes.list_note_page(
                session, prefix, user_id=user_id, start=start, most=most
            )

    def note(self, path: str, *, user_id: str | None) -> Note:
        """Return a note of a user or, without one, of the agent.

        Raises Rejected: there is none.
        """
        with self._open() as session:
            found = get_note(session, path, user_id)
        if found is None:
            raise Rejected("path", f"there is no note {path[:80]!r}")
        return found

    def users(self) -> list[UserShare]:
        """Return the users whose records memory holds, the newest first."""
        with self._open() as session:
            return people.list_users(session)

    def entities(
        self, part: str = "", *, start: int = 0, most: int = 50
    ) -> list[Mentions]:
        """Return entities whose names contain `part`, the most mentioned first."""
        with self._open() as session:
            return people.list_entities(session, part, start=start, most=most)

    def dead_letters(self) -> list[dict[str, Any]] | None:
        """Return all dead letters without content; None: no queue is configured."""
        administration = Administration(self._memory.sessions)
        if not administration.queues:
            return None
        return administration.dead_letters()

    def costs(self, month: str) -> Costs:
        """Return what the workspace's agents have used in a calendar month."""
        with self._open() as session:
            return read_month(session, month)

    def cost_months(self) -> list[str]:
        """Return the calendar months of which there are costs, oldest first."""
        with self._open() as session:
            return list_months(session)

    def prices(self) -> Prices:
        """Return the prices by which costs are estimated."""
        with self._open() as session:
            return prices_with(session.config.costs.prices)

    def version(self) -> str:
        """Return the version of this library."""
        return __version__

    def _open(self) -> Session:
        return self._memory.sessions.open_owner(self._memory.scope)
