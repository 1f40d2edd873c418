"""Creation of a table by one writer alone."""

import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from varve.adapters.lance.keywords import require_index
from varve.adapters.lance.lean_import import without_rest_client
from varve.adapters.lance.rows import TABLE, schema_for
from varve.domain.record import Written

with without_rest_client():
    import lancedb
    from lancedb.table import Table

Change = Callable[[Table], int]


def new_table(database: Any, model: str) -> Table:
    """Create the empty table of a store.

    Raises Misconfigured: the model's name has no dimensions.
    """
    return database.create_table(TABLE, schema=schema_for(model))


def create_table(
    model: str,
    change: Change,
    directory: Path,
    publish: Callable[[Path], bool],
) -> Written | None:
    """Create a store's table, with its index and the change's rows.

    LanceDB makes it below `directory`, and `publish` puts it into the store from there. In
    the store itself LanceDB lets a second creator overwrite the first one's table, and
    takes a dozen requests one after the other on S3.
    Returns None if another writer's table is there. Raises Retryable, OSError.
    """
    directory.mkdir(parents=True, exist_ok=True)
    # What a killed process leaves in a store has a name that a purge removes.
    with tempfile.TemporaryDirectory(
        prefix="varve-create-", suffix=".lance", dir=directory
    ) as home:
        table = new_table(lancedb.connect(home), model)
        require_index(table)
        written = Written(change(table), table.version)
        return written if publish(Path(home)) else None


def move_table(home: Path, folder: Path) -> bool:
    """Move the table to a store's folder; return False if another writer's is there.

    Folders without a file, which a deletion of the store's files leaves, are no table.
    Raises OSError.
    """
    name = f"{TABLE}.lance"
    target = folder / name
    try:
        (home / name).rename(target)
    except OSError:
        if not target.exists():
            raise
        if not _remove_empty(target):
            return False
        (home / name).rename(target)
    return True


def _remove_empty(folder: Path) -> bool:
    """Delete a folder of folders alone; return False if there is a file in it."""
    for path, _, files in os.walk(folder, topdown=False):
        if files:
            return False
        with suppress(OSError):  # another writer has moved its table there
            Path(path).rmdir()
    return not folder.exists()
