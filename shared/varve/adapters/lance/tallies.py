"""Counting the rows of a LanceDB table by some of its columns, without reading words."""

from collections.abc import Sequence
from typing import Any

from lancedb.table import Table

from varve.adapters.lance.rows import apply_filter, read_all
from varve.domain.search.query import Filter
from varve.domain.tally import Tally, TallyColumn

_COUNTED = {
    "event_time": "event_time",
    "conversation": "conversation_id",
    "user": "user_id",
    "sources": "array_length(source_ids)",
}
"""Columns that are counted, as SQL: a column to group by cannot be counted too."""


def tally_rows(
    table: Table, by: Sequence[TallyColumn], where: Filter
) -> list[Tally]:
    """Return a tally for each combination of values in `by`, ordered by them."""
    columns: dict[str, str] = {name: name for name in by}
    passing = apply_filter(table.search(), where)
    rows = read_all(passing.select(columns | _COUNTED))
    if not rows.num_rows:
        return []
    groups = rows.group_by(list(by)).aggregate(
        [
            ("event_time", "min"),
            ("event_time", "max"),
            ("event_time", "count"),
            ("conversation", "count_distinct"),
            ("user", "count_distinct"),
            ("sources", "sum"),
        ]
    )
    tallies = [_to_tally(group, by) for group in groups.to_pylist()]

    def by_key(tally: Tally) -> list[str]:
        return [value or "" for value in tally.key]

    return sorted(tallies, key=by_key)


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
