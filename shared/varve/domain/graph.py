"""The graph's own questions and answers: facts as callers write them, walks, and what SQL gives."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from varve.domain.errors import Rejected
from varve.domain.identity import reference
from varve.domain.names import normalized
from varve.domain.triple import Op, TripleOperation
from varve.domain.validation import rejected

BY_HAND = "graph"
"""The conversation of facts that nobody said but a program wrote."""
_MB = 1_000_000


@dataclass(frozen=True, slots=True)
class Link:
    """One step of a path; `forward` when it goes from the triple's subject to its object."""

    source: str
    label: str
    target: str
    forward: bool


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An entity, how many hops away, and the edge to `other`, one hop nearer, by which it was reached.

    `forward` when the triple goes from `other` to `entity`.
    """

    entity: str
    hops: int
    label: str
    other: str
    forward: bool


@dataclass(frozen=True, slots=True)
class QueryLimits:
    """What one SQL query may take: seconds of wall clock and of processor, bytes of memory over the loaded
    triples, rows and bytes of its answer.

    The processor and memory limits are the operating system's. macOS does not keep to the memory limit;
    there the clock and DuckDB's own limit remain.
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
        """The rows as objects; a column's name that comes again gets a number."""
        names: list[str] = []
        for column in self.columns:
            name, number = column, 1
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
    """A fact as the graph's API takes it: source_id, label, target_id, and optionally valid_at (default:
    now), replaces (with UPDATE), properties (confidence, conversationId, messageIds, userId).

    Raises Rejected: names the part of `field` that is at fault.
    """
    try:
        fact = _Fact.model_validate(
            dict(value) if isinstance(value, Mapping) else value
        )
    except ValidationError as error:
        raise rejected(error, f"{field}.") from error
    if not normalized(fact.source_id) or not normalized(fact.label):
        raise Rejected(field, "names nobody or nothing")
    if op is not Op.DELETE and not normalized(fact.target_id):
        raise Rejected(f"{field}.target_id", "is missing")
    told = fact.properties
    return TripleOperation(
        op=op,
        subject=fact.source_id,
        predicate=fact.label,
        object=fact.target_id,
        event_time=fact.valid_at or now,
        created_at=now,
        conversation_id=reference(
            told.conversation_id, f"{field}.properties.conversationId"
        ),
        message_ids=tuple(
            reference(id_, f"{field}.properties.messageIds") for id_ in told.message_ids
        ),
        user_id=told.user_id and reference(told.user_id, f"{field}.properties.userId"),
        confidence=told.confidence,
        replaces=fact.replaces if op is Op.UPDATE else None,
    )
