"""What is known about whom: triple operations, and the triples they fold into.

The fold is a function of the set of operations alone. Operations may come late, twice, in any order
and in any batching; the triples are the same, because they are always derived from the operations in
the order of the times they speak of. That goes for aliases too: a name that turns out late to be
another's moves what was said under it, and what one of the names replaced, the other had replaced.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import Any

from pydantic import TypeAdapter

from varve.domain.calendar import iso, parse_instant
from varve.domain.identity import digest
from varve.domain.names import ALSO_KNOWN_AS, LITERAL, Names, meant, normalized

SINGLE_VALUED = frozenset(
    {
        "lives_in", "works_at", "works_as", "name", "birthday", "age", "address", "email",
        "phone", "time_zone", "language", "married_to", "reports_to", "hometown", "studies_at",
    }
)  # fmt: skip
"""Predicates of which one value holds at a time: a newer value closes the one before it."""


class Op(StrEnum):
    """What an operation does to the triples of its subject and predicate."""

    ADD = "ADD"
    UPDATE = "UPDATE"
    DELETE = "DELETE"


@dataclass(frozen=True)
class TripleOperation:
    """One statement about a triple, with where it was said.

    `event_time` is when it began (or ceased) to hold, `created_at` when we learnt it. An UPDATE may
    name the value it `replaces`; a DELETE with an empty object ends every value of its predicate.
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
        """The same statement of the same messages has the same id, whenever it arrives."""
        said = (self.op, self.subject, self.predicate, self.object, self.replaces or "")
        place = (iso(self.event_time), self.conversation_id, *sorted(self.message_ids))
        return digest(*said, *place, length=24)


_OPERATION = TypeAdapter(TripleOperation)


@dataclass(frozen=True, slots=True)
class Triple:
    """One value of one predicate over one span of time; `evidence` are the operations behind it.

    It held from `valid_at` until `invalid_at` (None: it still does); we learnt the one at
    `created_at` and the other at `expired_at`. The last of the evidence closed it where it is closed.
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
        """From the statement that began it, so that the same operations give the same row."""
        return digest(
            self.source_id, self.label, self.target_id, self.evidence[0].id, length=24
        )

    @property
    def confidence(self) -> float:
        """The strongest single statement for it, in [0, 1]; what closed it does not count."""
        told = self.evidence[:-1] if self.invalid_at else self.evidence
        asserted = [
            operation for operation in told if operation.op is not Op.DELETE
        ] or self.evidence
        return max(operation.confidence for operation in asserted)

    def holds(self, at: datetime) -> bool:
        """Whether it holds at the time: it has begun, and not ended yet."""
        return self.valid_at <= at and (self.invalid_at is None or at < self.invalid_at)


def fold(
    operations: Iterable[TripleOperation], names: Names | None = None
) -> list[Triple]:
    """The triples that the operations amount to, current and past, in a stable order.

    `names` are those of all operations where these are only some.
    """
    known: dict[str, TripleOperation] = {}
    for operation in operations:
        known[operation.id] = first_learnt(
            known.get(operation.id, operation), operation
        )
    resolved = names or stated_names(known.values())
    groups: defaultdict[tuple[str, str], list[TripleOperation]] = defaultdict(list)
    for operation in known.values():
        groups[group_of(operation, resolved)].append(operation)
    triples = [
        t for key, group in groups.items() for t in _Group(*key, resolved).run(group)
    ]
    return sorted(
        triples, key=lambda t: (t.source_id, t.label, t.valid_at, t.target_id, t.id)
    )


def group_of(operation: TripleOperation, names: Names) -> tuple[str, str]:
    """The entity and predicate whose values the operation is about; an alias is about the name itself."""
    predicate = normalized(operation.predicate)
    resolve = normalized if predicate == ALSO_KNOWN_AS else names.entity
    return (resolve(operation.subject), predicate)


def stated_names(operations: Iterable[TripleOperation]) -> Names:
    """The names that the operations state, as they stand at the end of their history."""
    groups: defaultdict[tuple[str, str], list[TripleOperation]] = defaultdict(list)
    bare = Names()
    for operation in operations:
        if normalized(operation.predicate) == ALSO_KNOWN_AS:
            groups[group_of(operation, bare)].append(operation)
    aliases = (
        t for key, group in groups.items() for t in _Group(*key, bare).run(group)
    )
    return Names((t.source_id, t.target_id) for t in aliases if t.invalid_at is None)


def first_learnt(one: TripleOperation, other: TripleOperation) -> TripleOperation:
    """Of two accounts of one statement the earlier; of two at one time always the same one."""
    if one == other:
        return one
    return min(
        one, other, key=lambda o: (o.created_at, json.dumps(operation_as_json(o)))
    )


def evidence_of(triples: Iterable[Triple]) -> dict[str, TripleOperation]:
    """Every operation behind the triples, by id: what `fold` needs to derive them again."""
    return {
        operation.id: operation for triple in triples for operation in triple.evidence
    }


def without(
    operations: Mapping[str, TripleOperation], ids: Iterable[str]
) -> dict[str, TripleOperation]:
    """The operations by id but for those of the ids; folded, it is as if those had never been said."""
    doomed = frozenset(ids)
    return {
        id_: operation for id_, operation in operations.items() if id_ not in doomed
    }


class _Group:
    """The values of one subject's one predicate, while its operations are applied in time order."""

    def __init__(self, subject: str, predicate: str, names: Names) -> None:
        self.subject, self.predicate = subject, predicate
        self.value_of: Callable[[str], str] = (
            normalized if predicate in LITERAL else names.entity
        )
        self.open: dict[str, Triple] = {}
        self.closed: list[Triple] = []

    def run(self, operations: Iterable[TripleOperation]) -> Sequence[Triple]:
        for operation in sorted(operations, key=_order):
            if operation.op is Op.DELETE:
                self._delete(operation)
            else:
                self._assert(operation)
        return [*self.closed, *self.open.values()]

    def _assert(self, operation: TripleOperation) -> None:
        value = self.value_of(operation.object)
        for other in self._superseded(operation, value):
            self._close(other, operation)
        known = self.open.get(value)
        if known is None:
            self.open[value] = self._triple(value, operation)
        else:
            self.open[value] = replace(known, evidence=(*known.evidence, operation))

    def _superseded(self, operation: TripleOperation, value: str) -> list[str]:
        """What a new value ends: all others of a single-valued predicate, else what it names."""
        if self.predicate in SINGLE_VALUED:
            return [other for other in self.open if other != value]
        named = self.value_of(operation.replaces or "")
        return [named] if named in self.open and named != value else []

    def _delete(self, operation: TripleOperation) -> None:
        value = self.value_of(operation.object)
        ended = list(self.open) if not operation.object.strip() else self._meant(value)
        for other in ended:
            self._close(other, operation)
        if not ended and not self._again(operation):
            # Kept as a value that held for no time: a statement that arrives late may still need it.
            never = replace(
                self._triple(value, operation),
                invalid_at=operation.event_time,
                expired_at=operation.created_at,
            )
            self.closed.append(never)

    def _again(self, operation: TripleOperation) -> bool:
        """Whether the same words have ended a value before; they are then evidence for that."""
        for place, known in enumerate(self.closed):
            *before, end = known.evidence
            if before and replace(operation, event_time=end.event_time) == end:
                self.closed[place] = replace(known, evidence=(*before, operation, end))
                return True
        return False

    def _meant(self, value: str) -> list[str]:
        if self.predicate in SINGLE_VALUED:
            return meant(value, self.open)
        return [value] if value in self.open else []

    def _close(self, value: str, operation: TripleOperation) -> None:
        ended = self.open.pop(value)
        self.closed.append(
            replace(
                ended,
                invalid_at=operation.event_time,
                expired_at=operation.created_at,
                evidence=(*ended.evidence, operation),
            )
        )

    def _triple(self, value: str, operation: TripleOperation) -> Triple:
        return Triple(
            source_id=self.subject,
            label=self.predicate,
            target_id=value,
            valid_at=operation.event_time,
            created_at=operation.created_at,
            evidence=(operation,),
        )


def _order(operation: TripleOperation) -> tuple[datetime, bool, bool, str]:
    """By the time spoken of; at one instant endings come first and corrections last, ties by id."""
    return (
        operation.event_time,
        operation.op is not Op.DELETE,
        bool(operation.replaces),
        operation.id,
    )


def operation_as_json(operation: TripleOperation) -> dict[str, object]:
    """The operation as plain JSON values, times in ISO 8601; the inverse of `operation_from_json`."""
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
    """An operation from the values of `operation_as_json`. Raises KeyError, ValueError: not such values."""
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


def properties(triple: Triple) -> str:
    """The row's `properties` column: the newest statement's origin, and all evidence."""
    last = triple.evidence[-1]
    return json.dumps(
        {
            "confidence": triple.confidence,
            "conversationId": last.conversation_id,
            "messageIds": list(last.message_ids),
            "userId": last.user_id,
            "updatedAt": iso(last.event_time),
            "evidence": [operation_as_json(operation) for operation in triple.evidence],
        },
        ensure_ascii=False,
        sort_keys=True,
    )
