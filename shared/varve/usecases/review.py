"""Review: what memory holds to be so and should ask a person about."""

from bisect import insort
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from itertools import islice

import numpy as np

from varve.domain.calendar import Grain, day_of, iso, microseconds, moment
from varve.domain.errors import Rejected
from varve.domain.identity import reference
from varve.domain.mention import in_words
from varve.domain.review import (
    Contradiction,
    DoubtfulStatement,
    NotCompared,
    Review,
)
from varve.domain.search.columns import MAX_ROWS, Columns
from varve.domain.search.outline import Outline
from varve.domain.search.row import MessageKey, RecordRow
from varve.domain.search.supersession import (
    EndedStatement,
    find_ended,
    held_until,
)
from varve.domain.statements.forgetting.forgetting import (
    AnyForgotten,
    keep_rest,
)
from varve.domain.statements.standings.matter import find_doubt
from varve.domain.statements.standings.standings import Standings
from varve.domain.statements.stores.told_values import ToldValues
from varve.domain.statements.texts.particulars import (
    count_shared,
    read_particulars,
)
from varve.domain.triple import Triple
from varve.ports.meter import doing
from varve.usecases.forget.asked_to_forget import read_forgotten
from varve.usecases.forget.forgotten_statements import stated_by_row
from varve.usecases.forget.propose_requested import propose_requested
from varve.usecases.forget.proposed import list_forget_proposals
from varve.usecases.search.find import Stock
from varve.usecases.session import Session

DEFAULT_DAYS = 90
DEFAULT_MOST = 50
MAX_MOST = 1_000
WINDOW_ROWS = 4_000
"""Records of several users that are compared at a time in a store too large to load.

Each statement's vector is compared with all of a window.
"""
ROWS_AT_ONCE = 64
"""Statements whose vectors are compared with a window's in one multiplication."""


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
    made in a conversation it leaves a proposal, which `forget` confirms. With `user_id` it
    lists statements and proposals of that user alone. Raises Rejected: names the field;
    Retryable.
    """
    if user_id is not None:
        reference(user_id, "user_id")
    if days < 0:
        raise Rejected("days", "must be 0 or more")
    if not 1 <= most <= MAX_MOST:
        raise Rejected("most", f"must be from 1 to {MAX_MOST}")
    triples = session.graph.triples(session.scope)
    reader = session.records.at(session.scope)
    forgotten = read_forgotten(session.scope, reader, triples)
    propose_requested(session, forgotten)
    before = microseconds(session.now - timedelta(days=days))
    windows = _Windows(session, user_id)
    doubts = _Doubts(session, triples, forgotten, user_id)
    found = _find_oldest(doubts, windows.read(), before, most + 1)
    waiting = [
        one.to_dict()
        for one in list_forget_proposals(session)
        if user_id is None or one.concerns(user_id)
    ]
    return Review(
        statements=tuple(found[:most]),
        proposals=tuple(waiting),
        complete=not windows.not_compared and len(found) <= most,
        not_compared=tuple(windows.not_compared),
    )


def _find_oldest(
    doubts: "_Doubts", windows: Iterable[Columns], before: int, most: int
) -> list[DoubtfulStatement]:
    """Return up to `most` doubtful statements of all windows, the oldest first."""
    oldest: list[tuple[int, str, DoubtfulStatement]] = []
    for columns in windows:
        if len(oldest) == most:
            # A statement that was confirmed later has no place any more.
            before = oldest[-1][0] + 1
        for time, one in islice(doubts.find(columns, before), most):
            insort(oldest, (time, one.id, one))
        del oldest[most:]
    return [one for _, _, one in oldest]


class _Windows:
    """The records to compare, whole or, of a store too large to load, some users at a time.

    Statements are of one user, so that no window divides what is to be compared. A window
    has at most `WINDOW_ROWS` records, or `MAX_ROWS` of one user. A user with more is in
    `not_compared`.
    """

    def __init__(self, session: Session, user_id: str | None) -> None:
        reader = session.records.at(session.scope)
        self._stock = Stock(session.scope, reader, session.embedder)
        self._user_id = user_id
        self.not_compared: list[NotCompared] = []

    def read(self) -> Iterator[Columns]:
        """Yield the windows; one is in memory at a time."""
        whole = self._stock.columns(Grain.WORKING)
        if isinstance(whole, Columns):
            yield whole
            return
        for users in self._group_users(whole):
            yield self._stock.columns_of_users(Grain.WORKING, users)

    def _group_users(self, outline: Outline) -> Iterator[list[str | None]]:
        group: list[str | None] = []
        size = 0
        for user, records in self._count(outline):
            if records > MAX_ROWS:
                self.not_compared.append(NotCompared(user, records))
                continue
            if group and size + records > WINDOW_ROWS:
                yield group
                group = []
                size = 0
            group.append(user)
            size += records
        if group:
            yield group

    def _count(self, outline: Outline) -> Iterator[tuple[str | None, int]]:
        """Yield the users to compare with the numbers of their records."""
        users: list[str | None] = [None, *outline.users.names]
        counts = np.bincount(outline.users.of + 1, minlength=len(users))
        for user, records in zip(users, counts.tolist(), strict=True):
            if records and self._user_id in (None, user):
                yield user, records


class _Doubts:
    """The turns that hold and that something contradicts."""

    def __init__(
        self,
        session: Session,
        triples: Sequence[Triple],
        forgotten: Sequence[AnyForgotten],
        user_id: str | None,
    ) -> None:
        self._session = session
        self._forgotten = forgotten
        self._told = ToldValues(lambda: triples)
        self._ended = find_ended(triples, session.now)
        self._current = [one for one in triples if one.holds(session.now)]
        self._user_id = user_id

    def find(
        self, columns: Columns, before: int
    ) -> Iterator[tuple[int, DoubtfulStatement]]:
        """Yield a window's statements last confirmed before a time, the oldest first.

        Each comes with that time, in microseconds since 1970.
        """
        standings = Standings(columns, told=self._told)
        store = standings.store
        earlier = np.flatnonzero(columns.event_times < before).tolist()
        told = [
            row
            for row in earlier
            if store.is_told(row) and self._is_asked_for(columns, row)
        ]
        for start in range(0, len(told), ROWS_AT_ONCE):
            # Reads the vectors once for many rows; the statements keep the answers.
            store.find_later(told[start : start + ROWS_AT_ONCE], None)
        confirmed: list[tuple[int, str, int]] = []
        passages: dict[frozenset[MessageKey], list[int]] = {}
        for row in told:
            time = standings.find_confirmed(row)
            confirmed.append((time, columns.ids[row], row))
            message = frozenset(store.list_messages(row))
            passages.setdefault(message, []).append(row)
        for time, _, row in sorted(confirmed):
            # The passages of a long message come together, with the first of them.
            message = frozenset(store.list_messages(row))
            same = passages.pop(message, [])
            if time < before and same:
                doubt = self._find_doubt(standings, same)
                if doubt is not None:
                    record, against = doubt
                    yield time, self._describe(record, time, against)

    def _find_doubt(
        self, standings: Standings, passages: Sequence[int]
    ) -> tuple[RecordRow, Contradiction] | None:
        """Return the passage of a message that is contradicted, and what by.

        Of several it is the one with most words of what contradicts it, else the shortest.
        """
        found: list[tuple[int, RecordRow, Contradiction]] = []
        records = standings.columns.read_rows(np.array(passages))
        for row, record in zip(passages, records, strict=True):
            against = self._find_contradiction(standings, row, record)
            if against is not None:
                found.append((row, record, against))
        if not found:
            return None
        row, record, against = max(found, key=_measure_passage)
        if self._has_ended(standings, row, record):
            return None
        return record, against

    def _is_asked_for(self, columns: Columns, row: int) -> bool:
        if self._user_id is None:
            return True
        return columns.users.name(row) == self._user_id

    def _has_ended(
        self, standings: Standings, row: int, record: RecordRow
    ) -> bool:
        """Return whether a row is superseded for certain, or its user asked to forget it.

        A correction or a model's link names it, or the graph agrees with a likely
        successor.
        """
        if keep_rest(stated_by_row(record), self._forgotten) != record.content:
            return True
        successor = standings.find_successors([row]).get(row)
        if successor is None:
            return False
        if successor.is_named:
            return True
        return self._find_ended_value(standings, row, record) is not None

    def _find_contradiction(
        self, standings: Standings, row: int, record: RecordRow
    ) -> Contradiction | None:
        later = find_doubt(standings, row)
        if later is not None:
            columns = standings.columns
            return Contradiction(
                id=columns.ids[later],
                content=columns.contents[later],
                date=self._day(columns.event_times.item(later)),
            )
        return self._find_ended_value(standings, row, record)

    def _find_ended_value(
        self, standings: Standings, row: int, record: RecordRow
    ) -> Contradiction | None:
        """Return what the graph holds in the place of a value that a record states.

        A value whose part of the record was corrected by name contradicts nothing.
        """
        for one in self._ended:
            until = held_until(record.messages, record.content, [one])
            if until is None:
                continue
            if standings.find_part_correction(row, one.value) is None:
                day = day_of(until, self._session.zone)
                return Contradiction(None, self._tell_end(one), day)
        return None

    def _tell_end(self, ended: EndedStatement) -> str:
        for triple in self._current:
            if triple.valid_at == ended.until:
                return in_words(triple)
        return f"no longer: {ended.value}"

    def _describe(
        self, record: RecordRow, confirmed: int, against: Contradiction
    ) -> DoubtfulStatement:
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


def _measure_passage(
    found: tuple[int, RecordRow, Contradiction],
) -> tuple[int, int]:
    """Return how many words a passage shares with what contradicts it, and its shortness."""
    _, record, against = found
    told = read_particulars(record.content)
    shared = count_shared(read_particulars(against.content), told)
    return shared, -len(record.content)
