"""Records as LanceDB rows: the table's schema, both directions, and filters as expressions."""

from collections.abc import Sequence
from datetime import UTC
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa

from varve.adapters.records.lean_import import without_rest_client
from varve.domain.embedding import dimensions_of
from varve.domain.record import EmbeddedRecord, MemoryType, Record
from varve.domain.search.query import Filter

with without_rest_client():
    from lancedb.expr import Expr, col, lit
    from lancedb.table import Table

_MODEL_KEY = b"varve.embedding_model"
_TIME = pa.timestamp("us", tz="UTC")
_PRIMARY_KEY = {
    "lance-schema:unenforced-primary-key": "true",
    "lance-schema:unenforced-primary-key:position": "1",
}
_COLUMNS = [
    # Declared as primary key: without it two concurrent upserts of one new id can both land.
    pa.field("id", pa.string(), nullable=False, metadata=_PRIMARY_KEY),
    pa.field("memory_type", pa.string(), nullable=False),
    pa.field("content", pa.string(), nullable=False),
    pa.field("period", pa.string(), nullable=False),
    pa.field("event_time", _TIME, nullable=False),
    pa.field("created_at", _TIME, nullable=False),
    pa.field("source_ids", pa.list_(pa.string()), nullable=False),
    pa.field("conversation_id", pa.string()),
    pa.field("user_id", pa.string()),
    pa.field("about", pa.string()),
    pa.field("importance", pa.float64(), nullable=False),
    pa.field("confidence", pa.float64(), nullable=False),
    pa.field("position", pa.int32(), nullable=False),
    pa.field("people", pa.list_(pa.string()), nullable=False),
    pa.field("topics", pa.list_(pa.string()), nullable=False),
    pa.field("open_questions", pa.list_(pa.string()), nullable=False),
    pa.field("source_fingerprints", pa.list_(pa.string()), nullable=False),
    pa.field("key_facts", pa.string(), nullable=False),
    pa.field("fingerprint", pa.string(), nullable=False),
]
RECORD_COLUMNS = [field.name for field in _COLUMNS if field.name != "fingerprint"]
RECORD_SCHEMA = [field.remove_metadata() for field in _COLUMNS]
"""The same, and the fingerprint, as the columns of any Parquet file."""
_LISTS = [field.name for field in _COLUMNS if pa.types.is_list(field.type)]

SCANNED = 65_536
"""Rows that a scan reads at once."""

GIVES_WAY = (
    "target.fingerprint != source.fingerprint AND target.position <= source.position"
    " AND (target.memory_type != 'summary' OR target.created_at <= source.created_at)"
)
"""`Record.gives_way_to`, in SQL."""


def schema_for(model: str) -> pa.Schema:
    """The table's schema, with the embedding model in its metadata. Raises Misconfigured."""
    vector = pa.field(
        "vector", pa.list_(pa.float16(), dimensions_of(model)), nullable=False
    )
    return pa.schema([*_COLUMNS, vector], metadata={_MODEL_KEY: model.encode()})


def to_arrow(records: Sequence[EmbeddedRecord], schema: pa.Schema) -> pa.Table:
    """The records as rows of the schema; vectors as float16."""
    rows = [
        {**as_row(e.record), "vector": np.asarray(e.vector, dtype=np.float16)}
        for e in records
    ]
    return pa.Table.from_pylist(rows, schema=schema)


def as_row(record: Record) -> dict[str, Any]:
    """The record's columns, but for the vector."""
    return {
        **{name: getattr(record, name) for name in RECORD_COLUMNS},
        **{name: list(getattr(record, name)) for name in _LISTS},
        "fingerprint": record.fingerprint,
    }


def to_record(row: dict[str, Any]) -> Record:
    """The record of a row that has `RECORD_COLUMNS`."""
    values = {name: row[name] for name in RECORD_COLUMNS}
    values["memory_type"] = MemoryType(row["memory_type"])
    values |= {name: tuple(row[name]) for name in _LISTS}
    return Record(**values)


def model_of(table: Table | pa.Table) -> str:
    """The embedding model a table, or rows of one, were made for."""
    metadata = table.schema.metadata or {}
    return str(metadata.get(_MODEL_KEY, b"unknown:0"), "utf-8")


def unit_vectors(column: pa.ChunkedArray) -> np.ndarray[Any, np.dtype[np.float32]]:
    """The stored vectors, float16, as float32 at unit length."""
    dimensions = column.type.list_size
    flat = (
        column.combine_chunks()
        .flatten()
        .to_numpy(zero_copy_only=False)
        .astype(np.float32)
    )
    unit: np.ndarray[Any, np.dtype[np.float32]] = flat.reshape(-1, dimensions)
    lengths = np.sqrt(np.einsum("nd,nd->n", unit, unit))
    unit /= np.maximum(lengths, np.float32(1e-9))[:, None]
    return unit


def scanned(query: Any) -> pa.Table:
    """All rows of a query. By the thousand, as LanceDB reads them unasked, it takes six times as long."""
    return query.limit(None).to_batches(SCANNED).read_all()


def condition(where: Filter) -> Expr | None:
    """The filter as an expression over values; nothing of it is ever pasted into a string of SQL."""
    terms = []
    if where.since is not None:
        terms.append(col("event_time") >= lit(where.since.astimezone(UTC)))
    if where.until is not None:
        terms.append(col("event_time") < lit(where.until.astimezone(UTC)))
    if where.user_id is not None:
        terms.append(col("user_id") == lit(where.user_id))
    if where.conversation_id is not None:
        terms.append(col("conversation_id") == lit(where.conversation_id))
    if where.memory_types:
        terms.append(col("memory_type").isin(list(where.memory_types)))
    if where.unfinished:
        running = col("period").isin(list(where.unfinished))
        terms.append(~running | (col("memory_type") != lit(MemoryType.SUMMARY.value)))
    return reduce(lambda a, b: a & b, terms) if terms else None


def filtered(query: Any, where: Filter) -> Any:
    """The query with the filter before ranking and limit (LanceDB's prefilter, its default)."""
    terms = condition(where)
    return query if terms is None else query.where(terms)
