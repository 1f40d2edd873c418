"""Counting the rows of a LanceDB table by some of its columns, without reading words."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from varve.adapters.lance.lean_import import without_rest_client
from varve.adapters.lance.rows import apply_filter, read_all
from varve.domain.search.query import Filter
from varve.domain.tally import Tally, TallyColumn

with without_rest_client():
    from lancedb.table import Table

_COUNTED = ["conversation_id", "user_id", "event_time", "source_ids"]


def tally_rows(
    table: Table, by: Sequence[TallyColumn], where: Filter
) -> list[Tally]:
    """Return a tally for each combination of values in `by`, ordered by them."""
    columns = list(dict.fromkeys([*by, *_COUNTED]))
    query = apply_filter(table.search(), where).select(columns)
    rows = read_all(query)
    if not rows.num_rows:
        return []
    groups = (
        _with_counted(rows)
        .group_by(list(by))
        .aggregate(
            [
                ("event_time", "min"),
                ("event_time", "max"),
                ("event_time", "count"),
                ("conversation", "count_distinct"),
                ("user", "count_distinct"),
                ("sources", "sum"),
            ]
        )
    )
    tallies = [_to_tally(group, by) for group in groups.to_pylist()]
    return sorted(
        tallies, key=lambda tally: [value or "" for value in tally.key]
    )


def _with_counted(rows: pa.Table) -> pa.Table:
    """Add the columns that are counted, because a grouped column cannot be counted too."""
    lengths = pc.list_value_length(rows.column("source_ids"))
    rows = rows.append_column("sources", lengths)
    rows = rows.append_column("conversation", rows.column("conversation_id"))
    return rows.append_column("user", rows.column("user_id"))


def _to_tally(group: dict[str, Any], by: Sequence[TallyColumn]) -> Tally:
    values = {
        "records": group["event_time_count"],
        "conversations": group["conversation_count_distinct"],
        "users": group["user_count_distinct"],
        "sources": group["sources_sum"],
        "oldest": group["event_time_min"],
        "newest": group["event_time_max"],
    }
    return Tally(key=tuple(group[column] for column in by), **values)
