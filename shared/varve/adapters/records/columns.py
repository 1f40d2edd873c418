"""LanceDB's rows as columns: of whole stores, and of candidates with what was said around them."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from varve.adapters.records.candidates import candidates, rows_at
from varve.adapters.records.layout import ADDRESS, Addresses, Layout, layout_of
from varve.adapters.records.lean_import import without_rest_client
from varve.adapters.records.names import NAMES, Named, Names
from varve.adapters.records.outline import SHORT, Located, outlined, short_columns
from varve.adapters.records.rows import model_of, scanned, unit_vectors
from varve.domain.embedding import require_same_model
from varve.domain.record import Vector
from varve.domain.search.columns import MAX_ROWS, Columns
from varve.domain.search.growing import merge_columns, reuse_derived
from varve.domain.search.outline import Outline
from varve.domain.search.query import Filter

with without_rest_client():
    from lancedb.table import Table

LONG = ("content", "vector")
"""What ranking needs of a row beside what is short; its results need the `NAMES` too."""
NEEDED = (*SHORT, *LONG, *NAMES)
ORDER = ("conversation_id", "position", "id")
MOST_NEW = 0.1
"""The most new rows, for each that stays, that are read by their addresses: else reading all is as quick."""


@dataclass(frozen=True, eq=False)
class Held:
    """What is held of a store, whose vectors are of one model, and where it has its rows.

    `columns` are all of them, or the outline of a store too large. `addresses` are those of the rows in the
    columns' order; `layout` is None where it cannot be told.
    """

    columns: Outline
    model: str
    addresses: Addresses
    layout: Layout | None


def hold(table: Table, store: str, model: str, before: Held | None) -> Held:
    """All rows of a table, or their outline where there are too many to hold.

    What `before` holds, of an earlier version, is not read again where the rows can be told to be the same.
    Raises EmbeddingMismatch: the table is of another model; RuntimeError: it was written to meanwhile.
    """
    if before is not None and before.model != model:
        before = None
    layout = layout_of(table, before.layout if before else None)
    if before and layout and (held := _followed(table, layout, before)):
        return held
    if table.count_rows() > MAX_ROWS:
        require_same_model(store, model_of(table), model)
        return _outline(table, model, before, layout)
    rows = scanned(table.search().with_row_id(True).select([*NEEDED]))
    require_same_model(store, model_of(rows), model)
    rows = _in_order(rows)
    columns, addresses = to_columns(rows), rows[ADDRESS].to_numpy()
    del rows
    pa.default_memory_pool().release_unused()  # which it would keep, more than the columns take
    if before is not None and isinstance(before.columns, Columns):
        columns = reuse_derived(before.columns, columns)
    # By LanceDB's own word: a layout that was misread, or is of another version, is never built upon.
    return Held(
        columns,
        model,
        addresses,
        layout if layout and layout.holds(addresses) else None,
    )


def _outline(
    table: Table, model: str, before: Held | None, layout: Layout | None
) -> Held:
    known = before
    if before and before.layout and layout and not layout.goes_on_from(before.layout):
        known = None  # a store that is made anew counts from 0 again
    outline = outlined(table, model, known.columns if known else None)
    return Held(outline, model, outline.addresses, layout)


def _followed(table: Table, layout: Layout, before: Held) -> Held | None:
    """What is held, changed as the table has since; None where all of it is to be read.

    Rows that stay lie in the same files, and so their vectors are of the same model.
    """
    if before.layout is None or not isinstance(before.columns, Columns):
        return None
    came, stay = layout.since(before.layout, before.addresses)
    staying = np.count_nonzero(stay)
    if len(came) > staying * MOST_NEW or staying + len(came) > MAX_ROWS or not staying:
        return None
    if not len(came) and staying == len(stay):
        return replace(before, layout=layout)
    rows = _in_order(
        table.take_row_ids(came.tolist()).with_row_id().select([*NEEDED]).to_arrow()
    )
    found = rows[ADDRESS].to_numpy()
    if table.version != layout.version or not np.array_equal(
        np.sort(found), np.sort(came)
    ):
        return None  # another thread has taken the table to a later version
    columns, plan = merge_columns(before.columns, stay, to_columns(rows))
    return Held(
        columns, before.model, plan.merge_arrays(before.addresses, found), layout
    )


def found(
    table: Table,
    store: str,
    outline: Located,
    text: str,
    vector: Vector,
    where: Filter,
    limit: int,
    reach: int,
) -> Columns:
    """Of a table that is as outlined the candidates for a question, and what was said around them.

    Raises RuntimeError: it is not so any more.
    """
    near = candidates(table, outline, text, vector, where, limit, reach)
    addresses = outline.addresses[near]
    rows = rows_at(table, addresses, LONG)
    names = Names(
        store, len(near), lambda wanted: rows_at(table, addresses[wanted], NAMES)
    )
    named = {
        "ids": Named(names, "id"),
        "sources": Named(names, "source_ids"),
        "expect": names.expect,
    }
    return _columns(rows, **outline.short(near), **named)


def _in_order(rows: pa.Table) -> pa.Table:
    return rows.sort_by([(name, "ascending") for name in ORDER]).combine_chunks()


def to_columns(rows: pa.Table) -> Columns:
    """Rows that stand in order and have what is `NEEDED`."""
    names = {"ids": rows["id"].to_pylist(), "sources": rows["source_ids"].to_pylist()}
    return _columns(rows, **short_columns(rows), **names)


def _columns(rows: pa.Table, **others: Any) -> Columns:
    return Columns(
        contents=rows["content"].to_pylist(),
        vectors=unit_vectors(rows["vector"]),
        **others,
    )
