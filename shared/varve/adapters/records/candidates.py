"""Candidates for a ranking: what LanceDB's two ways to search find, and what was said around it.

Lanes bring addresses of rows. Where a row stands is in the table's outline; the rest is read by its address.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pyarrow as pa

from varve.adapters.records.layout import ADDRESS, Addresses
from varve.adapters.records.lean_import import without_rest_client
from varve.adapters.records.outline import Located
from varve.adapters.records.rows import filtered
from varve.adapters.records.vectors import nearest
from varve.domain.record import Vector
from varve.domain.search.lexical import Spots
from varve.domain.search.query import Filter

with without_rest_client():
    from lancedb.query import MatchQuery
    from lancedb.table import Table

AHEAD = 20
"""Rows that the vector lane takes more than it wants, to see whether equals were cut off at the end."""
FEW = 1_000
"""As many as candidates are, with what was said around them."""


def lanes(
    table: Table, text: str, vector: Vector, where: Filter, limit: int
) -> tuple[pa.Table, pa.Table]:
    """The `limit` nearest by cosine with their `_distance`, and the `limit` best by keyword with `_score`."""
    near = nearest(table, vector, limit + AHEAD, where)
    worded = filtered(
        table.search(MatchQuery(text, "content"), query_type="fts"), where
    )
    with ThreadPoolExecutor(1) as beside:
        by_keyword = beside.submit(
            _lane, worded, "_score", "descending", limit, 2 * limit
        )
        by_vector = _lane(near, "_distance", "ascending", limit, limit + AHEAD)
        return by_vector, by_keyword.result()


def candidates(
    table: Table,
    outline: Located,
    text: str,
    vector: Vector,
    where: Filter,
    limit: int,
    reach: int,
) -> Spots:
    """Rows of the outline: what both lanes find, and what was said up to `reach` places around it.

    All that the filter lets through where these are few.
    """
    passing = None if where == Filter() else outline.admitted(where)
    if passing is not None and np.count_nonzero(passing) <= FEW:
        found = np.flatnonzero(passing)
    else:
        by_lane = [
            lane[ADDRESS].to_numpy()
            for lane in lanes(table, text, vector, where, limit)
        ]
        found = outline.rows_at(np.union1d(*by_lane))
    around = outline.around(found, reach)
    return around if passing is None else around[passing[around]]


def rows_at(table: Table, addresses: Addresses, columns: Sequence[str]) -> pa.Table:
    """The rows at these addresses, in their order. Raises RuntimeError: some lie there no longer."""
    order = np.argsort(addresses)  # LanceDB gives them as they lie in the table
    rows = table.take_row_ids(addresses[order].tolist()).select([*columns]).to_arrow()
    if len(rows) != len(addresses):
        raise RuntimeError("rows have moved or gone")
    return rows.take(np.argsort(order))


def _lane(query: Any, column: str, order: str, limit: int, asked: int) -> pa.Table:
    """Addresses of the first `limit` rows by this column; of equals at the end those that lie first."""
    while True:
        rows = query.with_row_id(True).select([column]).limit(asked).to_arrow()
        rows = rows.sort_by([(column, order), (ADDRESS, "ascending")])
        if len(rows) < asked or rows[column][limit - 1] != rows[column][-1]:
            return rows[:limit]
        asked *= 2
