"""Physical deletion: hidden rows, old versions and files that no version names."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from uuid import uuid4

from lancedb.table import Table

from varve.adapters.lance.keywords import remake_index
from varve.adapters.lance.vectors import drop_index
from varve.ports.objects import ObjectInfo, Objects

MAX_PRUNINGS = 10
LONGEST_WRITE = timedelta(minutes=15)
"""The longest time from a writer's first file to its commit: a Lambda's maximum life."""


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


def read_present(prefix: str, objects: Objects) -> datetime:
    """Return the present by the clock that dates the objects. Raises Retryable."""
    key = f"{prefix}/varve-{uuid4().hex}"
    objects.put(key, b"")
    try:
        there = {info.key: info.last_modified for info in objects.list(prefix)}
    finally:
        objects.delete([key])
    return there[key]


def delete_unfinished(
    files: Sequence[ObjectInfo], prefix: str, objects: Objects
) -> None:
    """Delete what killed creators left in a store without a table."""
    if files:
        present = read_present(prefix, objects)
        delete_leftovers(files, prefix, present, objects)


def delete_leftovers(
    before: Sequence[ObjectInfo],
    prefix: str,
    present: datetime,
    objects: Objects,
) -> None:
    """Delete what no version of the store at `prefix` names: leftovers of failed writes.

    LanceDB would keep them for a week. After a purge, a file listed `before` it is in use
    only by a write that has not been committed yet, so young files stay. `present` is the
    time by the clock that dates the files. Objects in `packs/`, which earlier releases
    wrote, are copies of rows.
    """
    doomed = []
    for info in before:
        folder = info.key.removeprefix(f"{prefix}/").partition("/")[0]
        is_old = present - info.last_modified > LONGEST_WRITE
        if folder == "packs" or (is_old and folder.endswith(".lance")):
            doomed.append(info.key)
    objects.delete(doomed)
