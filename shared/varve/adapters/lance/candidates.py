"""Candidates for a ranking: what LanceDB's two ways to search find, and what was said around it.

Lanes bring addresses of rows, and what is wanted of a row is read once, by its address.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from varve.adapters.lance.lean_import import without_rest_client
from varve.adapters.lance.rows import filtered
from varve.adapters.lance.vectors import nearest
from varve.domain.record import Candidate, Vector
from varve.domain.search.query import Filter

with without_rest_client():
    from lancedb.expr import col
    from lancedb.query import MatchQuery
    from lancedb.table import Table

AHEAD = 20
"""Rows that the vector lane takes more than it wants, to see whether equals were cut off at the end."""
Addresses = npt.NDArray[np.uint64]

_ADDRESS = "_rowid"
_SPOKEN = ("conversation_id", "position")
_FURTHEST = 2**32
"""More than any two positions are apart."""


def candidates(table: Table, text: str, vector: Vector, where: Filter, limit: int) -> list[Candidate]:
    """The `limit` nearest by cosine, and the `limit` best by keyword."""
    worded = filtered(table.search(MatchQuery(text, "content"), query_type="fts"), where)
    near = _lane(nearest(table, vector, limit + AHEAD, where), "_distance", "ascending", limit, limit + AHEAD)
    by_keyword = _lane(worded, "_score", "descending", limit, 2 * limit)
    addresses = np.union1d(near[_ADDRESS], by_keyword[_ADDRESS])
    known = _at(table, addresses, ("id", *_SPOKEN))
    nearest_rows = _best(near, known, addresses, "_distance", "ascending", limit)
    cosines = {row["id"]: 1 - row["_distance"] for row in nearest_rows}
    best_worded = _best(by_keyword, known, addresses, "_score", "descending", limit)
    scores = {row["id"]: row["_score"] for row in best_worded}
    return [
        Candidate(id_, row["conversation_id"], row["position"], cosines.get(id_, 0.0), scores.get(id_, 0.0))
        for id_, row in {row["id"]: row for row in nearest_rows + best_worded}.items()
    ]


def rows_around(
    table: Table, found: Sequence[Candidate], reach: int, where: Filter, columns: Sequence[str]
) -> pa.Table:
    """The candidates' rows, and those at most `reach` places from one of them in its conversation.

    Places are looked up first, by the index of large tables: a conversation may be long.
    """
    spoken = sorted({one.conversation_id for one in found if one.conversation_id is not None})
    alone = [one.id for one in found if one.conversation_id is None]
    wanted = col("conversation_id").isin(spoken)
    query = table.search().where(wanted | col("id").isin(alone) if alone else wanted)
    places = filtered(query, where).with_row_id(True).select([*_SPOKEN]).limit(None).to_arrow()
    near = places.filter(_near(places, found, spoken, reach)).sort_by(_ADDRESS)
    rows = _at(table, near[_ADDRESS].to_numpy(), [name for name in columns if name not in _SPOKEN])
    for name in _SPOKEN:
        rows = rows.append_column(name, near[name])
    return rows


def _near(places: pa.Table, found: Sequence[Candidate], spoken: Sequence[str], reach: int) -> pa.Array:
    """Which rows stand near a candidate of their conversation, or in none."""
    codes = pc.index_in(places["conversation_id"], value_set=pa.array(spoken, pa.string()))
    keys = pc.fill_null(codes, -1).to_numpy().astype(np.int64) * _FURTHEST + places["position"].to_numpy()
    code_of = {name: code for code, name in enumerate(spoken)}
    wanted = [
        code_of[one.conversation_id] * _FURTHEST + one.position
        for one in found
        if one.conversation_id is not None
    ]
    reached = np.array(wanted, np.int64)[:, None] + np.arange(-reach, reach + 1)
    alone = places["conversation_id"].is_null().to_numpy()
    return pa.array(np.isin(keys, reached) | alone)


def _at(table: Table, addresses: Addresses, columns: Sequence[str]) -> pa.Table:
    """The rows at these addresses, in their order."""
    return table.take_row_ids(addresses.tolist()).select([*columns]).to_arrow()


def _lane(query: Any, column: str, order: str, limit: int, asked: int) -> pa.Table:
    """Addresses of the first `limit` rows, and of all that are equal to the last of them, by this column."""
    while True:
        rows = query.with_row_id(True).select([column]).limit(asked).to_arrow().sort_by([(column, order)])
        if len(rows) < asked or rows[column][limit - 1] != rows[column][-1]:
            break
        asked *= 2
    if len(rows) <= limit:
        return rows
    last = rows[column][limit - 1]
    return rows.filter((pc.less_equal if order == "ascending" else pc.greater_equal)(rows[column], last))


def _best(
    lane: pa.Table, known: pa.Table, addresses: Addresses, column: str, order: str, limit: int
) -> list[dict[str, Any]]:
    """The first `limit` rows of a lane; of equals at the end those with the least ids."""
    rows = known.take(np.searchsorted(addresses, lane[_ADDRESS])).append_column(column, lane[column])
    best: list[dict[str, Any]] = rows.sort_by([(column, order), ("id", "ascending")])[:limit].to_pylist()
    return best
