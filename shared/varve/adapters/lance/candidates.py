"""Candidates for ranking: matches by vector and by keyword, and the rows around them.

A search lane returns the addresses of rows. The table's outline tells where a row stands
in its conversation; all else is read by address.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pyarrow as pa
from lancedb.query import MatchQuery
from lancedb.table import Table

from varve.adapters.lance.outline import StoredOutline
from varve.adapters.lance.rows import (
    ADDRESS,
    Addresses,
    apply_filter,
    read_all,
)
from varve.adapters.lance.vectors import build_vector_query
from varve.domain.record import Vector
from varve.domain.search.lexical import Bools, Spots
from varve.domain.search.query import Filter

AHEAD = 20
"""Extra rows that the vector lane reads, to see whether ties were cut off at the end."""
FEW = 1_000
"""About as many rows as the candidates of one question with the rows around them."""


def search_lanes(
    table: Table, text: str, vector: Vector, where: Filter, limit: int
) -> tuple[pa.Table, pa.Table]:
    """Return the `limit` best rows by vector and the `limit` best by keyword.

    The first table has cosine distances as `_distance`, the second scores as `_score`.
    """
    by_vector = build_vector_query(table, vector, limit + AHEAD, where)
    search = table.search(MatchQuery(text, "content"), query_type="fts")
    by_keyword = apply_filter(search, where)
    with ThreadPoolExecutor(1) as thread:
        scored = thread.submit(
            _read_lane, by_keyword, "_score", "descending", limit, 2 * limit
        )
        near = _read_lane(
            by_vector, "_distance", "ascending", limit, limit + AHEAD
        )
        return near, scored.result()


def find_candidates(
    table: Table,
    outline: StoredOutline,
    text: str,
    vector: Vector,
    where: Filter,
    limit: int,
    reach: int,
) -> Spots:
    """Find the outline's rows for both lanes, and those up to `reach` places around.

    If the filter lets only a few rows through, all of them are candidates.
    """
    passing = (
        None if where == Filter() else _find_passing(table, outline, where)
    )
    if passing is not None and np.count_nonzero(passing) <= FEW:
        found = np.flatnonzero(passing)
    else:
        near, scored = search_lanes(table, text, vector, where, limit)
        by_vector = near[ADDRESS].to_numpy()
        by_keyword = scored[ADDRESS].to_numpy()
        found = outline.rows_at(np.union1d(by_vector, by_keyword))
    around = outline.around(found, reach)
    return around if passing is None else around[passing[around]]


def _find_passing(
    table: Table, outline: StoredOutline, where: Filter
) -> Bools:
    """Mark the outline's rows that pass the filter; it does not have the rows' ids."""
    passing = outline.admitted(where)
    if where.ids is None:
        return passing
    named = apply_filter(table.search(), Filter(ids=where.ids))
    rows = read_all(named.select([ADDRESS]))
    among = np.zeros(len(outline), np.bool_)
    among[outline.rows_at(rows[ADDRESS].to_numpy())] = True
    return passing & among


def rows_at(
    table: Table, addresses: Addresses, columns: Sequence[str]
) -> pa.Table:
    """Read the rows at these addresses, in the order of the addresses.

    Raises RuntimeError: some rows have moved or gone.
    """
    order = np.argsort(addresses)  # LanceDB returns rows in table order
    ordered = addresses[order].tolist()
    rows = table.take_row_ids(ordered).select([*columns]).to_arrow()
    if len(rows) != len(addresses):
        raise RuntimeError("rows have moved or gone")
    return rows.take(np.argsort(order))


def _read_lane(
    query: Any, column: str, order: str, limit: int, size: int
) -> pa.Table:
    """Read the addresses of the first `limit` rows by this column.

    Ties at the end are broken by address. So a query for `size` rows is doubled until it
    returns more than the ties of the last row.
    """
    while True:
        rows = query.with_row_id(True).select([column]).limit(size).to_arrow()
        rows = rows.sort_by([(column, order), (ADDRESS, "ascending")])
        if len(rows) < size:
            return rows[:limit]
        values = rows[column]
        if values[limit - 1] != values[-1]:
            return rows[:limit]
        size *= 2
