"""Physical deletion in a directory: rows by id, old versions, and files that no version names."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from varve.adapters.records.lean_import import without_rest_client
from varve.ports.objects import ObjectInfo, Objects

with without_rest_client():
    from lancedb.expr import col, lit
    from lancedb.table import Table

MAX_DOOMED = 500
"""Ids in one deletion's condition."""

NOWHERE = -1
"""A place in a conversation that no message has."""

MAX_PRUNINGS = 5
LONGEST_WRITE = timedelta(minutes=15)
"""No writer takes longer from its first file to its commit: a function's longest life."""


def delete_ids(
    table: Table, ids: Sequence[str], known_by: datetime | None = None
) -> int:
    """Delete the rows of the ids, but for those made after `known_by`; how many there were.

    A version's manifest keeps the condition of a deletion and may outlive the rows, but it keeps none of
    an update. So the rows get a place that none has, and the condition is that place. Raises RuntimeError,
    OSError, as LanceDB does.
    """
    for start in range(0, len(ids), MAX_DOOMED):
        doomed = col("id").isin(list(ids[start : start + MAX_DOOMED]))
        if known_by is not None:
            doomed &= col("created_at") <= lit(known_by.astimezone(UTC))
        table.update(where=doomed.to_sql(), values={"position": NOWHERE})
    return int(table.delete(f"position = {NOWHERE}").num_deleted_rows) if ids else 0


def leave_one_version(table: Table) -> None:
    """Compact, and remove all versions but the newest. Raises RuntimeError: somebody keeps writing."""
    for _ in range(MAX_PRUNINGS):
        table.optimize(cleanup_older_than=timedelta(milliseconds=1))
        if len(table.list_versions()) == 1:
            return
    raise RuntimeError("a version is left that somebody has just written")


def delete_orphans(before: Sequence[ObjectInfo], objects: Objects) -> None:
    """Delete what no version names: files of writes that failed, which LanceDB would keep for a week.

    After a purge no file is in use that was there before it, unless by a write that has not been
    committed yet; so the young ones stay.
    """
    newest = max(info.last_modified for info in before)
    objects.delete(
        [info.key for info in before if newest - info.last_modified > LONGEST_WRITE]
    )
