"""Physical deletion: rows by id, old versions and files that no version names."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from varve.adapters.lance.keywords import remake_index
from varve.adapters.lance.lean_import import without_rest_client
from varve.adapters.lance.vectors import drop_index
from varve.ports.objects import ObjectInfo, Objects

with without_rest_client():
    from lancedb.expr import col, lit
    from lancedb.table import Table

MAX_IDS_PER_CONDITION = 500
MAX_PRUNINGS = 10
LONGEST_WRITE = timedelta(minutes=15)
"""The longest time from a writer's first file to its commit: a Lambda's maximum life."""


def delete_ids(
    table: Table, ids: Sequence[str], known_by: datetime | None = None
) -> int:
    """Delete the rows with these ids, except those created after `known_by`.

    Returns how many rows were deleted. Raises RuntimeError, OSError: from LanceDB.
    """
    deleted = 0
    for start in range(0, len(ids), MAX_IDS_PER_CONDITION):
        doomed = col("id").isin(
            list(ids[start : start + MAX_IDS_PER_CONDITION])
        )
        if known_by is not None:
            doomed &= col("created_at") <= lit(known_by.astimezone(UTC))
        deleted += int(table.delete(doomed.to_sql()).num_deleted_rows)
    return deleted


def rewrite(table: Table) -> None:
    """Rewrite all rows and the keyword index, so that no older file is needed.

    A deletion only hides rows, and compaction skips files with few hidden rows. The
    vector index is dropped, because LanceDB
    carries over its codes of deleted rows. The next compaction builds it again. That
    takes longer than the rest of a purge, and a purge must not time out.
    """
    table.update(values_sql={"position": "position"})
    remake_index(table)
    drop_index(table)


def keep_versions_from(table: Table, oldest: int) -> None:
    """Compact the table and remove all versions before `oldest`.

    Raises RuntimeError: other writers keep LanceDB from it.
    """
    for _ in range(MAX_PRUNINGS):
        with suppress(
            RuntimeError
        ):  # the compaction lost a race; versions tell
            table.optimize(cleanup_older_than=timedelta(milliseconds=1))
        versions = [version["version"] for version in table.list_versions()]
        if min(versions) >= oldest:
            return
    raise RuntimeError("versions before a purge are still there")


def delete_leftovers(
    before: Sequence[ObjectInfo], prefix: str, objects: Objects
) -> None:
    """Delete what no version of the store at `prefix` names: leftovers of failed writes.

    LanceDB would keep them for a week. After a purge, a file listed `before` it is in use
    only by a write that has not been committed yet, so young files stay. Objects in
    `packs/`, which earlier releases wrote, are copies of rows.
    """
    newest = max(info.last_modified for info in before)
    doomed = []
    for info in before:
        folder = info.key.removeprefix(f"{prefix}/").partition("/")[0]
        is_old = newest - info.last_modified > LONGEST_WRITE
        if folder == "packs" or (is_old and folder.endswith(".lance")):
            doomed.append(info.key)
    objects.delete(doomed)
