"""Triple operations, and the triples that they fold into.

The fold depends on the set of operations alone. Operations may come late, twice, in any
order and in any batches. The triples stay the same, because they are always derived from
the operations in the order of their event times. This includes aliases: when a name turns
out late to be an alias, its triples move to the entity and end each other there.

What one user states never ends what another one stated: two users may bear one name.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from itertools import chain
from typing import Any

from pydantic import TypeAdapter

from varve.domain.calendar import iso, parse_instant
from varve.domain.identity import digest
from varve.domain.names import (
    ALSO_KNOWN_AS,
    COUNTED,
    LITERAL,
    Names,
    meant,
    normalized,
)
from varve.domain.predicates import is_single_valued


class Op(StrEnum):
    """The effect of an operation on the triples of its subject and predicate."""

    ADD = "ADD"
    UPDATE = "UPDATE"
    DELETE = "DELETE"


@dataclass(frozen=True)
class TripleOperation:
    """One statement about a triple, with its source.

    `event_time` is when it began (or ceased) to hold, `created_at` when the system learnt
    it. An UPDATE may name the value it `replaces`; a DELETE does so if it ends a value at
    the instant at which that begins. A DELETE with an empty object ends
    every value of its predicate.
    """

    op: Op
    subject: str
    predicate: str
    object: str
    event_time: datetime
    created_at: datetime
    conversation_id: str
    message_ids: tuple[str, ...]
    user_id: str | None = None
    confidence: float = 1.0
    replaces: str | None = None

    @cached_property
    def id(self) -> str:
        """The id: equal for the same statement of the same messages."""
        said = (
            self.op,
            self.subject,
            self.predicate,
            self.object,
            self.replaces or "",
        )
        place = (
            iso(self.event_time),
            self.conversation_id,
            *sorted(self.message_ids),
        )
        return digest(*said, *place, length=24)

    @property
    def messages(self) -> tuple[tuple[str, str], ...]:
        """The messages that say it, each with its conversation's id."""
        return tuple((self.conversation_id, id_) for id_ in self.message_ids)


_OPERATION = TypeAdapter(TripleOperation)
TripleKey = tuple[str, str, str]
"""The entity, the predicate and the value of a triple."""


@dataclass(frozen=True, slots=True)
class Triple:
    """One value of one predicate over one span of time.

    It held from `valid_at` until `invalid_at`; None means that it still holds. The system
    learnt of the beginning at `created_at` and of the end at `expired_at`. `evidence` are
    the operations that made it; the last one of a closed triple closed it.
    """

    source_id: str
    label: str
    target_id: str
    valid_at: datetime
    created_at: datetime
    evidence: tuple[TripleOperation, ...]
    invalid_at: datetime | None = None
    expired_at: datetime | None = None

    @property
    def id(self) -> str:
        """The id, derived from the first statement: the same operations give the same id."""
        first = self.evidence[0]
        return digest(*self.key, first.id, length=24)

    @property
    def key(self) -> TripleKey:
        """What it says, at any time."""
        return (self.source_id, self.label, self.target_id)

    @property
    def stating(self) -> tuple[TripleOperation, ...]:
        """The statements for it, without the one that closed it."""
        stated = self.evidence[:-1] if self.invalid_at else self.evidence
        return tuple(one for one in stated if one.op is not Op.DELETE)

    @property
    def confidence(self) -> float:
        """The highest confidence of a statement for it, in [0, 1]."""
        return max(one.confidence for one in self.stating or self.evidence)

    def holds(self, at: datetime) -> bool:
        """Return whether it holds at the time: it has begun and has not ended."""
        return self.valid_at <= at and (
            self.invalid_at is None or at < self.invalid_at
        )


def fold(
    operations: Iterable[TripleOperation], names: Names | None = None
) -> list[Triple]:
    """Return the triples, current and past, that the operations make, in stable order.

    If the operations are only a part of the graph's, `names` are the names of the whole
    graph.
    """
    known: dict[str, TripleOperation] = {}
    for operation in operations:
        earlier = known.get(operation.id, operation)
        known[operation.id] = first_learnt(earlier, operation)
    triples = _fold_groups(
        known.values(), names or stated_names(known.values())
    )
    return sorted(
        triples,
        key=lambda t: (t.source_id, t.label, t.valid_at, t.target_id, t.id),
    )


def _fold_groups(
    operations: Iterable[TripleOperation], names: Names
) -> Iterator[Triple]:
    groups = defaultdict[tuple[str, str], list[TripleOperation]](list)
    for operation in operations:
        key = group_key(operation, names)
        groups[key].append(operation)
    for (subject, predicate), group in groups.items():
        yield from _Group(subject, predicate, names).run(group)


def group_key(operation: TripleOperation, names: Names) -> tuple[str, str]:
    """Return the entity and predicate whose values the operation changes.

    The subject of an alias is the name itself, not its entity.
    """
    predicate = normalized(operation.predicate)
    resolve = normalized if predicate == ALSO_KNOWN_AS else names.entity
    return (resolve(operation.subject), predicate)


def stated_names(operations: Iterable[TripleOperation]) -> Names:
    """Return the names that the operations state and that still hold."""
    aliases = []
    for operation in operations:
        if normalized(operation.predicate) == ALSO_KNOWN_AS:
            aliases.append(operation)
    current = []
    for triple in _fold_groups(aliases, Names()):
        if triple.invalid_at is None:
            current.append((triple.source_id, triple.target_id))
    return Names(current)


def first_learnt(
    one: TripleOperation, other: TripleOperation
) -> TripleOperation:
    """Return the earlier learnt of two versions of one statement.

    Of two learnt at the same time it is always the same one.
    """
    if one is other or one == other:
        return one
    return min(
        one,
        other,
        key=lambda o: (o.created_at, json.dumps(operation_as_json(o))),
    )


def evidence_of(triples: Iterable[Triple]) -> dict[str, TripleOperation]:
    """Return every operation behind the triples, by id; `fold` derives them from these."""
    operations = chain.from_iterable(triple.evidence for triple in triples)
    return {operation.id: operation for operation in operations}


def remove_operations(
    operations: Mapping[str, TripleOperation], ids: Iterable[str]
) -> dict[str, TripleOperation]:
    """Return the operations whose ids are not in `ids`."""
    removed = frozenset(ids)
    return {
        id_: operation
        for id_, operation in operations.items()
        if id_ not in removed
    }


class _Group:
    """The values of one subject and predicate while its operations are applied."""

    def __init__(self, subject: str, predicate: str, names: Names) -> None:
        self.subject = subject
        self.predicate = predicate
        self.value_of: Callable[[str], str] = (
            normalized if predicate in LITERAL else names.entity
        )
        self.open: dict[str, list[TripleOperation]] = {}
        self.closed: list[Triple] = []

    def run(self, operations: Iterable[TripleOperation]) -> Sequence[Triple]:
        for operation in sorted(operations, key=_order):
            if operation.op is Op.DELETE:
                self._delete(operation)
            else:
                self._assert(operation)
        still_open = [
            self._triple(value, *stated) for value, stated in self.open.items()
        ]
        return [*self.closed, *still_open]

    def _assert(self, operation: TripleOperation) -> None:
        value = self.value_of(operation.object)
        if self.predicate in COUNTED:
            value = next(iter(self._meant(value)), value)
        for other in self._superseded(operation, value):
            self._close(other, operation)
        self.open.setdefault(value, []).append(operation)

    def _superseded(self, operation: TripleOperation, value: str) -> list[str]:
        """Return the values that a new value ends.

        For a single-valued predicate these are all others, else the one it replaces.
        """
        if is_single_valued(self.predicate):
            return [other for other in self.open if other != value]
        named = self.value_of(operation.replaces or "")
        if named in self.open and named != value:
            return [named]
        return []

    def _delete(self, operation: TripleOperation) -> None:
        value = self.value_of(operation.object)
        ended = list(self.open)
        if operation.object.strip():
            ended = self._meant(value)
        closed = [self._close(other, operation) for other in ended]
        if not any(closed) and not self._add_to_earlier_ending(operation):
            # Kept as a value that held for no time, because the statement that it ends
            # may still arrive.
            never = replace(
                self._triple(value, operation),
                invalid_at=operation.event_time,
                expired_at=operation.created_at,
            )
            self.closed.append(never)

    def _add_to_earlier_ending(self, operation: TripleOperation) -> bool:
        """Add the operation to the evidence of a triple that the same words closed.

        Returns whether there is one.
        """
        for place, known in enumerate(self.closed):
            *before, end = known.evidence
            if before and replace(operation, event_time=end.event_time) == end:
                self.closed[place] = replace(
                    known, evidence=(*before, operation, end)
                )
                return True
        return False

    def _meant(self, value: str) -> list[str]:
        is_list = not is_single_valued(self.predicate)
        return meant(value, self.open, of_several=is_list)

    def _close(self, value: str, operation: TripleOperation) -> bool:
        """Close a value as far as the operation may; return whether it closed any of it."""
        stated = self.open.pop(value)
        user = operation.user_id
        ended = [one for one in stated if may_end(user, one.user_id)]
        left = [one for one in stated if not may_end(user, one.user_id)]
        if left:
            self.open[value] = left
        if not ended:
            return False
        closed = replace(
            self._triple(value, *ended, operation),
            invalid_at=operation.event_time,
            expired_at=operation.created_at,
        )
        self.closed.append(closed)
        return True

    def _triple(self, value: str, *evidence: TripleOperation) -> Triple:
        first = evidence[0]
        return Triple(
            source_id=self.subject,
            label=self.predicate,
            target_id=value,
            valid_at=first.event_time,
            created_at=first.created_at,
            evidence=evidence,
        )


def may_end(user_id: str | None, stated_by: str | None) -> bool:
    """Return whether a user's operation may end a statement; those of no user end all."""
    return None in (user_id, stated_by) or user_id == stated_by


def _order(operation: TripleOperation) -> tuple[datetime, bool, bool, str]:
    """Return the sort key: event time, then endings first and corrections last, then id.

    A deletion with `replaces` ends even a value that begins at its own instant.
    """
    return (
        operation.event_time,
        operation.op is not Op.DELETE or bool(operation.replaces),
        bool(operation.replaces),
        operation.id,
    )


def operation_as_json(operation: TripleOperation) -> dict[str, object]:
    """Return the operation as JSON values; the inverse of `operation_from_json`."""
    return {
        "op": str(operation.op),
        "subject": operation.subject,
        "predicate": operation.predicate,
        "object": operation.object,
        "eventTime": iso(operation.event_time),
        "createdAt": iso(operation.created_at),
        "conversationId": operation.conversation_id,
        "messageIds": list(operation.message_ids),
        "userId": operation.user_id,
        "confidence": operation.confidence,
        "replaces": operation.replaces,
    }


def operation_from_json(value: Mapping[str, Any]) -> TripleOperation:
    """Return the operation of `operation_as_json` values.

    Raises KeyError, ValueError: not such values.
    """
    fields = {
        "op": value["op"],
        "subject": value["subject"],
        "predicate": value["predicate"],
        "object": value["object"],
        "event_time": parse_instant(value["eventTime"]),
        "created_at": parse_instant(value["createdAt"]),
        "conversation_id": value["conversationId"],
        "message_ids": tuple(value["messageIds"]),
        "user_id": value["userId"],
        "confidence": value["confidence"],
        "replaces": value["replaces"],
    }
    return _OPERATION.validate_python(fields)
