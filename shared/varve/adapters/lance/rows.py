"""Conversion of records to LanceDB rows and back, and of filters to expressions."""

from collections.abc import Iterator, Sequence
from datetime import UTC
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from lancedb.expr import Expr, col, lit
from lancedb.table import Table

from varve.domain.embedding import dimensions_of
from varve.domain.record import EmbeddedRecord, MemoryType, Record
from varve.domain.search.query import Filter

if TYPE_CHECKING:  # a writer loads nothing that ranks
    from varve.domain.search.lexical import Floats


TABLE = "memories"
_MODEL_KEY = b"varve.embedding_model"
_TEXT = pa.string()
_TEXTS = pa.list_(_TEXT)
_TIME = pa.timestamp("us", tz="UTC")
_TYPES = {
    "id": _TEXT,
    "memory_type": _TEXT,
    "content": _TEXT,
    "period": _TEXT,
    "event_time": _TIME,
    "created_at": _TIME,
    "source_ids": _TEXTS,
    "conversation_id": _TEXT,
    "user_id": _TEXT,
    "about": _TEXT,
    "importance": pa.float64(),
    "confidence": pa.float64(),
    "position": pa.int32(),
    "people": _TEXTS,
    "topics": _TEXTS,
    "open_questions": _TEXTS,
    "source_fingerprints": _TEXTS,
    "key_facts": _TEXT,
    "fingerprint": _TEXT,
}
_OPTIONAL = ("conversation_id", "user_id", "about")
_LISTS = [name for name, type_ in _TYPES.items() if type_ == _TEXTS]
RECORD_COLUMNS = [name for name in _TYPES if name != "fingerprint"]
RECORD_SCHEMA = [
    pa.field(name, type_, nullable=name in _OPTIONAL)
    for name, type_ in _TYPES.items()
]
"""All record columns and the fingerprint, for any Parquet file."""
# Without a primary key two concurrent upserts of one new id can both succeed.
_PRIMARY_KEY = {
    "lance-schema:unenforced-primary-key": "true",
    "lance-schema:unenforced-primary-key:position": "1",
}

TIME_ORDER = [
    ("event_time", "ascending"),
    ("position", "ascending"),
    ("id", "ascending"),
]
NEWEST_FIRST = [
    ("event_time", "descending"),
    ("position", "descending"),
    ("id", "ascending"),
]
"""The order of a browse."""
ADDRESS = "_rowid"
"""LanceDB's column of the place where a row lies."""
Addresses = npt.NDArray[np.uint64]

SCAN_BATCH_ROWS = 65_536

GIVES_WAY = (
    "target.fingerprint != source.fingerprint AND target.position <= source.position"
    " AND (target.memory_type != 'summary' OR target.created_at <= source.created_at)"
)
"""`Record.gives_way_to` as SQL."""


def schema_for(model: str) -> pa.Schema:
    """Return the table's schema, with the embedding model in its metadata.

    Raises Misconfigured: the model's name has no dimensions.
    """
    vector_type = pa.list_(pa.float16(), dimensions_of(model))
    vector = pa.field("vector", vector_type, nullable=False)
    id_, *others = RECORD_SCHEMA
    fields = [id_.with_metadata(_PRIMARY_KEY), *others, vector]
    return pa.schema(fields, metadata={_MODEL_KEY: model.encode()})


def to_arrow(records: Sequence[EmbeddedRecord], schema: pa.Schema) -> pa.Table:
    """Return the records as rows of the schema, with vectors as float16."""
    columns: dict[str, list[Any]] = {}
    for name in RECORD_COLUMNS:
        columns[name] = [getattr(one.record, name) for one in records]
    columns["fingerprint"] = [one.fingerprint for one in records]
    columns["vector"] = [
        np.asarray(one.vector, dtype=np.float16) for one in records
    ]
    arrays = [pa.array(columns[field.name], field.type) for field in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


def as_row(record: Record) -> dict[str, Any]:
    """Return the record's columns, without the vector."""
    row = {name: getattr(record, name) for name in RECORD_COLUMNS}
    for name in _LISTS:
        row[name] = list(row[name])
    row["fingerprint"] = record.fingerprint
    return row


def to_record(row: dict[str, Any]) -> Record:
    """Return the record of a row that has `RECORD_COLUMNS`."""
    values = {name: row[name] for name in RECORD_COLUMNS}
    values["memory_type"] = MemoryType(row["memory_type"])
    for name in _LISTS:
        values[name] = tuple(row[name])
    return Record(**values)


def model_of(table: Table | pa.Table) -> str:
    """Return the embedding model of a table, or of rows read from one."""
    metadata = table.schema.metadata or {}
    return str(metadata.get(_MODEL_KEY, b"unknown:0"), "utf-8")


def unit_vectors(column: pa.ChunkedArray) -> "Floats":
    """Return the stored float16 vectors as float32, scaled to unit length."""
    dimensions = column.type.list_size
    stored = column.combine_chunks().flatten().to_numpy(zero_copy_only=False)
    unit: Floats = stored.astype(np.float32).reshape(-1, dimensions)
    lengths = np.sqrt(np.einsum("nd,nd->n", unit, unit))
    unit /= np.maximum(lengths, np.float32(1e-9))[:, None]
    return unit


def read_all(query: Any) -> pa.Table:
    """Read all rows of a query.

    LanceDB's default batches of about a thousand rows take six times as long.
    """
    return query.limit(None).to_batches(SCAN_BATCH_ROWS).read_all()


def read_by_ids(table: Table, ids: Sequence[str]) -> list[Record]:
    """Return the records that exist, in the order of the ids."""
    if not ids:
        return []
    wanted = col("id").isin(list(ids))
    query = table.search().where(wanted)
    rows = query.select(RECORD_COLUMNS).limit(None).to_arrow()
    found = {row["id"]: to_record(row) for row in rows.to_pylist()}
    return [found[id_] for id_ in ids if id_ in found]


def read_metadata(table: Table) -> dict[str, str]:
    """Return the metadata of the facts and turns that have some, as JSON, by id."""
    said = col("memory_type").isin(
        [MemoryType.FACT.value, MemoryType.TURN.value]
    )
    query = table.search().where(said & (col("key_facts") != lit("")))
    rows = read_all(query.select(["id", "key_facts"]))
    details = rows.column("key_facts").to_pylist()
    return dict(zip(rows.column("id").to_pylist(), details, strict=True))


def read_links(table: Table) -> dict[str, tuple[str, ...]]:
    """Return the links of the turns that have some, by id."""
    is_turn = col("memory_type") == lit(MemoryType.TURN.value)
    query = table.search().where(is_turn)
    rows = read_all(query.select(["id", "source_fingerprints"]))
    lengths = pc.list_value_length(rows.column("source_fingerprints"))
    linked = rows.filter(pc.greater(lengths, 0))
    links = linked.column("source_fingerprints").to_pylist()
    ids = linked.column("id").to_pylist()
    return dict(zip(ids, map(tuple, links), strict=True))


def to_expression(where: Filter) -> Expr | None:
    """Return the filter as an expression; no value is pasted into SQL text."""
    terms: list[Expr] = []
    event_time = col("event_time")
    if where.since is not None:
        terms.append(event_time >= lit(where.since.astimezone(UTC)))
    if where.until is not None:
        terms.append(event_time < lit(where.until.astimezone(UTC)))
    terms += _limit_owners(where)
    if where.memory_types:
        terms.append(col("memory_type").isin(list(where.memory_types)))
    if where.ids is not None:
        # No record has an empty id; SQL knows no empty list.
        terms.append(col("id").isin(sorted(where.ids) or [""]))
    if where.unfinished:
        running = col("period").isin(list(where.unfinished))
        no_summary = col("memory_type") != lit(MemoryType.SUMMARY.value)
        terms.append(~running | no_summary)
    return reduce(and_, terms) if terms else None


def _limit_owners(where: Filter) -> Iterator[Expr]:
    """Yield the terms that limit users and conversation."""
    if where.user_id is not None:
        yield col("user_id") == lit(where.user_id)
    if where.users is not None:
        yield col("user_id").isin(sorted(where.users))
    if where.conversation_id is not None:
        yield col("conversation_id") == lit(where.conversation_id)


def apply_filter(query: Any, where: Filter) -> Any:
    """Apply the filter before ranking and limit (LanceDB's prefilter, its default)."""
    expression = to_expression(where)
    return query if expression is None else query.where(expression)
