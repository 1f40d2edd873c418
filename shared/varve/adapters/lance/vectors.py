"""The vector index of large tables: when it is due, how it is built and queried."""

from typing import Any

from lancedb.index import IvfRq
from lancedb.table import Table

from varve.adapters.lance.rows import apply_filter
from varve.domain.record import Vector
from varve.domain.search.query import Filter

_INDEX_NAME = "vector_idx"
_PARTITION_ROWS = 4_096
_MAX_PARTITIONS = 64
"""Finding the partitions' centres takes time quadratic in their number.

Comparing the codes of all partitions takes milliseconds.
"""
_PROBES = 56
"""Partitions that an unfiltered query searches. A filtered query may search all."""
_CODE_BITS = 2
"""Bits a dimension of a code. With two, candidates need no comparison by full vectors.

docs/benchmarks.md, "Large stores", shows the recall.
"""


def index_due(table: Table, rows: int) -> bool:
    """Tell whether the table has at least `rows` rows and no vector index."""
    return int(table.count_rows()) >= rows and not _has_index(table)


def make_index(table: Table) -> None:
    """Make the index over all rows.

    Rows written later are searched without it until the next compaction. RaBitQ codes in
    partitions search as fast as a graph (HNSW). They build in a fraction of its time,
    which would exceed one invocation of the writer.
    """
    wanted = max(1, int(table.count_rows()) // _PARTITION_ROWS)
    codes = IvfRq(
        distance_type="cosine",
        num_partitions=min(_MAX_PARTITIONS, wanted),
        num_bits=_CODE_BITS,
    )
    table.create_index("vector", config=codes, name=_INDEX_NAME)


def drop_index(table: Table) -> None:
    """Drop the index, because it holds codes of rows that must leave no trace."""
    if _has_index(table):
        table.drop_index(_INDEX_NAME)


def _has_index(table: Table) -> bool:
    return any(index.name == _INDEX_NAME for index in table.list_indices())


def build_vector_query(
    table: Table, vector: Vector, limit: int, where: Filter
) -> Any:
    """Build the query for the `limit` nearest rows that the filter lets through.

    The query uses the vector index if the table has one.
    """
    query = table.search(vector, vector_column_name="vector")
    query = query.distance_type("cosine").limit(limit)
    if where == Filter():
        return query.nprobes(_PROBES)
    # Matching rows may lie in few partitions, so a filtered query has no maximum.
    # Without a filter LanceDB would search all partitions under these settings.
    unbounded = query.minimum_nprobes(_PROBES).maximum_nprobes(0)
    return apply_filter(unbounded, where)
