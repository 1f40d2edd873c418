"""The indices of large tables, of vectors and of conversations: from which size there are any, how they are
kept up, and how the vectors' is asked."""

from typing import Any

from varve.adapters.lance.lean_import import without_rest_client
from varve.adapters.lance.rows import filtered
from varve.domain.record import Vector
from varve.domain.search.query import Filter

with without_rest_client():
    from lancedb.index import BTree, IvfRq
    from lancedb.table import Table

_NAME, _PLACES = "vector_idx", "conversation_idx"
_PARTITION_ROWS, _MOST_PARTITIONS = 4_096, 64
"""How many rows a partition is made for, and how many are made at once: to find their centres takes time with
the square of their number, and to compare the codes of them all takes milliseconds."""
_PROBES = 48
"""Partitions that are looked into. Where a filter applies, all may be."""
_COMPARED = 200
"""How many rows that are near by their one-bit codes are compared by their vectors, at least.

docs/benchmarks.md, "Large stores", has how many of the nearest are found.
"""


def indices_due(table: Table, rows: int) -> bool:
    """Whether the table has so many rows and lacks one of its indices."""
    return int(table.count_rows()) >= rows and not {_NAME, _PLACES} <= _names(table)


def make_indices(table: Table) -> None:
    """Make the indices of all rows. What is written later is searched without them until the next compaction.

    Vectors: RaBitQ codes in partitions, built in a fraction of the time that a graph (HNSW) takes, which one
    invocation of the writer could not wait for, and searched as fast. Conversations: a tree, for what was
    said around a row.
    """
    partitions = min(_MOST_PARTITIONS, max(1, int(table.count_rows()) // _PARTITION_ROWS))
    vectors = IvfRq(distance_type="cosine", num_partitions=partitions)
    table.create_index("vector", config=vectors, name=_NAME)
    table.create_index("conversation_id", config=BTree(), name=_PLACES)


def drop_indices(table: Table) -> None:
    """Forget the indices, which are made of rows that must leave no trace."""
    for name in {_NAME, _PLACES} & _names(table):
        table.drop_index(name)


def _names(table: Table) -> set[str]:
    return {index.name for index in table.list_indices()}


def nearest(table: Table, vector: Vector, limit: int, where: Filter) -> Any:
    """A query for the `limit` nearest by cosine of those that the filter lets through."""
    near = table.search(vector, vector_column_name="vector").distance_type("cosine").limit(limit)
    near = near.refine_factor(max(2, -(-_COMPARED // limit)))
    if where == Filter():
        return near.nprobes(_PROBES)
    # What passes may lie in few partitions. Without a filter LanceDB would look into all of them here, too.
    return filtered(near.minimum_nprobes(_PROBES).maximum_nprobes(0), where)
