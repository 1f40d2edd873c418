"""LanceDB's rows as columns: of whole stores, and of conversations around candidates."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from varve.adapters.lance.candidates import rows_around
from varve.adapters.lance.layout import ADDRESS, Addresses, Layout, layout_of
from varve.adapters.lance.lean_import import without_rest_client
from varve.adapters.lance.rows import model_of, unit_vectors
from varve.domain.embedding import require_same_model
from varve.domain.record import Candidate
from varve.domain.search.columns import MAX_ROWS, TYPES, Codes, Columns
from varve.domain.search.growing import grown, woven
from varve.domain.search.query import Filter

with without_rest_client():
    from lancedb.table import Table

NEEDED = (
    "id", "memory_type", "content", "period", "event_time", "source_ids", "conversation_id", "user_id",
    "about", "importance", "position", "vector",
)  # fmt: skip
"""What ranking and its results need of a row."""
ORDER = ("conversation_id", "position", "id")
MOST_NEW = 0.1
"""The most new rows, for each that stays, that are read by their addresses: else reading all is as quick."""


@dataclass(frozen=True, eq=False)
class Held:
    """The columns of a whole store, whose vectors are of one model, and where it has its rows.

    `addresses` are those of the rows in the columns' order; `layout` is None where it cannot be told.
    """

    columns: Columns
    model: str
    addresses: Addresses
    layout: Layout | None


def hold(table: Table, store: str, model: str, before: Held | None) -> Held | None:
    """All rows of a table; None where there are too many to hold.

    What `before` holds, of an earlier version, is not read again where the rows can be told to be the same.
    Raises EmbeddingMismatch: the table is of another model.
    """
    if before is not None and before.model != model:
        before = None
    layout = layout_of(table, before.layout if before else None)
    if before and layout and (held := _followed(table, layout, before)):
        return held
    if table.count_rows() > MAX_ROWS:
        return None
    rows = table.search().with_row_id(True).select([*NEEDED]).limit(None).to_arrow()
    require_same_model(store, model_of(rows), model)
    rows = _in_order(rows)
    columns, addresses = to_columns(rows), rows[ADDRESS].to_numpy()
    del rows
    pa.default_memory_pool().release_unused()  # which it would keep, more than the columns take
    if before is not None:
        columns = grown(before.columns, columns)
    # By LanceDB's own word: a layout that was misread, or is of another version, is never built upon.
    return Held(columns, model, addresses, layout if layout and layout.holds(addresses) else None)


def _followed(table: Table, layout: Layout, before: Held) -> Held | None:
    """What is held, changed as the table has since; None where all of it is to be read.

    Rows that stay lie in the same files, and so their vectors are of the same model.
    """
    if before.layout is None:
        return None
    came, stay = layout.since(before.layout, before.addresses)
    staying = np.count_nonzero(stay)
    if len(came) > staying * MOST_NEW or staying + len(came) > MAX_ROWS or not staying:
        return None
    if not len(came) and staying == len(stay):
        return replace(before, layout=layout)
    rows = _in_order(table.take_row_ids(came.tolist()).with_row_id().select([*NEEDED]).to_arrow())
    found = rows[ADDRESS].to_numpy()
    if table.version != layout.version or not np.array_equal(np.sort(found), np.sort(came)):
        return None  # another thread has taken the table to a later version
    columns, weave = woven(before.columns, stay, to_columns(rows))
    return Held(columns, before.model, weave.arrays(before.addresses, found), layout)


def around(table: Table, found: Sequence[Candidate], reach: int, where: Filter) -> Columns:
    """The candidates, and those at most `reach` places from one of them in its conversation."""
    return to_columns(_in_order(rows_around(table, found, reach, where, NEEDED)))


def _in_order(rows: pa.Table) -> pa.Table:
    return rows.sort_by([(name, "ascending") for name in ORDER]).combine_chunks()


def to_columns(rows: pa.Table) -> Columns:
    """Rows that stand in order and have what is `NEEDED`."""
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
