"""The graph's requests and answers: facts from callers, walks, and results of SQL."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import (
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
)

from varve.domain.calendar import iso
from varve.domain.errors import Rejected
from varve.domain.identity import reference
from varve.domain.names import normalized
from varve.domain.predicates import name_predicate
from varve.domain.triple import (
    Op,
    Triple,
    TripleOperation,
    operation_as_json,
)
from varve.domain.validation import rejected

BY_HAND = "graph"
"""The conversation id of facts that a program wrote and no user said."""
_MB = 1_000_000


@dataclass(frozen=True, slots=True)
class PathStep:
    """One step of a path; `forward` if it leads from the triple's subject to its object."""

    source: str
    label: str
    target: str
    forward: bool


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An entity at a distance of `hops`, and the edge by which it was reached.

    `other` is the entity one hop nearer. `forward` if the triple leads from `other` to
    `entity`.
    """

    entity: str
    hops: int
    label: str
    other: str
    forward: bool


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """Triples to draw, as JSON values, and how many more there are."""

    edges: list[dict[str, Any]]
    left_out: int


@dataclass(frozen=True, slots=True)
class Mentions:
    """How many triples name an entity, how many of them hold, and the newest beginning.

    `name` is the entity as the newest of them spells it.
    """

    entity: str
    name: str
    triples: int
    holding: int
    newest: datetime


@dataclass(frozen=True, slots=True)
class QueryLimits:
    """The limits of one SQL query.

    `seconds` limits both wall clock and processor time. `memory` is in bytes, in addition
    to the loaded triples. `rows` and `bytes` limit the answer. The operating system
    enforces the processor and memory limits. macOS does not enforce the memory limit;
    there the wall clock and DuckDB's own limit remain.
    """

    seconds: int = 10
    memory: int = 512 * _MB
    rows: int = 10_000
    bytes: int = 5 * _MB


@dataclass(frozen=True, slots=True)
class QueryResult:
    """A query's columns and its rows as JSON values."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return the rows as objects; a repeated column name gets a number."""
        names: list[str] = []
        for column in self.columns:
            name = column
            number = 1
            while name in names:
                number += 1
                name = f"{column}_{number}"
            names.append(name)
        return [dict(zip(names, row, strict=True)) for row in self.rows]


class _Properties(BaseModel):
    model_config = ConfigDict(extra="forbid")

    confidence: float = Field(1.0, ge=0, le=1)
    conversation_id: str = Field(BY_HAND, alias="conversationId")
    message_ids: list[str] = Field([], alias="messageIds", max_length=100)
    user_id: str | None = Field(None, alias="userId")


class _Fact(BaseModel):
    model_config = ConfigDict(extra="forbid")

    source_id: str = Field(min_length=1, max_length=1_000)
    label: str = Field(min_length=1, max_length=200)
    target_id: str = Field("", max_length=10_000)
    valid_at: AwareDatetime | None = None
    replaces: str | None = Field(None, max_length=10_000)
    properties: _Properties = Field(
        default_factory=lambda: _Properties.model_validate({})
    )


def parse_fact(
    op: Op, value: Mapping[str, Any], now: datetime, field: str
) -> TripleOperation:
    """Return the operation for a fact as the graph's API takes it.

    A fact has `source_id`, `label` (read as snake case) and `target_id` (optional with
    DELETE). Optional are `valid_at` (default: now), `replaces` (only UPDATE uses it) and
    `properties` (confidence, conversationId, messageIds, userId).
    Raises Rejected: names the faulty part of `field`.
    """
    fact = _validate_fact(op, value, field)
    origin = fact.properties
    place = f"{field}.properties"
    if origin.user_id:
        reference(origin.user_id, f"{place}.userId")
    conversation_id = reference(
        origin.conversation_id, f"{place}.conversationId"
    )
    message_ids = [
        reference(id_, f"{place}.messageIds") for id_ in origin.message_ids
    ]
    replaces = fact.replaces if op is Op.UPDATE else None
    return TripleOperation(
        op=op,
        subject=fact.source_id,
        predicate=name_predicate(fact.label),
        object=fact.target_id,
        event_time=fact.valid_at or now,
        created_at=now,
        conversation_id=conversation_id,
        message_ids=tuple(message_ids),
        user_id=origin.user_id,
        confidence=origin.confidence,
        replaces=replaces,
    )


def _validate_fact(op: Op, value: object, field: str) -> _Fact:
    try:
        fact = _Fact.model_validate(
            dict(value) if isinstance(value, Mapping) else value
        )
    except ValidationError as error:
        raise rejected(error, f"{field}.") from error
    if not normalized(fact.source_id) or not name_predicate(fact.label):
        raise Rejected(field, "has an empty source_id or label")
    if op is not Op.DELETE and not normalized(fact.target_id):
        raise Rejected(f"{field}.target_id", "is missing")
    return fact


def encode_properties(triple: Triple) -> str:
    """Return the JSON of the `properties` column: the last statement's source, evidence."""
    last = triple.evidence[-1]
    return json.dumps(
        {
            "confidence": triple.confidence,
            "conversationId": last.conversation_id,
            "messageIds": list(last.message_ids),
            "userId": last.user_id,
            "updatedAt": iso(last.event_time),
            "evidence": [
                operation_as_json(operation) for operation in triple.evidence
            ],
        },
        ensure_ascii=False,
        sort_keys=True,
    )
