"""What each of a store's two ways to search finds: the port gives both together, with what stands around."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.support.internals import read_table
from varve.adapters.in_memory import InMemoryRecords
from varve.adapters.lance.candidates import rows_at, search_lanes
from varve.adapters.lance.rows import ADDRESS
from varve.domain.calendar import Grain
from varve.domain.identity import Scope
from varve.domain.record import Vector
from varve.domain.search.query import Filter

Scores = dict[str, float]


@dataclass(frozen=True, slots=True)
class Hit:
    """A record that a lane found, with its cosine and its keyword score; 0 where the other lane alone did."""

    id: str
    vector: float
    keyword: float


def hits(
    records: Any,
    scope: Scope,
    *,
    text: str,
    vector: Vector,
    where: Filter | None = None,
    limit: int = 50,
) -> list[Hit]:
    """What the lanes of working memory find, the nearest first, then what keywords alone find."""
    asked = (text, vector, where or Filter(), limit)
    if isinstance(records, InMemoryRecords):
        near, worded = records.lanes(scope, Grain.WORKING, *asked)
    else:
        near, worded = read_table(
            records,
            scope,
            Grain.WORKING,
            lambda table: _stored(table, *asked),
            ({}, {}),
        )
    return [
        Hit(id_, near.get(id_, 0.0), worded.get(id_, 0.0))
        for id_ in near | worded
    ]


def _stored(table: Any, *asked: Any) -> tuple[Scores, Scores]:
    near, worded = search_lanes(table, *asked)
    distances = _by_id(table, near, "_distance")
    return {id_: 1 - distance for id_, distance in distances.items()}, _by_id(
        table, worded, "_score"
    )


def _by_id(table: Any, lane: Any, column: str) -> Scores:
    ids = rows_at(table, lane[ADDRESS].to_numpy(), ["id"])["id"].to_pylist()
    return dict(zip(ids, lane[column].to_pylist(), strict=True))
