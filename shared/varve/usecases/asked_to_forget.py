"""The values that users asked to forget in conversations, and records that still state them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

import numpy as np

from varve.domain.calendar import Grain, Period, moment
from varve.domain.identity import Scope
from varve.domain.record import MemoryType, Record
from varve.domain.search.columns import Columns
from varve.domain.search.outline import Outline
from varve.domain.search.query import Filter
from varve.domain.search.ranking import Ranked
from varve.domain.search.results import Browsed
from varve.domain.search.row import Message
from varve.domain.statements.forgetting import (
    ForgottenValue,
    asks_to_forget,
    choose_concerning,
    find_ended_by_message,
    keep_requested,
    leave_out,
    request_words,
)
from varve.domain.summary import key_facts_as_json, key_facts_from_json
from varve.domain.triple import Triple
from varve.ports.records import MemoryReader
from varve.usecases.lookup import Lookup
from varve.usecases.session import Session
from varve.usecases.whole_stores import read_summaries

_TURN = str(MemoryType.TURN)


Stated = tuple[str, frozenset[Message], str | None, datetime]
"""A fact's or turn's words, messages, user and time."""


def list_stated(record: Record) -> Stated:
    """Return what decides whether a fact or turn states a value."""
    messages = frozenset(
        (record.conversation_id, id_) for id_ in record.source_ids
    )
    return record.content, messages, record.user_id, record.event_time


def read_forgotten(
    scope: Scope, reader: MemoryReader, triples: Sequence[Triple]
) -> list[ForgottenValue]:
    """Return the values that messages in working memory ask to forget. Raises Retryable."""
    ended = list(find_ended_by_message(triples))
    ids = {one.request_turn: one for one in ended}
    turns = reader.get(scope, Grain.WORKING, sorted(ids)) if ids else []
    texts = {ids[turn.id].request: turn.words for turn in turns}
    return keep_requested(ended, texts)


def has_requests(held: Outline) -> bool:
    """Return whether any turn may ask to forget.

    It is read once for each version of a store. Of a store too large to load it is True.
    """
    if not isinstance(held, Columns):
        return True
    return held.derive(_RequestScan).found


class _RequestScan:
    """Whether a store's columns have a turn that may ask to forget."""

    def __init__(self, columns: Columns) -> None:
        near = Filter(mentions=(request_words(),), memory_types=(_TURN,))
        rows = np.flatnonzero(columns.admitted(near)).tolist()
        self.found = any(asks_to_forget(columns.contents[row]) for row in rows)


def drop_forgotten(
    found: Sequence[Ranked | Browsed], lookup: Lookup
) -> list[Ranked | Browsed]:
    """Return the records without facts and turns of the agent that state a forgotten value.

    Summaries lose the sentences that name it.
    """
    values = read_forgotten(lookup.scope, lookup.reader, lookup.triples())
    if not values:
        return list(found)
    kept: list[Ranked | Browsed] = []
    for one in found:
        if one.agent is not None:
            kept.append(one)
        elif _is_summary(one):
            kept += _reduce(one, values, lookup.zone)
        elif not _is_forgotten(one, values):
            kept.append(one)
    return kept


def _is_summary(one: Ranked | Browsed) -> bool:
    if isinstance(one, Ranked):
        return one.row.type is MemoryType.SUMMARY
    return one.record.memory_type is MemoryType.SUMMARY


def _reduce(
    one: Ranked | Browsed, values: Iterable[ForgottenValue], zone: ZoneInfo
) -> Iterator[Ranked | Browsed]:
    """Yield a summary without the sentences that name a value, if any are left."""
    if isinstance(one, Ranked):
        row = one.row
        said = row.content, row.period, row.user
    else:
        record = one.record
        said = record.content, record.period, record.user_id
    told = _leave_out_of_summary(*said, values, zone)
    if told == said[0]:
        yield one
    elif told and isinstance(one, Ranked):
        yield replace(one, row=replace(one.row, content=told, shown={}))
    elif told and isinstance(one, Browsed):
        yield replace(one, record=replace(one.record, content=told))


def _leave_out_of_summary(
    text: str,
    label: str,
    user: str | None,
    values: Iterable[ForgottenValue],
    zone: ZoneInfo,
) -> str:
    """Return a summary's text without the sentences that name a value of its user.

    `label` is its period's.
    """
    start = Period.parse(label).start(zone)
    return leave_out(text, choose_concerning(values, user, start))


def without_values(
    record: Record, values: Sequence[ForgottenValue], zone: ZoneInfo
) -> Record:
    """Return a summary without the sentences and key facts that name a value."""
    start = Period.parse(record.period).start(zone)
    own = choose_concerning(values, record.user_id, start)
    told = leave_out(record.content, own)
    facts = key_facts_from_json(record.key_facts)
    # A key fact that had no room in the content is carried to the periods above.
    kept = [fact for fact in facts if leave_out(fact.content, own)]
    if told == record.content and len(kept) == len(facts):
        return record
    return replace(
        record,
        content=told,
        key_facts=key_facts_as_json(kept),
        people=_leave_out_each(record.people, own),
        topics=_leave_out_each(record.topics, own),
        open_questions=_leave_out_each(record.open_questions, own),
    )


def _leave_out_each(
    texts: Iterable[str], values: Sequence[ForgottenValue]
) -> tuple[str, ...]:
    return tuple(text for text in texts if leave_out(text, values))


def mark_naming(
    session: Session, values: Sequence[ForgottenValue], but: Period
) -> None:
    """Mark the periods of the summaries that name a value, `but` for one.

    Raises Retryable.
    """
    stale: list[Period] = []
    for grain, record in read_summaries(session.scope, session.records):
        if without_values(record, values, session.zone) != record:
            stale.append(Period(grain, record.period))
    asked = [one.request_turn for one in values]
    periods = [one for one in stale if one != but]
    session.ledger.mark(session.scope, periods, "asked to forget", *asked)


def _is_forgotten(
    one: Ranked | Browsed, values: Iterable[ForgottenValue]
) -> bool:
    if isinstance(one, Ranked):
        row = one.row
        said = row.content, row.messages, row.user, moment(row.time)
    else:
        said = list_stated(one.record)
    return any(value.is_stated_in(*said) for value in values)
