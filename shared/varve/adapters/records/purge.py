"""Physical deletion in a directory: rows by id, old versions and unreferenced files."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from varve.adapters.records.lean_import import without_rest_client
from varve.ports.objects import ObjectInfo, Objects

with without_rest_client():
    from lancedb.expr import col, lit
    from lancedb.table import Table

MAX_IDS_PER_CONDITION = 500

DELETED_POSITION = -1
"""Marks a row for deletion: no message has this position in its conversation."""

MAX_PRUNINGS = 5
LONGEST_WRITE = timedelta(minutes=15)
"""The longest time from a writer's first file to its commit: a Lambda's maximum life."""


def delete_ids(
    table: Table, ids: Sequence[str], known_by: datetime | None = None
) -> int:
    """Delete the rows with these ids, except those created after `known_by`.

    Returns how many rows were deleted. The manifest of a version keeps the condition of
    a deletion and may outlive the rows, but it keeps no condition of an update. So an
    update first moves the rows to `DELETED_POSITION`, and the deletion's condition names
    only that position. Raises RuntimeError, OSError: from LanceDB.
    """
    if not ids:
        return 0
    for start in range(0, len(ids), MAX_IDS_PER_CONDITION):
        some = list(ids[start : start + MAX_IDS_PER_CONDITION])
        doomed = col("id").isin(some)
        if known_by is not None:
            doomed &= col("created_at") <= lit(known_by.astimezone(UTC))
        table.update(where=doomed.to_sql(), values={"position": DELETED_POSITION})
    deleted = table.delete(f"position = {DELETED_POSITION}")
    return int(deleted.num_deleted_rows)


def keep_only_newest_version(table: Table) -> None:
    """Compact the table and remove all versions but the newest.

    Raises RuntimeError: another writer keeps adding versions.
    """
    for _ in range(MAX_PRUNINGS):
        table.optimize(cleanup_older_than=timedelta(milliseconds=1))
        if len(table.list_versions()) == 1:
            return
    raise RuntimeError("another writer has just added a version")


def delete_orphans(before: Sequence[ObjectInfo], objects: Objects) -> None:
    """Delete files that no version names: leftovers of failed writes.

    LanceDB would keep them for a week. After a purge, a file listed `before` it is in use
    only by a write that has not been committed yet, so young files stay.
    """
    newest = max(info.last_modified for info in before)
    orphans = []
    for info in before:
        if newest - info.last_modified > LONGEST_WRITE:
            orphans.append(info.key)
    objects.delete(orphans)
