"""One record: its sources, the summaries it went into, its triples, and its expiry."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from varve.domain.calendar import Grain, Period
from varve.domain.entities import find_spellings
from varve.domain.errors import Rejected
from varve.domain.record import MemoryType, Record
from varve.domain.retention import expires_at
from varve.domain.search.query import Filter
from varve.domain.triple import Triple, TripleOperation
from varve.ports.graph import GraphView
from varve.usecases.forget.asked_triples import triples_as_json
from varve.usecases.inspection.periods import read_summaries
from varve.usecases.session import Session
from varve.usecases.show import MAX_TRIPLES, show

MAX_SUMMARIES = 50
MAX_ALIKE = 200
"""Records of the same conversation among which those of the same messages are found."""


@dataclass(frozen=True, slots=True)
class RecordDetails:
    """A record as JSON values with its sources, and what memory made of it.

    `went_into` are the summaries that cite it, directly or through another summary, the
    finest grain first. `triples` are those that its messages made or changed, as JSON
    values. `current` is as `usecases.known_ends` tells it, None for a summary;
    `successor` is the turn that says what holds instead, and `successors` are the triples
    that took the places of its triples.
    `confirmations` are what other messages said of the same, the oldest first.
    `is_about_entity`: the graph has facts of whom the record is about.
    """

    record: dict[str, Any]
    period: Period
    went_into: tuple[tuple[Grain, Record], ...]
    triples: tuple[dict[str, Any], ...]
    successors: tuple[dict[str, Any], ...]
    current: bool | None
    successor: Record | None
    confirmations: tuple[TripleOperation, ...]
    facts: tuple[Record, ...]
    is_about_entity: bool
    expires: datetime


def read_record_details(session: Session, record_id: str) -> RecordDetails:
    """Read a record with one level of sources. Raises Rejected: there is none, or a note's."""
    record = show(session, record_id, depth=1)
    if record["memoryType"] == MemoryType.NOTE:
        raise Rejected("id", "is a note's; see varve note show")
    grain = Grain(record["grain"])
    period = Period(grain, record["period"])
    said = record["memoryType"] != MemoryType.SUMMARY
    taken = _read_taken(session, record) if said else _NOTHING_TAKEN
    summaries = _follow_up(session, record_id, period, record["userId"])
    facts = tuple(_read_facts(session, record)) if said else ()
    limit = session.config.limit(grain)
    return RecordDetails(
        record=record,
        period=period,
        went_into=tuple(summaries),
        triples=taken.triples,
        successors=taken.successors,
        current=record.get("current"),
        successor=_read_successor(session, record.get("supersededBy")),
        confirmations=taken.confirmations,
        facts=facts,
        is_about_entity=said and _is_entity(session, record["about"]),
        expires=expires_at(period, limit, session.zone),
    )


def _is_entity(session: Session, name: str | None) -> bool:
    """Return whether the graph has facts of a name."""
    view = session.graph.open(session.scope)
    return bool(name and view.about(name))


def _read_successor(session: Session, id_: str | None) -> Record | None:
    """Return the turn with an id, if memory still has it."""
    ids = [] if id_ is None else [id_]
    found = session.records.get(session.scope, Grain.WORKING, ids)
    return found[0] if found else None


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
        summaries = read_summaries(
            session, period, user_id=user, most=MAX_SUMMARIES
        )
        citing = [
            one for one in summaries if not set(ids).isdisjoint(one.source_ids)
        ]
        if citing:
            return citing
    return []


@dataclass(frozen=True, slots=True)
class _Taken:
    """The graph's part in a statement; see `RecordDetails`."""

    triples: tuple[dict[str, Any], ...] = ()
    successors: tuple[dict[str, Any], ...] = ()
    confirmations: tuple[TripleOperation, ...] = ()


_NOTHING_TAKEN = _Taken()


def _read_taken(session: Session, record: dict[str, Any]) -> _Taken:
    conversation_id = record["conversationId"]
    if conversation_id is None:
        return _NOTHING_TAKEN
    view = session.graph.open(session.scope)
    sources = frozenset(record["sourceIds"])
    drawn = view.drawn_from(conversation_id, MAX_TRIPLES)
    own = [
        one for one in drawn if _cites(one.evidence, conversation_id, sources)
    ]
    stated = [
        one for one in own if _cites(one.stating, conversation_id, sources)
    ]
    successors = _find_successors(view, stated)
    spellings = find_spellings([*view.aliases(), *own, *successors])
    told = triples_as_json(session, [*own, *successors], spellings)
    return _Taken(
        triples=tuple(told[: len(own)]),
        successors=tuple(told[len(own) :]),
        confirmations=tuple(
            _find_confirmations(stated, conversation_id, sources)
        ),
    )


def _find_confirmations(
    stated: Iterable[Triple], conversation_id: str, message_ids: frozenset[str]
) -> list[TripleOperation]:
    """Return what messages besides these said for the triples, the oldest first."""
    others: dict[str, TripleOperation] = {}
    for triple in stated:
        for operation in triple.stating:
            if not _cites([operation], conversation_id, message_ids):
                others[operation.id] = operation
    return sorted(others.values(), key=lambda one: (one.event_time, one.id))


def _cites(
    operations: Iterable[TripleOperation],
    conversation_id: str,
    message_ids: frozenset[str],
) -> bool:
    for operation in operations:
        if operation.conversation_id != conversation_id:
            continue
        if message_ids.intersection(operation.message_ids):
            return True
    return False


def _find_successors(view: GraphView, ended: Iterable[Triple]) -> list[Triple]:
    """Return the triples of the same entity and predicate that began as others ended."""
    found: dict[str, Triple] = {}
    for triple in ended:
        if triple.invalid_at is None:
            continue
        for other in view.about(triple.source_id):
            group = (other.source_id, other.label)
            is_same_group = group == (triple.source_id, triple.label)
            if is_same_group and other.valid_at == triple.invalid_at:
                found[other.id] = other
    return list(found.values())


def _read_facts(session: Session, record: dict[str, Any]) -> list[Record]:
    """Return the other records that are made of the same messages."""
    if record["conversationId"] is None:
        return []
    where = Filter(conversation_id=record["conversationId"])
    sources = frozenset(record["sourceIds"])
    others = session.records.browse(
        session.scope, Grain.WORKING, where=where, limit=MAX_ALIKE
    )
    same = [one for one in others if sources.intersection(one.source_ids)]
    return [one for one in same if one.id != record["id"]]
