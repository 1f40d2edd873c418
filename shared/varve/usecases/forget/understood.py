"""Requests to forget that new messages made, and what they hide from now on."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from varve.domain.calendar import Grain
from varve.domain.record import MemoryType, Record
from varve.domain.search.query import Filter
from varve.domain.search.row import MessageKey
from varve.domain.statements.forgetting.forgetting import AnyForgotten
from varve.domain.statements.texts.parts import split_parts
from varve.usecases.forget.asked_statements import is_asked_of_expired
from varve.usecases.forget.asked_to_forget import read_forgotten
from varve.usecases.forget.forgotten_statements import stated_by
from varve.usecases.forget.proposals import Proposal, read_statements
from varve.usecases.session import Session
from varve.usecases.whole_stores import EVERYTHING

_HIDDEN = (str(MemoryType.TURN), str(MemoryType.FACT))


@dataclass(frozen=True, slots=True)
class HiddenStatement:
    """The words of a fact or turn that a request hides; of an expired one all.

    `date` is the day they were said on.
    """

    id: str
    date: str
    content: str

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {"id": self.id, "date": self.date, "content": self.content}


@dataclass(frozen=True, slots=True)
class UnderstoodRequest:
    """A request to forget: its turn's id and words, and the statements that it hides.

    These are hidden from search and context, and erased only when a person confirms it.
    """

    id: str
    content: str
    hidden: tuple[HiddenStatement, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "id": self.id,
            "content": self.content,
            "hidden": [one.to_dict() for one in self.hidden],
        }


def read_understood(
    session: Session, turns: Collection[str]
) -> tuple[UnderstoodRequest, ...]:
    """Return the requests to forget that these turns make, with what they hide.

    A turn that only has words of such a request, and forgets nothing, has none. Raises
    Retryable.
    """
    if not turns:
        return ()
    scope = session.scope
    reader = session.records.at(scope)
    triples = session.graph.triples(scope)
    asked: dict[str, list[AnyForgotten]] = {}
    every: set[str] = set()
    for value in read_forgotten(scope, reader, triples):
        every.add(value.request_turn)
        if value.request_turn in turns:
            asked.setdefault(value.request_turn, []).append(value)
    if not asked:
        return ()
    told = [
        one
        for one in _read_told(session, asked.values())
        if one.id not in every
    ]
    expired = [
        one for one in read_statements(session) if one.memory_type in _HIDDEN
    ]
    requests = reader.get(scope, Grain.WORKING, sorted(asked))
    requests.sort(key=lambda one: (one.event_time, one.position, one.id))
    return tuple(
        UnderstoodRequest(
            request.id,
            request.content,
            (
                *_find_expired(expired, asked[request.id]),
                *_find_hidden(told, asked[request.id]),
            ),
        )
        for request in requests
    )


def _read_told(
    session: Session, asked: Iterable[Sequence[AnyForgotten]]
) -> list[Record]:
    """Return the turns and then the facts of those who ask, the oldest first."""
    users = {value.user for values in asked for value in values}
    where = Filter(memory_types=_HIDDEN)
    if len(users) == 1:
        where = Filter(memory_types=_HIDDEN, user_id=users.pop())
    records = session.records.at(session.scope).browse(
        session.scope, Grain.WORKING, where=where, limit=EVERYTHING
    )
    return sorted(records, key=_rank)


def _rank(record: Record) -> tuple[bool, Any, str]:
    is_fact = record.memory_type is MemoryType.FACT
    return is_fact, record.event_time, record.id


def _find_expired(
    statements: Iterable[Proposal], values: Sequence[AnyForgotten]
) -> Iterator[HiddenStatement]:
    """Yield what only summaries and the timeline still say, once for each message."""
    shown: set[MessageKey] = set()
    for one in statements:
        is_asked = any(is_asked_of_expired(one, value) for value in values)
        if is_asked and shown.isdisjoint(one.messages):
            shown |= one.messages
            words = one.content.removeprefix(f"{one.speaker}: ")
            yield HiddenStatement(one.id, one.date, words)


def _find_hidden(
    told: Iterable[Record], values: Sequence[AnyForgotten]
) -> Iterator[HiddenStatement]:
    """Yield what values hide, once for each message: of a turn and its facts the turn's words."""
    shown: set[tuple[str | None, str]] = set()
    for record in told:
        words = _list_hidden_words(record, values)
        if words and shown.isdisjoint(record.messages):
            shown |= record.messages
            yield HiddenStatement(record.id, record.period, words)


def _list_hidden_words(record: Record, values: Iterable[AnyForgotten]) -> str:
    stated = stated_by(record)
    found: set[int] = set()
    for value in values:
        found |= value.find_parts(stated)
    parts = split_parts(stated.words)
    return " ".join(parts[at] for at in sorted(found) if at < len(parts))
