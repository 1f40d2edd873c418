"""Whole stores as columns: LanceDB's rows read once per version and kept while there is room."""

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from varve.adapters.lance_rows import RECORD_COLUMNS, filtered, model_of, to_record
from varve.adapters.lean_import import without_rest_client
from varve.domain.calendar import Grain
from varve.domain.columns import MAX_ROWS, TYPES, Codes, Columns, columns_of, grown
from varve.domain.embedding import require_same_model
from varve.domain.identity import Scope
from varve.domain.query import Filter
from varve.domain.record import Record

with without_rest_client():
    from lancedb.expr import col
    from lancedb.table import Table

MAX_BYTES = 256 * 1024 * 1024
"""What all columns kept by one process may take together."""

T = TypeVar("T")


class ColumnCache:
    """The columns of the stores used last, each at one version, while all of them fit."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._kept: OrderedDict[tuple[Scope, Grain], tuple[object, Columns]] = OrderedDict()
        self._lock = Lock()

    def get(self, scope: Scope, grain: Grain, version: object) -> Columns | None:
        """The store's columns at exactly this version."""
        with self._lock:
            kept = self._kept.get((scope, grain))
            if kept is None or kept[0] != version:
                return None
            self._kept.move_to_end((scope, grain))
            return kept[1]

    def newest(self, scope: Scope, grain: Grain) -> Columns | None:
        """The store's columns at whatever version they are."""
        with self._lock:
            kept = self._kept.get((scope, grain))
            return None if kept is None else kept[1]

    def put(self, scope: Scope, grain: Grain, version: object, columns: Columns) -> None:
        """Keep them in place of any other version; those used longest ago go."""
        with self._lock:
            self._kept[scope, grain] = (version, columns)
            self._kept.move_to_end((scope, grain))
            while len(self._kept) > 1 and sum(c.bytes for _, c in self._kept.values()) > self._max_bytes:
                self._kept.popitem(last=False)


class ReadsColumns(ABC):
    """The part of LanceRecords that reads whole stores, and conversations around some records."""

    _columns: ColumnCache

    def columns(self, scope: Scope, grain: Grain, *, model: str) -> Columns | None:
        def run(table: Table) -> Columns | None:
            # Another life of the store is another table. The model is that of the rows: asked for once.
            version = (table, table.version, model)
            known = self._columns.get(scope, grain, version)
            if known is None:
                require_same_model(f"{scope}/{grain}", model_of(table), model)
                if table.count_rows() <= MAX_ROWS:
                    before = self._columns.newest(scope, grain)
                    rows = table.search().select([*RECORD_COLUMNS, "vector"]).limit(None).to_arrow()
                    # Another thread may have taken the table to a version of another model since.
                    require_same_model(f"{scope}/{grain}", model_of(table), model)
                    known = to_columns(rows, before)
                    self._columns.put(scope, grain, version, known)
            return known

        nothing: Columns | None = columns_of([])
        return self._read(scope, grain, run, nothing)

    def around(
        self, scope: Scope, grain: Grain, records: Sequence[Record], *, reach: int, where: Filter
    ) -> Columns:
        def run(table: Table) -> Columns:
            ids = [record.id for record in records]
            spoken = sorted({r.conversation_id for r in records if r.conversation_id is not None})
            wanted = (
                col("id").isin(ids) | col("conversation_id").isin(spoken) if spoken else col("id").isin(ids)
            )
            query = filtered(table.search().where(wanted), where)
            rows = query.select([*RECORD_COLUMNS, "vector"]).limit(None).to_arrow()
            return to_columns(_near(rows, records, reach))

        return self._read(scope, grain, run, columns_of([]))

    @abstractmethod
    def _read(self, scope: Scope, grain: Grain, run: Callable[[Table], T], nothing: T) -> T:
        """Run on the newest version of the table, or answer with nothing where there is none."""


def to_columns(rows: pa.Table, before: Columns | None = None) -> Columns:
    """Rows that have `RECORD_COLUMNS` and `vector` as columns, in the order of their ids.

    Where they hold all that `before` held, in the same words, that comes first, in its order, and its words
    are not read again.
    """
    rows = rows.sort_by("id").combine_chunks()
    kept = None if before is None else _continued(rows, before)
    if before is None or kept is None:
        return _columns(rows)
    return grown(before, _columns(rows.take(kept).combine_chunks()))


def _continued(rows: pa.Table, before: Columns) -> pa.Array | None:
    """The order of the rows that has those of `before` first; None where one of them is gone or changed."""
    known = pc.index_in(pa.array(before.ids, pa.string()), value_set=rows["id"])
    if known.null_count or rows["content"].take(known).to_pylist() != list(before.contents):
        return None
    added = np.ones(len(rows), np.bool_)
    added[known.to_numpy()] = False
    return pa.concat_arrays([known.cast(pa.int64()), pa.array(np.flatnonzero(added), pa.int64())])


def _columns(rows: pa.Table) -> Columns:
    records = rows.select(RECORD_COLUMNS)
    return Columns(
        ids=rows["id"].to_pylist(),
        contents=rows["content"].to_pylist(),
        sources=rows["source_ids"].to_pylist(),
        types=_types(rows["memory_type"]),
        conversations=_codes(rows["conversation_id"]),
        users=_codes(rows["user_id"]),
        speakers=_codes(rows["about"]),
        positions=rows["position"].to_numpy().astype(np.int32),
        event_times=rows["event_time"].cast(pa.int64()).to_numpy(),
        importances=rows["importance"].to_numpy().astype(np.float32),
        vectors=unit_vectors(rows["vector"]),
        records=lambda wanted: _made(records, wanted),
    )


def _made(records: pa.Table, wanted: Sequence[int]) -> list[Record]:
    if not wanted:
        return []
    at = pa.array(wanted, pa.int64())
    # Column by column: many times as quick as pyarrow's rows of a table.
    values = [column.chunk(0).take(at).to_pylist() for column in records.columns]
    return [to_record(dict(zip(RECORD_COLUMNS, row, strict=True))) for row in zip(*values, strict=True)]


def _types(column: pa.ChunkedArray) -> np.ndarray[Any, np.dtype[np.int8]]:
    names = pa.array([str(one) for one in TYPES])
    codes: np.ndarray[Any, np.dtype[np.int8]] = (
        pc.index_in(column, value_set=names).to_numpy().astype(np.int8)
    )
    return codes


def _codes(column: pa.ChunkedArray) -> Codes:
    encoded = column.combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    of = pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False).astype(np.int32)
    return Codes(of, encoded.dictionary.to_pylist())


def unit_vectors(column: pa.ChunkedArray) -> np.ndarray[Any, np.dtype[np.float32]]:
    """The stored vectors, float16, as float32 at unit length."""
    dimensions = column.type.list_size
    flat = column.combine_chunks().flatten().to_numpy(zero_copy_only=False).astype(np.float32)
    vectors = flat.reshape(-1, dimensions)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: np.ndarray[Any, np.dtype[np.float32]] = vectors / np.maximum(lengths, np.float32(1e-9))
    return unit


def _near(rows: pa.Table, records: Sequence[Record], reach: int) -> pa.Table:
    """The rows that are one of the records or within `reach` places of one in its conversation."""
    ids = {record.id for record in records}
    near = {(r.conversation_id, r.position + by) for r in records for by in range(-reach, reach + 1)}
    keys = zip(
        rows["id"].to_pylist(), rows["conversation_id"].to_pylist(), rows["position"].to_pylist(), strict=True
    )
    kept = [id_ in ids or (spoken is not None and (spoken, at) in near) for id_, spoken, at in keys]
    return rows.filter(pa.array(kept))
