"""Show one record with its sources, level by level, down to the messages."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

from varve.domain.calendar import Grain, iso, microseconds, moment
from varve.domain.errors import Rejected
from varve.domain.record import MemoryType, Record, StoreName, turn_id
from varve.domain.search.query import Filter
from varve.domain.statements.forgetting.forgetting import AnyForgotten
from varve.domain.statements.standings.known import KnownStandings
from varve.domain.statements.standings.standing import Standing
from varve.domain.triple import Triple
from varve.ports.records import MemoryReader
from varve.usecases.corrections.known_ends import KnownEnds
from varve.usecases.forget.asked_to_forget import (
    find_request,
    leave_out_forgotten,
    read_forgotten,
)
from varve.usecases.records import find_record
from varve.usecases.search.find import Stock, number_rows, read_columns
from varve.usecases.session import Session
from varve.usecases.timeline import messages_of_day, messages_on

MAX_TRIPLES = 500
"""Triples of a record's conversation that are read."""


def show(
    session: Session,
    record_id: str,
    depth: int | None = None,
    *,
    hide_forgotten: bool = False,
) -> dict[str, Any]:
    """Return a record and its sources as JSON values, `depth` levels (None: all).

    A summary's sources are records with sources of their own; a fact's and a turn's are
    messages; a note's record has none. Of a source that retention has deleted only the id is shown and, for a
    turn, its message while the timeline has it. Of a fact and a turn it tells whether it
    is `current`, when it was `confirmedAt`, and the ids of the turns that it is
    `supersededBy` and that `askedToForget` it or a part of it, if memory knows one.
    `hide_forgotten`: without what users asked to forget.
    Raises Rejected: there is no such record, or all of it is hidden.
    """
    if depth is not None and depth < 0:
        raise Rejected("depth", "must be 0 or more")
    scope = session.scope
    reader = session.records.at(scope)
    grain, record = find_record(reader, scope, record_id)
    is_said = record.memory_type in (MemoryType.FACT, MemoryType.TURN)
    triples = _read_triples(session, record, every=hide_forgotten)
    values: list[AnyForgotten] = []
    if is_said or hide_forgotten:
        values = read_forgotten(scope, reader, triples, scans=session.scans)
    hidden = values if hide_forgotten else []
    tree = _Tree(session, reader, hidden)
    shown = tree.describe(record, grain, depth)
    if shown is None:
        raise Rejected("id", f"its user asked to forget {record_id[:80]!r}")
    if is_said:
        ends = KnownEnds(scope, reader, triples, session.now, of=record)
        shown |= _tell_standing(session, reader, record, ends)
        shown |= _tell_forgotten(record, values, session.zone)
    return shown


def _tell_forgotten(
    record: Record, values: Sequence[AnyForgotten], zone: ZoneInfo
) -> dict[str, Any]:
    """Return which turn asks to forget a fact or turn; of all of it, that it holds no more."""
    told: dict[str, Any] = {"askedToForget": find_request(record, values)}
    if leave_out_forgotten(record, values, zone) is None:
        told["current"] = False
    return told


def _tell_standing(
    session: Session, reader: MemoryReader, record: Record, ends: KnownEnds
) -> dict[str, Any]:
    """Return whether a fact or turn holds, as a search tells it, and what it lost to."""
    standing = _find_standing(session, reader, record, ends)
    successor = ends.find_successor(record)
    return {
        "current": standing.current,
        "supersededBy": successor or standing.successor,
        "confirmedAt": iso(moment(standing.confirmed)),
    }


def _find_standing(
    session: Session, reader: MemoryReader, record: Record, ends: KnownEnds
) -> Standing:
    """Return how a record stands; of a store too large to load, as `ends` alone tells."""
    read_triples = partial(session.graph.triples, session.scope)
    stock = Stock(
        session.scope, reader, session.embedder, triples=read_triples
    )
    columns = read_columns(stock, Grain.WORKING)
    if columns is None:
        return Standing(
            ends.is_current(record), microseconds(record.event_time)
        )
    row = columns.derive(number_rows)[record.id]
    known = KnownStandings(columns, Filter(), stock.told)
    standing = known.describe(row)
    if ends.is_current(record) or known.find_rest(row) is not None:
        return standing
    return replace(standing, current=False)


def _read_triples(
    session: Session, record: Record, *, every: bool
) -> list[Triple]:
    """Return the triples of a record's conversation, or every triple."""
    if every:
        return session.graph.triples(session.scope)
    if record.conversation_id is None:
        return []
    view = session.graph.open(session.scope)
    return view.drawn_from(record.conversation_id, MAX_TRIPLES)


class _Tree:
    """The sources of one agent's records."""

    def __init__(
        self,
        session: Session,
        reader: MemoryReader,
        hidden: Sequence[AnyForgotten],
    ) -> None:
        self._scope = session.scope
        self._zone = session.zone
        self._reader = reader
        self._objects = session.objects
        self._hidden = hidden

    def describe(
        self, record: Record, grain: StoreName, depth: int | None
    ) -> dict[str, Any] | None:
        """Return a record with `depth` levels of sources (None: all) as JSON values.

        None: all of it is hidden. What is hidden in part has no messages as sources.
        """
        told = leave_out_forgotten(record, self._hidden, self._zone)
        if told is None:
            return None
        described = _record(told, grain)
        is_whole = told.content == record.content
        if depth == 0:
            return described
        below = None if depth is None else depth - 1
        if isinstance(grain, Grain) and grain is not Grain.WORKING:
            described["sources"] = self._sources_of(record, grain, below)
        else:
            messages = self._messages_of(record) if is_whole else []
            described["sources"] = messages
        return described

    def _sources_of(
        self, summary: Record, grain: Grain, depth: int | None
    ) -> list[dict[str, Any]]:
        child = grain.child or Grain.WORKING
        found = self._reader.get(self._scope, child, summary.source_ids)
        kept = {record.id: record for record in found}
        messages: dict[str, dict[str, Any]] = {}
        # A message has no words of its own to compare with what is hidden.
        if not self._hidden and not kept.keys() >= set(summary.source_ids):
            messages = self._messages_by_turn(summary, grain)
        sources: list[dict[str, Any]] = []
        for id_ in summary.source_ids:
            if id_ in kept:
                source = self.describe(kept[id_], child, depth)
                sources += [] if source is None else [source]
            else:
                sources.append(
                    {"id": id_, "expired": True, **messages.get(id_, {})}
                )
        return sources

    def _messages_by_turn(
        self, summary: Record, grain: Grain
    ) -> dict[str, dict[str, Any]]:
        """Return a day's messages by the ids of their turns; none for other grains."""
        if grain is not Grain.DAILY:
            return {}
        lines = messages_of_day(
            summary.period, self._scope, objects=self._objects
        )
        return {
            turn_id(conversation, line["message"]["id"]): _message(line)
            for conversation, line in lines
        }

    def _messages_of(self, record: Record) -> list[dict[str, Any]]:
        if record.conversation_id is None:
            return []
        lines = messages_on(
            record.period,
            self._scope,
            record.conversation_id,
            objects=self._objects,
        )
        return [
            _message(line)
            for line in lines
            if line["message"]["id"] in record.source_ids
        ]


def _message(line: dict[str, Any]) -> dict[str, Any]:
    return {"at": line["at"], **line["message"]}


def _record(record: Record, grain: StoreName) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "id": record.id,
        "grain": str(grain),
        "memoryType": str(record.memory_type),
        "content": record.content,
        "period": record.period,
        "eventTime": iso(record.event_time),
        "createdAt": iso(record.created_at),
        "about": record.about,
        "userId": record.user_id,
        "conversationId": record.conversation_id,
        "importance": record.importance,
        "confidence": record.confidence,
        "sourceIds": list(record.source_ids),
    }
    if record.metadata:
        shown["metadata"] = record.metadata
    if record.memory_type is MemoryType.SUMMARY:
        shown |= {
            "people": list(record.people),
            "topics": list(record.topics),
            "openQuestions": list(record.open_questions),
        }
    return shown
