"""What users asked to forget in conversations, and records that still state it."""

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace
from zoneinfo import ZoneInfo

from varve.domain.calendar import Grain, Period
from varve.domain.identity import Scope
from varve.domain.record import MemoryType, Record
from varve.domain.search.columns import Columns
from varve.domain.search.outline import Outline
from varve.domain.search.query import Filter
from varve.domain.search.ranking import Ranked
from varve.domain.search.results import Browsed
from varve.domain.search.row import RecordRow
from varve.domain.statements.forgetting.forgetting import (
    AnyForgotten,
    choose_concerning,
    find_ended_by_message,
    keep_requested,
    keep_rest,
    leave_out,
)
from varve.domain.statements.forgetting.forgotten_words import ForgottenWords
from varve.domain.statements.standings.standing import Standing
from varve.domain.statements.standings.standings import Standings
from varve.domain.summary import key_facts_as_json, key_facts_from_json
from varve.domain.triple import Triple
from varve.ports.records import MemoryReader
from varve.usecases.forget.forgotten_statements import (
    RequestScan,
    RequestScans,
    read_forgotten_words,
    stated_by,
    stated_by_row,
)
from varve.usecases.search.find import Stock, read_columns
from varve.usecases.search.lookup import Lookup
from varve.usecases.session import Session
from varve.usecases.whole_stores import read_summaries

_STATING = (MemoryType.FACT, MemoryType.TURN, MemoryType.SUMMARY)


def read_forgotten(
    scope: Scope,
    reader: MemoryReader,
    triples: Sequence[Triple],
    held: Outline | None = None,
    scans: RequestScans | None = None,
) -> list[AnyForgotten]:
    """Return what messages in working memory ask to forget. Raises Retryable.

    `held` is the working store; if it is not loaded, the words of its turns are scanned,
    with `scans` once for all calls.
    """
    ended = list(find_ended_by_message(triples))
    ids = {one.request_turn: one for one in ended}
    turns = reader.get(scope, Grain.WORKING, sorted(ids)) if ids else []
    texts = {ids[turn.id].request: turn.words for turn in turns}
    values: list[AnyForgotten] = [*keep_requested(ended, texts, triples)]
    if isinstance(held, Columns):
        return [*values, *held.derive(RequestScan).words]
    if scans is not None:
        return [*values, *scans.read(scope, reader)]
    return [*values, *read_forgotten_words(scope, reader)]


def has_requests(held: Outline) -> bool:
    """Return whether any turn may ask to forget.

    It is read once for each version of a store. Of a store too large to load it is True.
    """
    return not isinstance(held, Columns) or held.derive(RequestScan).found


def drop_forgotten(
    found: Sequence[Ranked | Browsed],
    lookup: Lookup,
    held: Outline | None = None,
) -> list[Ranked | Browsed]:
    """Return the records without the parts of the agent's facts and turns that are forgotten.

    Summaries lose the sentences that name them. `held` as in `read_forgotten`.
    """
    values = read_forgotten(
        lookup.scope, lookup.reader, lookup.triples(), held, lookup.scans
    )
    if not values:
        return list(found)
    requests = {value.request_turn for value in values}
    kept: list[Ranked | Browsed] = []
    for one in found:
        if one.agent is not None:
            kept.append(one)
        else:
            current = _hold_beside_request(one, requests)
            kept += _reduce(current, values, lookup.zone)
    return kept


def drop_forgotten_of_shared(
    found: Sequence[Ranked | Browsed], stocks: Iterable[Stock], zone: ZoneInfo
) -> list[Ranked | Browsed]:
    """Return the records without what users asked the other agents to forget.

    `stocks` are theirs. Requests are read by their words: a grant shares no triples, and
    one of summaries alone no requests.
    """
    values = {stock.agent: _read_shared_requests(stock) for stock in stocks}
    kept: list[Ranked | Browsed] = []
    for one in found:
        if values.get(one.agent):
            kept += _reduce(one, values[one.agent], zone)
        else:
            kept.append(one)
    return kept


def _read_shared_requests(stock: Stock) -> Sequence[ForgottenWords]:
    if stock.narrow(Filter(), Grain.WORKING) is None:
        return []
    held = read_columns(stock, Grain.WORKING)
    if held is not None:
        return held.derive(RequestScan).words
    return read_forgotten_words(stock.scope, stock.reader)


def _hold_beside_request(
    one: Ranked | Browsed, requests: Set[str]
) -> Ranked | Browsed:
    """Return a record as current if only a request to forget supersedes it.

    The request ends what is hidden, and no more of the message.
    """
    standing = one.standing
    if standing is None or standing.successor not in requests:
        return one
    holds = Standing(current=True, confirmed=standing.confirmed)
    if isinstance(one, Browsed) or one.columns is None:
        return replace(one, standing=holds)
    # A superseded statement still has the parts that are corrected.
    rest = Standings(one.columns).find_rest(one.number) or one.content
    row = replace(one.row, content=rest, shown={})
    return replace(one, row=row, standing=holds)


def _reduce(
    one: Ranked | Browsed, values: Sequence[AnyForgotten], zone: ZoneInfo
) -> Iterator[Ranked | Browsed]:
    """Yield a record without the parts or sentences that are forgotten, if any are left."""
    before = one.row if isinstance(one, Ranked) else one.record
    told = _keep_rest(before, values, zone)
    if told == before.content:
        yield one
    elif told and isinstance(one, Ranked):
        yield replace(one, row=replace(one.row, content=told, shown={}))
    elif told and isinstance(one, Browsed):
        yield replace(one, record=replace(one.record, content=told))


def leave_out_forgotten(
    record: Record, values: Sequence[AnyForgotten], zone: ZoneInfo
) -> Record | None:
    """Return a record without the parts or sentences that are forgotten; None: all are."""
    if record.memory_type not in _STATING:
        return record
    told = _keep_rest(record, values, zone)
    return replace(record, content=told) if told else None


def hide_forgotten(
    session: Session, records: Iterable[Record]
) -> list[Record]:
    """Return the records without what users asked to forget. Raises Retryable."""
    triples = session.graph.triples(session.scope)
    values = read_forgotten(session.scope, session.records, triples)
    told = (leave_out_forgotten(one, values, session.zone) for one in records)
    return [one for one in told if one is not None]


def find_request(record: Record, values: Iterable[AnyForgotten]) -> str | None:
    """Return the id of the turn that asks to forget a part of a fact or turn, if any does."""
    stated = stated_by(record)
    for value in values:
        if value.find_parts(stated):
            return value.request_turn
    return None


def _keep_rest(
    said: RecordRow | Record, values: Sequence[AnyForgotten], zone: ZoneInfo
) -> str:
    if isinstance(said, RecordRow):
        if said.type is not MemoryType.SUMMARY:
            return keep_rest(stated_by_row(said), values)
        user = said.user
    else:
        if said.memory_type is not MemoryType.SUMMARY:
            return keep_rest(stated_by(said), values)
        user = said.user_id
    return _leave_out_of_summary(said.content, said.period, user, values, zone)


def _leave_out_of_summary(
    text: str,
    label: str,
    user: str | None,
    values: Iterable[AnyForgotten],
    zone: ZoneInfo,
) -> str:
    """Return a summary's text without the sentences that name a value of its user.

    `label` is its period's.
    """
    start = Period.parse(label).start(zone)
    return leave_out(text, choose_concerning(values, user, start))


def without_values(
    record: Record, values: Sequence[AnyForgotten], zone: ZoneInfo
) -> Record:
    """Return a summary without the sentences and key facts that name a value."""
    start = Period.parse(record.period).start(zone)
    # A summary that was made since has nothing of what was told before.
    own = [
        one
        for one in choose_concerning(values, record.user_id, start)
        if not (one.is_of_all and one.at < record.created_at)
    ]
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
    texts: Iterable[str], values: Sequence[AnyForgotten]
) -> tuple[str, ...]:
    return tuple(text for text in texts if leave_out(text, values))


def _list_days(
    values: Iterable[AnyForgotten], zone: ZoneInfo
) -> Iterator[Period]:
    """Yield the days on which words that requests name were said."""
    for one in values:
        if isinstance(one, ForgottenWords):
            for told in one.told:
                yield Period.of(told.turn.at, Grain.DAILY, zone)


def mark_naming(
    session: Session, values: Sequence[AnyForgotten], but: Period
) -> None:
    """Mark the periods of the summaries that name a value, `but` for one.

    So are the days on which forgotten words were said, whose summaries may tell them in
    other words. Raises Retryable.
    """
    days = set(_list_days(values, session.zone))
    stale: list[Period] = []
    for grain, record in read_summaries(session.scope, session.records):
        period = Period(grain, record.period)
        is_named = without_values(record, values, session.zone) != record
        if is_named or period in days:
            stale.append(period)
    asked = [one.request_turn for one in values]
    periods = [one for one in stale if one != but]
    session.ledger.mark(session.scope, periods, "asked to forget", *asked)
