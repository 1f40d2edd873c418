"""Proposals to forget that wait for a person, as an agent's tool leaves them.

A proposal holds hashes of ids and no content. So an erasure need not look for it, and
statements that are erased meanwhile are no longer part of it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import chain
from typing import Any

from varve.domain.calendar import iso, parse_instant
from varve.domain.errors import Rejected
from varve.domain.identity import digest
from varve.usecases.erasure.audit_object import AuditObject
from varve.usecases.forget.proposals import (
    Proposal,
    list_whole_messages,
    read_statements,
)
from varve.usecases.session import Session

KEPT = timedelta(days=30)
"""How long a proposal waits; the next one removes it."""
MOST = 100
"""The most proposals that wait; the oldest make room."""
_HASH_DIGITS = 32


@dataclass(frozen=True, slots=True)
class Waiting:
    """One proposal: its number, its time, and the hashes of what each statement erases."""

    number: int
    at: datetime
    statements: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Proposed:
    """The proposals that wait, oldest first, and the last number that was given."""

    last: int = 0
    waiting: tuple[Waiting, ...] = ()

    def find(self, number: int) -> Waiting:
        """Return the proposal of this number. Raises Rejected: none waits."""
        for one in self.waiting:
            if one.number == number:
                return one
        raise Rejected("proposal", f"no proposal {number} waits")

    def without(self, number: int) -> "Proposed":
        """Return the others."""
        others = [one for one in self.waiting if one.number != number]
        return Proposed(self.last, tuple(others))

    def with_one(
        self, statements: tuple[tuple[str, ...], ...], now: datetime
    ) -> "Proposed":
        """Return them with one more, and without those that waited for too long.

        A proposal that erases the same keeps its number.
        """
        fresh = [one for one in self.waiting if now - one.at < KEPT]
        wanted = set(chain(*statements))
        for at, one in enumerate(fresh):
            if set(chain(*one.statements)) == wanted:
                fresh[at] = replace(one, statements=statements)
                return Proposed(self.last, tuple(fresh))
        number = self.last + 1
        added = Waiting(number, now, statements)
        kept = [*fresh, added][-MOST:]
        return Proposed(number, tuple(kept))


def _encode(proposed: Proposed) -> dict[str, Any]:
    waiting: list[dict[str, Any]] = []
    for one in proposed.waiting:
        statements = [list(hashes) for hashes in one.statements]
        waiting.append(
            {
                "number": one.number,
                "at": iso(one.at),
                "statements": statements,
            }
        )
    return {"last": proposed.last, "waiting": waiting}


def _decode(body: Mapping[str, Any]) -> Proposed:
    waiting = []
    for one in body["waiting"]:
        statements = tuple(tuple(hashes) for hashes in one["statements"])
        waiting.append(
            Waiting(one["number"], parse_instant(one["at"]), statements)
        )
    return Proposed(body["last"], tuple(waiting))


_STORED: AuditObject[Proposed] = AuditObject(
    kind="proposals", empty=Proposed, encode=_encode, decode=_decode
)


def keep(session: Session, proposals: Sequence[Proposal]) -> int:
    """Keep a proposal of these statements; return its number. Raises Retryable.

    The same statements again have the same number.
    """
    hashed = _hash_each(proposals)

    def add(known: Proposed) -> Proposed:
        return known.with_one(hashed, session.now)

    stored = _STORED.change(session.scope, add, session.objects)
    return next(
        one.number for one in stored.waiting if one.statements == hashed
    )


def keep_new(session: Session, proposals: Sequence[Proposal]) -> None:
    """Keep a proposal of these statements, unless one that waits erases all of them.

    Raises Retryable.
    """
    wanted = set(chain(*_hash_each(proposals)))
    for one in read_waiting(session):
        if wanted <= set(chain(*one.statements)):
            return
    keep(session, proposals)


def _hash_each(proposals: Iterable[Proposal]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(map(_hash, one.erases)) for one in proposals)


def read_waiting(session: Session) -> tuple[Waiting, ...]:
    """Return the proposals that wait, oldest first. Raises Retryable."""
    return _STORED.read(session.scope, session.objects).waiting


def read_one(session: Session, number: int) -> list[Proposal]:
    """Return the statements of a proposal that memory still has, in their order.

    Raises Rejected: no proposal of this number waits; Retryable.
    """
    wanted = _STORED.read(session.scope, session.objects).find(number)
    found: dict[str, tuple[str, Proposal]] = {}
    for one in read_statements(session):
        for id_ in one.erases:
            found.setdefault(_hash(id_), (id_, one))
    return [
        _build_statement(hashes, found)
        for hashes in wanted.statements
        if not found.keys().isdisjoint(hashes)
    ]


def _build_statement(
    hashes: Sequence[str], found: Mapping[str, tuple[str, Proposal]]
) -> Proposal:
    """Return what a statement says and erases, of what memory still has."""
    left = [found[one] for one in hashes if one in found]
    first = left[0][1]
    return Proposal(
        id=first.id,
        memory_type=first.memory_type,
        date=first.date,
        content=first.content,
        messages=frozenset(chain(*(one.messages for _, one in left))),
        erases=tuple(id_ for id_, _ in left),
        users=first.users,
        likeness=1.0,
        whole_messages=list_whole_messages(first, (one for _, one in left)),
    )


def discard(session: Session, number: int) -> None:
    """Remove a proposal. Raises Rejected: no proposal of this number waits; Retryable."""

    def remove(known: Proposed) -> Proposed:
        known.find(number)
        return known.without(number)

    _STORED.change(session.scope, remove, session.objects)


def _hash(id_: str) -> str:
    return digest(id_, length=_HASH_DIGITS)
