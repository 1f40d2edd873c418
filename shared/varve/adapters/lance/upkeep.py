"""When a table is compacted, and how long its old versions stay."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from lancedb.table import Table

from varve.adapters.lance.vectors import index_due, make_index


@dataclass(frozen=True, slots=True)
class Upkeep:
    """When a table is compacted, and which old versions stay for readers in flight.

    Compaction follows a write that leaves `max_fragments` fragments, and every
    `max_fragments` versions. Of the older versions those younger than `keep_for` stay,
    up to `max_versions`, so a burst of writes stays bounded. A reader that outlives its
    version starts again from the newest. A table of `index_rows` rows gets a vector
    index at its next compaction.
    """

    max_fragments: int = 32
    keep_for: timedelta = timedelta(seconds=90)
    max_versions: int = 128
    index_rows: int = 50_000

    def is_due(self, fragments: int, before: int, after: int) -> bool:
        """Tell whether to compact after a write from version `before` to `after`.

        Writes that replace rows add versions without fragments, so both count.
        """
        if fragments >= self.max_fragments:
            return True
        return after // self.max_fragments != before // self.max_fragments

    def prunable_age(self, times: Sequence[datetime]) -> timedelta:
        """Return the age from which versions are deleted, given their commit times.

        That is `keep_for`, or less if there are more versions than `max_versions`.
        """
        newest_first = sorted(times, reverse=True)
        if len(newest_first) <= self.max_versions:
            return self.keep_for
        crowded = newest_first[0] - newest_first[self.max_versions // 2]
        return min(self.keep_for, max(crowded, timedelta(milliseconds=1)))


def count_fragments(table: Table) -> int:
    """Return the number of fragments into which writes have split the table."""
    return int(table.stats()["fragment_stats"]["num_fragments"])


def compact(table: Table, upkeep: Upkeep, age: timedelta) -> None:
    """Merge fragments, update indices, add a due vector index, delete old versions."""
    table.optimize(cleanup_older_than=age)
    if index_due(table, upkeep.index_rows):
        make_index(table)
