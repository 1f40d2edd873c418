"""The vector index of large tables: from which size there is one, how it is kept up and how it is asked."""

from typing import Any

from varve.adapters.lance_rows import filtered
from varve.adapters.lean_import import without_rest_client
from varve.domain.query import Filter
from varve.domain.record import Vector

with without_rest_client():
    from lancedb.index import IvfRq
    from lancedb.table import Table

_NAME = "vector_idx"
_PROBES = 64
"""Partitions that are looked into; a million rows have some 120. Where a filter applies, all may be."""
_COMPARED = 400
"""How many rows that are near by their one-bit codes are compared by their vectors, at least.

docs/benchmarks.md, "Large stores", has how many of the nearest are found.
"""


def vector_index_due(table: Table, rows: int) -> bool:
    """Whether the table has so many rows and no vector index yet."""
    return int(table.count_rows()) >= rows and not has_vector_index(table)


def has_vector_index(table: Table) -> bool:
    """Whether the version has a vector index."""
    return any(index.name == _NAME for index in table.list_indices())


def make_vector_index(table: Table) -> None:
    """Make the index of all rows. What is written later is searched without it until the next compaction.

    RaBitQ codes in partitions: built in a tenth of the time that a graph (HNSW) takes, which one
    invocation of the writer could not wait for, and searched as fast.
    """
    table.create_index("vector", config=IvfRq(distance_type="cosine"), name=_NAME)


def drop_vector_index(table: Table) -> None:
    """Forget the index, whose codes are made of rows that must leave no trace."""
    if has_vector_index(table):
        table.drop_index(_NAME)


def nearest(table: Table, vector: Vector, limit: int, where: Filter) -> Any:
    """A query for the `limit` nearest by cosine of those that the filter lets through."""
    near = table.search(vector, vector_column_name="vector").distance_type("cosine").limit(limit)
    near = near.refine_factor(max(2, -(-_COMPARED // limit)))
    if where == Filter():
        return near.nprobes(_PROBES)
    # What passes may lie in few partitions. Without a filter LanceDB would look into all of them here, too.
    return filtered(near.minimum_nprobes(_PROBES).maximum_nprobes(0), where)
