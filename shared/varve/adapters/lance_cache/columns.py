"""Conversion of LanceDB rows to columns, for whole stores and for candidates."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from lancedb.table import Table

from varve.adapters.lance.candidates import find_candidates, rows_at
from varve.adapters.lance.outline import (
    SHORT,
    StoredOutline,
    read_outline,
    release_memory,
    short_columns,
)
from varve.adapters.lance.rows import (
    ADDRESS,
    Addresses,
    model_of,
    read_all,
    unit_vectors,
)
from varve.adapters.lance_cache.layout import Layout, read_layout
from varve.domain.embedding import require_same_model
from varve.domain.record import Vector
from varve.domain.search.columns import MAX_ROWS, Columns
from varve.domain.search.growing import merge_columns, reuse_derived
from varve.domain.search.outline import NO_CODE, Outline
from varve.domain.search.query import Filter

LONG = ("content", "vector", "id", "source_ids")
"""The columns that ranking and results need beside the `SHORT` ones."""
ALL_COLUMNS = (*SHORT, *LONG)
ORDER = ("conversation_id", "position", "id")
MAX_ADDED_SHARE = 0.1
"""Read added rows by address up to this share of the rows that remain.

Above it, reading the whole table is as fast.
"""


@dataclass(frozen=True, eq=False)
class CachedStore:
    """What the cache keeps of one store, whose vectors are all of one model.

    `columns` are all columns, or the outline of a store too large to cache. `addresses`
    are those of its rows, in the columns' order. `layout` is None if it is unknown.
    `version` is that of the store's `TableHandle` before it was read.
    """

    columns: Outline
    model: str
    addresses: Addresses
    layout: Layout | None
    version: object = None


def read_store(
    table: Table, store: str, model: str, before: CachedStore | None
) -> CachedStore:
    """Read all rows of a table, or the outline of a table too large to cache.

    Rows that `before`, an earlier version, provably shares are not read again.
    Raises EmbeddingMismatch: the table has another model; RuntimeError: another writer
    committed meanwhile.
    """
    if before is not None and before.model != model:
        before = None
    layout = read_layout(table, before.layout if before else None)
    if before and layout:
        updated = _update(table, layout, before)
        if updated is not None:
            return updated
    if table.count_rows() > MAX_ROWS:
        require_same_model(store, model_of(table), model)
        outline = read_outline(table)
        return CachedStore(outline, model, outline.addresses, None)
    return _read_whole(table, store, model, before, layout)


def _read_whole(
    table: Table,
    store: str,
    model: str,
    before: CachedStore | None,
    layout: Layout | None,
) -> CachedStore:
    rows = read_all(table.search().with_row_id(True).select([*ALL_COLUMNS]))
    require_same_model(store, model_of(rows), model)
    rows = _sort(rows)
    columns = to_columns(rows, short_columns(rows))
    addresses = rows[ADDRESS].to_numpy()
    del rows
    release_memory()
    if before is not None and isinstance(before.columns, Columns):
        columns = reuse_derived(before.columns, columns)
    # Keep only a layout that agrees with LanceDB's own addresses: never build upon one
    # that was misread or belongs to another version.
    if layout is not None and not layout.holds(addresses):
        layout = None
    return CachedStore(columns, model, addresses, layout)


def _update(
    table: Table, layout: Layout, before: CachedStore
) -> CachedStore | None:
    """Apply the table's changes since `before`, or return None to read it whole.

    Rows that remain lie in the same files, so their vectors are of the same model.
    """
    if before.layout is None or not isinstance(before.columns, Columns):
        return None
    added, remaining = layout.since(before.layout, before.addresses)
    kept = np.count_nonzero(remaining)
    if not kept or len(added) > kept * MAX_ADDED_SHARE:
        return None
    if kept + len(added) > MAX_ROWS:
        return None
    if not len(added) and kept == len(remaining):
        return replace(before, layout=layout)
    query = table.take_row_ids(added.tolist()).with_row_id()
    rows = _sort(query.select([*ALL_COLUMNS]).to_arrow())
    found = rows[ADDRESS].to_numpy()
    complete = np.array_equal(np.sort(found), np.sort(added))
    if table.version != layout.version or not complete:
        return None  # another thread has moved the table to a later version
    fresh = to_columns(rows, short_columns(rows))
    columns, plan = merge_columns(before.columns, remaining, fresh)
    addresses = plan.merge_arrays(before.addresses, found)
    return CachedStore(columns, before.model, addresses, layout)


def read_candidates(
    table: Table,
    outline: StoredOutline,
    text: str,
    vector: Vector,
    where: Filter,
    limit: int,
    reach: int,
) -> Columns:
    """Read the candidates for a question with the rows around them.

    Raises RuntimeError: the table has changed since its outline was read.
    """
    near = find_candidates(table, outline, text, vector, where, limit, reach)
    rows = rows_at(table, outline.addresses[near], LONG)
    return to_columns(rows, outline.short(near))


def read_users(
    table: Table, outline: StoredOutline, users: Sequence[str | None]
) -> Columns:
    """Read all rows of these users; None: the rows without one.

    Raises RuntimeError: the table has changed since its outline was read.
    """
    codes = [
        NO_CODE if user is None else outline.users.code(user) for user in users
    ]
    found = outline.addresses[np.isin(outline.users.of, codes)]
    rows = _sort(rows_at(table, found, ALL_COLUMNS))
    return to_columns(rows, short_columns(rows))


def to_columns(rows: pa.Table, short: dict[str, Any]) -> Columns:
    """Return the columns of rows that have the `LONG` columns."""
    return Columns(
        contents=rows["content"].to_pylist(),
        vectors=unit_vectors(rows["vector"]),
        ids=rows["id"].to_pylist(),
        sources=rows["source_ids"].to_pylist(),
        **short,
    )


def _sort(rows: pa.Table) -> pa.Table:
    keys = [(name, "ascending") for name in ORDER]
    return rows.sort_by(keys).combine_chunks()
