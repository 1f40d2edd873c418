"""An agent's triples in one Parquet object, replaced under the condition that nobody else did."""

import io
import json
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from varve.domain import triple
from varve.domain.errors import Retryable
from varve.domain.identity import Scope
from varve.domain.triple import Triple, TripleOperation
from varve.ports import Objects

_TIME = pa.timestamp("us", tz="UTC")
SCHEMA = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("source_id", pa.string(), nullable=False),
        pa.field("target_id", pa.string(), nullable=False),
        pa.field("label", pa.string(), nullable=False),
        pa.field("properties", pa.string(), nullable=False),
        pa.field("valid_at", _TIME, nullable=False),
        pa.field("invalid_at", _TIME),
        pa.field("created_at", _TIME, nullable=False),
        pa.field("expired_at", _TIME),
    ]
)
MAX_RACES = 20


class ParquetGraph:
    """GraphReader and GraphWriter over `graphs/{workspace}/{agent}/facts.parquet`."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    def triples(self, scope: Scope) -> list[Triple]:
        return triple.fold(self._load(scope)[0].values())

    def apply(self, scope: Scope, operations: Sequence[TripleOperation]) -> int:
        for _ in range(MAX_RACES):
            known, etag = self._load(scope)
            merged = dict(known)
            for operation in operations:
                merged[operation.id] = triple.first_learnt(merged.get(operation.id, operation), operation)
            if merged == known:
                return 0
            table = to_table(triple.fold(merged.values()))
            if self._objects.put_if(_key(scope), _encode(table), etag):
                return len(merged) - len(known)
        raise Retryable(f"graph {scope}: lost {MAX_RACES} races for facts.parquet")

    def _load(self, scope: Scope) -> tuple[dict[str, TripleOperation], str | None]:
        """The operations behind the stored rows, and the version they were read from."""
        stored = self._objects.get(_key(scope))
        if stored is None:
            return {}, None
        rows = pq.read_table(io.BytesIO(stored.data), columns=["properties"])
        evidence = (
            triple.operation_from_json(operation)
            for properties in rows.column("properties").to_pylist()
            for operation in json.loads(properties)["evidence"]
        )
        return {operation.id: operation for operation in evidence}, stored.etag


def to_table(triples: Sequence[Triple]) -> pa.Table:
    """The triples as rows of `SCHEMA`, in the order given."""
    rows = [
        {
            "id": t.id,
            "source_id": t.source_id,
            "target_id": t.target_id,
            "label": t.label,
            "properties": triple.properties(t),
            "valid_at": t.valid_at,
            "invalid_at": t.invalid_at,
            "created_at": t.created_at,
            "expired_at": t.expired_at,
        }
        for t in triples
    ]
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def _encode(table: pa.Table) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd")
    return buffer.getvalue()


def _key(scope: Scope) -> str:
    return f"graphs/{scope.workspace}/{scope.agent}/facts.parquet"
