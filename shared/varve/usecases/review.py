"""Review: what memory holds to be so and should ask a person about."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import islice

import numpy as np

from varve.domain.calendar import Grain, day_of, iso
from varve.domain.errors import Rejected
from varve.domain.mention import in_words
from varve.domain.review import Contradiction, DoubtfulStatement, Review
from varve.domain.search.columns import Columns
from varve.domain.search.outline import microseconds, moment
from varve.domain.search.supersession import (
    EndedStatement,
    find_ended,
    held_until,
)
from varve.domain.statements.folding import names_value
from varve.domain.statements.forgetting import ForgottenValue
from varve.domain.statements.standing import Standings
from varve.domain.triple import Triple
from varve.ports.meter import doing
from varve.usecases.asked_to_forget import read_forgotten
from varve.usecases.erasure import proposed
from varve.usecases.find import Stock
from varve.usecases.forget_proposed import list_forget_proposals
from varve.usecases.proposals import (
    Proposal,
    fold_statements,
    read_statements,
)
from varve.usecases.session import Session

DEFAULT_DAYS = 90
DEFAULT_MOST = 50
MAX_MOST = 1_000


@doing("review")
def review(
    session: Session,
    *,
    days: int = DEFAULT_DAYS,
    most: int = DEFAULT_MOST,
    user_id: str | None = None,
) -> Review:
    """Return up to `most` statements to review, and the proposals to forget.

    A statement is listed if it holds, if nothing has confirmed it for `days` days, and if
    a later statement or the graph contradicts it. For each request to forget that a user
    made in a conversation it leaves a proposal, which `forget` confirms. Raises Rejected:
    names the field; Retryable.
    """
    if days < 0:
        raise Rejected("days", "must be 0 or more")
    if not 1 <= most <= MAX_MOST:
        raise Rejected("most", f"must be from 1 to {MAX_MOST}")
    triples = session.graph.triples(session.scope)
    _propose_erasures(session, triples)
    reader = session.records.at(session.scope)
    stock = Stock(session.scope, reader, session.embedder)
    columns = stock.columns(Grain.WORKING)
    found: list[DoubtfulStatement] = []
    if isinstance(columns, Columns):
        doubts = _Doubts(session, columns, triples, user_id)
        before = session.now - timedelta(days=days)
        found = list(islice(doubts.find(microseconds(before)), most + 1))
    waiting = [one.to_dict() for one in list_forget_proposals(session)]
    return Review(
        statements=tuple(found[:most]),
        proposals=tuple(waiting),
        complete=isinstance(columns, Columns) and len(found) <= most,
    )


class _Doubts:
    """The turns of a store that hold and that something contradicts."""

    def __init__(
        self,
        session: Session,
        columns: Columns,
        triples: Sequence[Triple],
        user_id: str | None,
    ) -> None:
        self._session = session
        self._columns = columns
        self._ended = find_ended(triples, session.now)
        self._current = [one for one in triples if one.holds(session.now)]
        self._user_id = user_id
        self._standings = Standings(columns)

    def find(self, before: int) -> Iterator[DoubtfulStatement]:
        """Yield the statements last confirmed before a time, the oldest first."""
        columns = self._columns
        store = self._standings.store
        old = np.flatnonzero(columns.event_times < before)
        confirmed = [
            (self._standings.find_confirmed(row), row)
            for row in old.tolist()
            if store.is_told(row) and self._is_asked_for(row)
        ]
        for time, row in sorted(confirmed):
            if time >= before or self._standings.find_successors([row]):
                continue
            against = self._find_contradiction(row)
            if against is not None:
                yield self._describe(row, time, against)

    def _is_asked_for(self, row: int) -> bool:
        if self._user_id is None:
            return True
        return self._columns.users.name(row) == self._user_id

    def _find_contradiction(self, row: int) -> Contradiction | None:
        later = self._standings.find_doubt(row)
        if later is not None:
            return Contradiction(
                id=self._columns.ids[later],
                content=self._columns.contents[later],
                date=self._day(self._columns.event_times.item(later)),
            )
        return self._find_ended_value(row)

    def _find_ended_value(self, row: int) -> Contradiction | None:
        """Return what the graph holds in the place of a value that the row states."""
        record = self._columns.read_rows(np.array([row]))[0]
        for one in self._ended:
            until = held_until(record.messages, record.content, [one])
            if until is not None:
                day = day_of(until, self._session.zone)
                return Contradiction(None, self._tell_end(one), day)
        return None

    def _tell_end(self, ended: EndedStatement) -> str:
        for triple in self._current:
            if triple.valid_at == ended.until:
                return in_words(triple)
        return f"no longer: {ended.value}"

    def _describe(
        self, row: int, confirmed: int, against: Contradiction
    ) -> DoubtfulStatement:
        record = self._columns.read_rows(np.array([row]))[0]
        return DoubtfulStatement(
            id=record.id,
            content=record.content,
            memory_type=str(record.type),
            user_id=record.user,
            date=self._day(record.time),
            confirmed_at=iso(moment(confirmed)),
            contradicted_by=against,
        )

    def _day(self, time: int) -> str:
        return day_of(moment(time), self._session.zone)


def _propose_erasures(session: Session, triples: Sequence[Triple]) -> None:
    """Leave a proposal for each request to forget whose words memory still has."""
    reader = session.records.at(session.scope)
    values = read_forgotten(session.scope, reader, triples)
    if not values:
        return
    statements = list(read_statements(session))
    for value in values:
        stating = [one for one in statements if _is_named(one, value)]
        if stating:
            proposed.keep(session, fold_statements(stating))


def _is_named(one: Proposal, value: ForgottenValue) -> bool:
    """Return whether a statement of the user who asked states the forgotten value."""
    users = frozenset() if value.user is None else frozenset([value.user])
    if not one.erases or one.users != users:
        return False
    talks = {conversation for conversation, _ in value.messages}
    is_same_talk = any(talk in talks for talk, _ in one.messages)
    return is_same_talk and names_value(one.content, value.value)
