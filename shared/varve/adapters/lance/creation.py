"""Creation of a table by one writer alone."""

import tempfile
from collections.abc import Callable
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

    Raises OSError.
    """
    name = f"{TABLE}.lance"
    try:
        (home / name).rename(folder / name)
    except OSError:
        if (folder / name).exists():
            return False
        raise
    return True
