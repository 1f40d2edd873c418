"""LanceDB's rows as columns: of whole stores, and of conversations around candidates."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from varve.adapters.lance.candidates import rows_around
from varve.adapters.lance.lean_import import without_rest_client
from varve.adapters.lance.rows import model_of, unit_vectors
from varve.domain.embedding import require_same_model
from varve.domain.record import Candidate
from varve.domain.search.columns import MAX_ROWS, TYPES, Codes, Columns, grown
from varve.domain.search.query import Filter

with without_rest_client():
    from lancedb.table import Table

NEEDED = (
    "id", "memory_type", "content", "period", "event_time", "source_ids", "conversation_id", "user_id",
    "about", "importance", "position", "vector",
)  # fmt: skip
"""What ranking and its results need of a row."""
ORDER = ("conversation_id", "position", "id")


def whole(table: Table, store: str, model: str, before: Columns | None) -> Columns | None:
    """All rows of a table; None where there are too many to hold.

    `before` are the columns of an earlier version. Raises EmbeddingMismatch: the table is of another model.
    """
    require_same_model(store, model_of(table), model)
    if table.count_rows() > MAX_ROWS:
        return None
    rows = table.search().select([*NEEDED]).limit(None).to_arrow()
    # Another thread may have taken the table to a version of another model since.
    require_same_model(store, model_of(table), model)
    held = to_columns(rows, before)
    del rows
    pa.default_memory_pool().release_unused()  # which it would keep, more than the columns take
    return held


def around(table: Table, found: Sequence[Candidate], reach: int, where: Filter) -> Columns:
    """The candidates, and those at most `reach` places from one of them in its conversation."""
    return to_columns(rows_around(table, found, reach, where, NEEDED))


def to_columns(rows: pa.Table, before: Columns | None = None) -> Columns:
    """Rows that have what is `NEEDED` as columns; what `before` read of their words is not read again."""
    held = _columns(rows.sort_by([(name, "ascending") for name in ORDER]).combine_chunks())
    return held if before is None else grown(before, held)


def _columns(rows: pa.Table) -> Columns:
    return Columns(
        ids=rows["id"].to_pylist(),
        contents=rows["content"].to_pylist(),
        sources=rows["source_ids"].to_pylist(),
        types=_types(rows["memory_type"]),
        periods=_codes(rows["period"]),
        conversations=_codes(rows["conversation_id"]),
        users=_codes(rows["user_id"]),
        speakers=_codes(rows["about"]),
        positions=rows["position"].to_numpy().astype(np.int32),
        event_times=rows["event_time"].cast(pa.int64()).to_numpy(),
        importances=rows["importance"].to_numpy().astype(np.float32),
        vectors=unit_vectors(rows["vector"]),
    )


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
