"""The indices of large tables, of vectors and of conversations: from which size there are any, how they are
kept up, and how the vectors' is asked."""

from typing import Any

from varve.adapters.lance_rows import filtered
from varve.adapters.lean_import import without_rest_client
from varve.domain.query import Filter
from varve.domain.record import Vector

with without_rest_client():
    from lancedb.index import BTree, IvfRq
    from lancedb.table import Table

_NAME, _PLACES = "vector_idx", "conversation_idx"
_PROBES = 64
"""Partitions that are looked into; a million rows have some 120. Where a filter applies, all may be."""
_COMPARED = 400
"""How many rows that are near by their one-bit codes are compared by their vectors, at least.

docs/benchmarks.md, "Large stores", has how many of the nearest are found.
"""


def indices_due(table: Table, rows: int) -> bool:
    """Whether the table has so many rows and lacks one of its indices."""
    return int(table.count_rows()) >= rows and not {_NAME, _PLACES} <= _names(table)


def make_indices(table: Table) -> None:
    """Make the indices of all rows. What is written later is searched without them until the next compaction.

    Vectors: RaBitQ codes in partitions, built in a tenth of the time that a graph (HNSW) takes, which one
    invocation of the writer could not wait for, and searched as fast. Conversations: a tree, for what was
    said around a row.
    """
    table.create_index("vector", config=IvfRq(distance_type="cosine"), name=_NAME)
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
