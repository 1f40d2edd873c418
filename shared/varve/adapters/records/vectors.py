"""The index of large tables' vectors: from which size there is one, how it is made and asked."""

from typing import Any

from varve.adapters.records.lean_import import without_rest_client
from varve.adapters.records.rows import filtered
from varve.domain.record import Vector
from varve.domain.search.query import Filter

with without_rest_client():
    from lancedb.index import IvfRq
    from lancedb.table import Table

_NAME = "vector_idx"
_PARTITION_ROWS, _MOST_PARTITIONS = 4_096, 64
"""How many rows a partition is made for, and how many are made at once: to find their centres takes time with
the square of their number, and to compare the codes of them all takes milliseconds."""
_PROBES = 56
"""Partitions that are looked into. Where a filter applies, all may be."""
_BITS = 2
"""Of a code for each dimension: with two, the nearest by their codes need not be compared by their vectors.

docs/benchmarks.md, "Large stores", has how many of the nearest are found.
"""


def index_due(table: Table, rows: int) -> bool:
    """Whether the table has so many rows and lacks its index."""
    return int(table.count_rows()) >= rows and not _indexed(table)


def make_index(table: Table) -> None:
    """Make the index of all rows. What is written later is searched without it until the next compaction.

    RaBitQ codes in partitions, built in a fraction of the time that a graph (HNSW) takes, which one
    invocation of the writer could not wait for, and searched as fast.
    """
    partitions = min(
        _MOST_PARTITIONS, max(1, int(table.count_rows()) // _PARTITION_ROWS)
    )
    codes = IvfRq(distance_type="cosine", num_partitions=partitions, num_bits=_BITS)
    table.create_index("vector", config=codes, name=_NAME)


def drop_index(table: Table) -> None:
    """Forget the index, which is made of rows that must leave no trace."""
    if _indexed(table):
        table.drop_index(_NAME)


def _indexed(table: Table) -> bool:
    return any(index.name == _NAME for index in table.list_indices())


def nearest(table: Table, vector: Vector, limit: int, where: Filter) -> Any:
    """A query for the `limit` nearest, by the codes if there are any, of what the filter lets through."""
    near = (
        table.search(vector, vector_column_name="vector")
        .distance_type("cosine")
        .limit(limit)
    )
    if where == Filter():
        return near.nprobes(_PROBES)
    # What passes may lie in few partitions. Without a filter LanceDB would look into all of them here, too.
    return filtered(near.minimum_nprobes(_PROBES).maximum_nprobes(0), where)
