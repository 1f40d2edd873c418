"""One record: its sources, the summaries it went into, its triples, and its expiry."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from varve.domain.calendar import Grain, Period
from varve.domain.entities import find_spellings
from varve.domain.record import MemoryType, Record
from varve.domain.retention import expires_at
from varve.domain.search.query import Filter
from varve.domain.triple import Triple
from varve.usecases.inspection.periods import read_summaries
from varve.usecases.session import Session
from varve.usecases.show import show
from varve.usecases.triples import triple_as_json

MAX_SUMMARIES = 50
MAX_TRIPLES = 500


@dataclass(frozen=True, slots=True)
class Statement:
    """A record as JSON values with its sources, and what memory made of it.

    `went_into` are the summaries that cite it, directly or through another summary, the
    finest grain first. `triples` are those drawn from its messages, as JSON values.
    """

    record: dict[str, Any]
    period: Period
    went_into: tuple[tuple[Grain, Record], ...]
    triples: tuple[dict[str, Any], ...]
    facts: tuple[Record, ...]
    expires: datetime


def read_statement(session: Session, record_id: str) -> Statement:
    """Read a record with one level of sources. Raises Rejected: there is none."""
    record = show(session, record_id, depth=1)
    grain = Grain(record["grain"])
    period = Period(grain, record["period"])
    said = record["memoryType"] != MemoryType.SUMMARY
    return Statement(
        record=record,
        period=period,
        went_into=tuple(_follow_up(session, record_id, period, record["userId"])),
        triples=tuple(_read_triples(session, record)) if said else (),
        facts=tuple(_read_facts(session, record)) if said else (),
        expires=expires_at(period, session.config.limit(grain), session.zone),
    )


def _follow_up(
    session: Session, record_id: str, period: Period, user_id: str | None
) -> list[tuple[Grain, Record]]:
    """Follow the citations upwards, one grain at a time."""
    found: list[tuple[Grain, Record]] = []
    ids = {record_id}
    above = period.parent()
    while above is not None and ids:
        summaries = _read_citing(session, above, ids, user_id)
        found += [(above.grain, one) for one in summaries]
        ids = {one.id for one in summaries}
        above = above.parent()
    return found


def _read_citing(
    session: Session, period: Period, ids: Collection[str], user_id: str | None
) -> list[Record]:
    """Return the period's summaries that cite one of the ids.

    The user's own come first; a workspace may also have summaries of all users.
    """
    for user in dict.fromkeys((user_id, None)):
        summaries = read_summaries(session, period, user_id=user, most=MAX_SUMMARIES)
        citing = [one for one in summaries if not set(ids).isdisjoint(one.source_ids)]
        if citing:
            return citing
    return []


def _read_triples(session: Session, record: dict[str, Any]) -> list[dict[str, Any]]:
    conversation_id = record["conversationId"]
    if conversation_id is None:
        return []
    view = session.graph.open(session.scope)
    sources = frozenset(record["sourceIds"])
    drawn = view.drawn_from(conversation_id, MAX_TRIPLES)
    own = [triple for triple in drawn if sources.intersection(_message_ids(triple))]
    spellings = find_spellings([*view.aliases(), *own])
    return [triple_as_json(triple, spellings) for triple in own]


def _message_ids(triple: Triple) -> set[str]:
    ids: set[str] = set()
    for operation in triple.evidence:
        ids.update(operation.message_ids)
    return ids


def _read_facts(session: Session, record: dict[str, Any]) -> list[Record]:
    """Return the other records that are made of the same messages."""
    if record["conversationId"] is None:
        return []
    where = Filter(conversation_id=record["conversationId"])
    sources = frozenset(record["sourceIds"])
    others = session.records.browse(
        session.scope, Grain.WORKING, where=where, limit=MAX_TRIPLES
    )
    same = [one for one in others if sources.intersection(one.source_ids)]
    return [one for one in same if one.id != record["id"]]
