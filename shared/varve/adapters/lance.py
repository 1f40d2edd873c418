"""Records in LanceDB: one database per agent and grain, one table in it, on a directory or on S3."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import reduce
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from varve.adapters.lean_import import without_rest_client
from varve.domain.calendar import Grain
from varve.domain.embedding import dimensions_of, require_same_model
from varve.domain.errors import Retryable
from varve.domain.identity import Scope
from varve.domain.query import Filter
from varve.domain.ranking import Candidate
from varve.domain.record import EmbeddedRecord, MemoryType, Record, Vector
from varve.ports import Objects

with without_rest_client():
    import lancedb
    from lancedb.expr import Expr, col, lit
    from lancedb.index import FTS
    from lancedb.query import MatchQuery
    from lancedb.table import Table

TABLE = "memories"
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
    pa.field("fingerprint", pa.string(), nullable=False),
]
_RECORD_COLUMNS = [field.name for field in _COLUMNS if field.name != "fingerprint"]
_KEYWORDS = FTS(base_tokenizer="simple", stem=True, remove_stop_words=True, ascii_folding=True)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Upkeep:
    """When a table is compacted and which of its old versions are kept for readers in flight.

    Compaction follows a write that leaves `max_fragments` fragments. Of the older versions those
    younger than `keep_for` stay, but never more than `max_versions`: a burst of writes stays bounded,
    and a reader that outlives its version starts again from the newest.
    """

    max_fragments: int = 32
    keep_for: timedelta = timedelta(seconds=90)
    max_versions: int = 128


class LanceRecords:
    """MemoryReader and MemoryWriter over `vectordb/{workspace}/{agent}/{grain}/`."""

    def __init__(
        self,
        root: str,
        objects: Objects,
        storage_options: dict[str, str] | None = None,
        upkeep: Upkeep = Upkeep(),
    ) -> None:
        self._root = root
        self._objects = objects
        self._options = storage_options
        self._upkeep = upkeep
        self._session = lancedb.Session()
        self._tables: dict[tuple[Scope, Grain], Table] = {}

    def upsert(self, scope: Scope, grain: Grain, records: Sequence[EmbeddedRecord], model: str) -> int:
        newest = {embedded.record.id: embedded for embedded in records}
        with _translated(scope, grain):
            table = self._open(scope, grain) or self._create(scope, grain, model)
            require_same_model(f"{scope}/{grain}", _model_of(table), model)
            merge = (
                table.merge_insert("id")
                .when_matched_update_all(where="target.fingerprint != source.fingerprint")
                .when_not_matched_insert_all()
            )
            merged = merge.execute(_to_arrow(list(newest.values()), table.schema))
            self._keep_up(table, _path(scope, grain))
        return int(merged.num_inserted_rows + merged.num_updated_rows)

    def search(
        self, scope: Scope, grain: Grain, *, text: str, vector: Vector, where: Filter, limit: int
    ) -> list[Candidate]:
        def run(table: Table) -> list[Candidate]:
            columns = [*_RECORD_COLUMNS, "vector"]
            by_vector = table.search(vector, vector_column_name="vector").distance_type("cosine")
            by_keyword = table.search(MatchQuery(text, "content"), query_type="fts")
            near = _filtered(by_vector, where).select([*columns, "_distance"]).limit(limit).to_arrow()
            worded = _filtered(by_keyword, where).select([*columns, "_score"]).limit(limit).to_arrow()
            return _united(near, worded, vector)

        return self._read(scope, grain, run, [])

    def browse(self, scope: Scope, grain: Grain, *, where: Filter, limit: int) -> list[Record]:
        def run(table: Table) -> list[Record]:
            keys = ["id", "event_time", "position"]
            rows = _filtered(table.search(), where).select(keys).limit(None).to_arrow()
            order = [("event_time", "descending"), ("position", "descending"), ("id", "ascending")]
            return _by_ids(table, rows.sort_by(order).column("id")[:limit].to_pylist())

        return self._read(scope, grain, run, [])

    def get(self, scope: Scope, grain: Grain, ids: Sequence[str]) -> list[Record]:
        return self._read(scope, grain, lambda table: _by_ids(table, ids), [])

    def count(self, scope: Scope, grain: Grain, *, where: Filter) -> int:
        condition = _condition(where)
        sql = condition.to_sql() if condition is not None else None
        return self._read(scope, grain, lambda table: table.count_rows(sql), 0)

    def span(self, scope: Scope, grain: Grain) -> tuple[datetime, datetime] | None:
        def run(table: Table) -> tuple[datetime, datetime] | None:
            times = table.search().select(["event_time"]).limit(None).to_arrow().column("event_time")
            ends = pc.min_max(times).as_py()
            return (ends["min"], ends["max"]) if len(times) else None

        return self._read(scope, grain, run, None)

    def _read(self, scope: Scope, grain: Grain, run: Callable[[Table], T], nothing: T) -> T:
        """Run on the newest version; where it vanished meanwhile, once more on the then newest."""
        with _translated(scope, grain):
            table = self._open(scope, grain)
            if table is None:
                return nothing
            try:
                return run(table)
            except (RuntimeError, OSError, ValueError):
                table.checkout_latest()
                return run(table)

    def _open(self, scope: Scope, grain: Grain) -> Table | None:
        """The table at its newest version, or None where nothing has been written yet."""
        table = self._tables.get((scope, grain))
        if table is not None:
            table.checkout_latest()
            return table
        if not any(self._objects.list(f"{_path(scope, grain)}/{TABLE}.lance/_versions")):
            return None
        opened = self._connect(scope, grain).open_table(TABLE)
        return self._tables.setdefault((scope, grain), opened)

    def _create(self, scope: Scope, grain: Grain, model: str) -> Table:
        """An empty table: created with data, one of two racing creators would lose acknowledged rows."""
        vector = pa.field("vector", pa.list_(pa.float16(), dimensions_of(model)), nullable=False)
        schema = pa.schema([*_COLUMNS, vector], metadata={_MODEL_KEY: model.encode()})
        table = self._connect(scope, grain).create_table(TABLE, schema=schema, exist_ok=True)
        if not table.list_indices():
            table.create_index("content", config=_KEYWORDS)
        return self._tables.setdefault((scope, grain), table)

    def _connect(self, scope: Scope, grain: Grain) -> Any:
        uri = f"{self._root}/{_path(scope, grain)}"
        return lancedb.connect(uri, storage_options=self._options, session=self._session)

    def _keep_up(self, table: Table, path: str) -> None:
        if table.stats()["fragment_stats"]["num_fragments"] < self._upkeep.max_fragments:
            return
        table.optimize(cleanup_older_than=self._prunable_age(path))

    def _prunable_age(self, path: str) -> timedelta:
        """The age from which versions go: `keep_for`, or less where there are more than may stay."""
        manifests = self._objects.list(f"{path}/{TABLE}.lance/_versions")
        times = sorted((m.last_modified for m in manifests if m.key.endswith(".manifest")), reverse=True)
        if len(times) <= self._upkeep.max_versions:
            return self._upkeep.keep_for
        crowded = times[0] - times[self._upkeep.max_versions // 2]
        return min(self._upkeep.keep_for, max(crowded, timedelta(milliseconds=1)))


def _path(scope: Scope, grain: Grain) -> str:
    return f"vectordb/{scope.workspace}/{scope.agent}/{grain}"


def _condition(where: Filter) -> Expr | None:
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
    return reduce(lambda a, b: a & b, terms) if terms else None


def _filtered(query: Any, where: Filter) -> Any:
    """The query with the filter before ranking and limit (LanceDB's prefilter, its default)."""
    condition = _condition(where)
    return query if condition is None else query.where(condition)


def _by_ids(table: Table, ids: Sequence[str]) -> list[Record]:
    if not ids:
        return []
    wanted = table.search().where(col("id").isin(list(ids))).select(_RECORD_COLUMNS).limit(None)
    found = {row["id"]: _to_record(row) for row in wanted.to_arrow().to_pylist()}
    return [found[id_] for id_ in ids if id_ in found]


def _united(near: pa.Table, worded: pa.Table, vector: Vector) -> list[Candidate]:
    """Both lanes' rows once each, with the exact cosine for all of them."""
    keyword = dict(zip(worded["id"].to_pylist(), worded["_score"].to_pylist(), strict=True))
    rows = {row["id"]: row for row in [*near.to_pylist(), *worded.to_pylist()]}
    return [
        Candidate(_to_record(row), _cosine(row["vector"], vector), keyword.get(id_, 0.0))
        for id_, row in rows.items()
    ]


def _cosine(stored: Sequence[float], vector: Vector) -> float:
    a = np.asarray(stored, dtype=np.float32)
    return float(np.dot(a, vector) / (np.linalg.norm(a) * np.linalg.norm(vector)))


def _to_arrow(records: Sequence[EmbeddedRecord], schema: pa.Schema) -> pa.Table:
    rows = [
        {
            **{name: getattr(e.record, name) for name in _RECORD_COLUMNS},
            "source_ids": list(e.record.source_ids),
            "fingerprint": e.record.fingerprint,
            "vector": np.asarray(e.vector, dtype=np.float16),
        }
        for e in records
    ]
    return pa.Table.from_pylist(rows, schema=schema)


def _to_record(row: dict[str, Any]) -> Record:
    values = {name: row[name] for name in _RECORD_COLUMNS}
    values["memory_type"] = MemoryType(row["memory_type"])
    values["source_ids"] = tuple(row["source_ids"])
    return Record(**values)


def _model_of(table: Table) -> str:
    metadata = table.schema.metadata or {}
    return str(metadata.get(_MODEL_KEY, b"unknown:0"), "utf-8")


@contextmanager
def _translated(scope: Scope, grain: Grain) -> Iterator[None]:
    """LanceDB's errors in our words: whatever it could not read or commit may succeed later."""
    try:
        yield
    except (RuntimeError, OSError) as error:
        raise Retryable(f"store {scope}/{grain}: {type(error).__name__} in LanceDB") from error
