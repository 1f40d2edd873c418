"""Candidates for a ranking: what LanceDB's two ways to search find, and what was said around it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from varve.adapters.lance_rows import filtered
from varve.adapters.lance_vectors import nearest
from varve.adapters.lean_import import without_rest_client
from varve.domain.query import Filter
from varve.domain.record import Candidate, Vector

with without_rest_client():
    from lancedb.expr import col
    from lancedb.query import MatchQuery
    from lancedb.table import Table

AHEAD = 20
"""Rows that the vector lane takes more than it wants, to see whether equals were cut off at the end."""
_PLACE = ("id", "conversation_id", "position")


def candidates(table: Table, text: str, vector: Vector, where: Filter, limit: int) -> list[Candidate]:
    """The `limit` nearest by cosine, and the `limit` best by keyword."""
    near = nearest(table, vector, limit + AHEAD, where).select([*_PLACE, "_distance"])
    by_keyword = filtered(table.search(MatchQuery(text, "content"), query_type="fts"), where)
    found = {}
    for row in _best(near, limit, limit + AHEAD, "_distance", "ascending"):
        found[row["id"]] = replace(_placed(row), vector=1 - row["_distance"])
    for row in _best(by_keyword.select([*_PLACE, "_score"]), limit, 2 * limit, "_score", "descending"):
        found[row["id"]] = replace(found.get(row["id"]) or _placed(row), keyword=row["_score"])
    return list(found.values())


def _placed(row: dict[str, Any]) -> Candidate:
    return Candidate(row["id"], row["conversation_id"], row["position"])


def rows_around(
    table: Table, found: Sequence[Candidate], reach: int, where: Filter, columns: Sequence[str]
) -> pa.Table:
    """The candidates' rows, and those at most `reach` places from one of them in its conversation.

    Places are looked up first, by the index of large tables: a conversation may be long.
    """
    spoken = sorted({one.conversation_id for one in found if one.conversation_id is not None})
    alone = [one.id for one in found if one.conversation_id is None]
    near = {(one.conversation_id, one.position + by) for one in found for by in range(-reach, reach + 1)}
    wanted = col("conversation_id").isin(spoken)
    query = table.search().where(wanted | col("id").isin(alone) if alone else wanted)
    places = filtered(query, where).with_row_id(True).select(["conversation_id", "position"]).limit(None)
    rows = [
        row["_rowid"]
        for row in places.to_arrow().to_pylist()
        if row["conversation_id"] is None or (row["conversation_id"], row["position"]) in near
    ]
    return table.take_row_ids(rows).select([*columns]).to_arrow()


def _best(query: Any, limit: int, asked: int, column: str, order: str) -> list[dict[str, Any]]:
    """The first `limit` rows; of equals at the end those with the least ids, where LanceDB takes any."""
    while True:
        rows = query.limit(asked).to_arrow().sort_by([(column, order), ("id", "ascending")])
        if len(rows) < asked or rows[column][limit - 1] != rows[column][-1]:
            best: list[dict[str, Any]] = rows.slice(0, limit).to_pylist()
            return best
        asked *= 2
