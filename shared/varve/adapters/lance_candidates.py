"""Candidates for a ranking, from what LanceDB's two ways to search found."""

from typing import Any

import numpy as np
import pyarrow as pa

from varve.adapters.lance_rows import to_record, unit_vectors
from varve.domain.record import Candidate, Vector


def best(query: Any, limit: int, asked: int, column: str, order: str) -> pa.Table:
    """The first `limit` rows; of equals at the end those with the least ids, where LanceDB takes any."""
    while True:
        rows = query.limit(asked).to_arrow().sort_by([(column, order), ("id", "ascending")])
        if len(rows) < asked or rows[column][limit - 1] != rows[column][-1]:
            return rows.slice(0, limit)
        asked *= 2


def united(near: pa.Table, worded: pa.Table, vector: Vector) -> list[Candidate]:
    """Both lanes' rows once each, with the exact cosine for all of them."""
    keyword = dict(zip(worded["id"].to_pylist(), worded["_score"].to_pylist(), strict=True))
    rows = pa.concat_tables([near.drop_columns(["_distance"]), worded.drop_columns(["_score"])])
    places = {id_: place for place, id_ in reversed(list(enumerate(rows["id"].to_pylist())))}
    rows = rows.take(pa.array(sorted(places.values()), pa.int64()))
    cosines = (unit_vectors(rows["vector"]) @ (vector / np.linalg.norm(vector))).tolist()
    # Vectors as Python's numbers would take longer than the search.
    records = map(to_record, rows.drop_columns(["vector"]).to_pylist())
    return [Candidate(r, c, keyword.get(r.id, 0.0)) for r, c in zip(records, cosines, strict=True)]
