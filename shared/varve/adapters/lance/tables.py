"""The tables of a root, in a directory or on S3, opened and changed by LanceDB itself."""

from collections.abc import Callable
from concurrent.futures import Future
from datetime import timedelta
from functools import cached_property, partial
from pathlib import Path
from time import monotonic
from typing import Any

from varve.adapters.lance.creation import create_once
from varve.adapters.lance.errors import FOREIGN
from varve.adapters.lance.keywords import require_index
from varve.adapters.lance.lean_import import without_rest_client
from varve.adapters.lance.metering import begin_counting, count_requests
from varve.adapters.lance.purge import (
    delete_leftovers,
    keep_versions_from,
    rewrite,
)
from varve.adapters.lance.rows import schema_for
from varve.adapters.lance.upkeep import Upkeep, compact, count_fragments
from varve.domain.identity import Scope
from varve.domain.record import StoreName, Written
from varve.ports.meter import Meter, MeteredThreads
from varve.ports.objects import ObjectInfo, Objects

with without_rest_client():
    import lancedb
    from lancedb.table import Table

TABLE = "memories"
VERSIONS = f"{TABLE}.lance/_versions"
INDEX_BYTES = 128 * 1024 * 1024
"""LanceDB's index cache: the vector codes of a million rows take 85 MB.

Keyword postings take 35 MB. A search that reads the codes again takes three times as long.
"""
METADATA_BYTES = 64 * 1024 * 1024
"""LanceDB's metadata cache, bounded because a warm process may serve many agents."""
CONFIRM_AFTER_SECONDS = 1.0
"""A write on S3 that took longer looks whether its commit is among the newest versions.

A purge takes about as long as this at least. If it ran in between, LanceDB may have
committed a version below the newest one, because its number was free again.
"""
Change = Callable[[Table], int]
Store = tuple[Scope, StoreName]


def store_prefix(scope: Scope, grain: StoreName) -> str:
    """Return the prefix of one agent's grain, relative to the root."""
    return f"{agent_prefix(scope)}/{grain}"


def agent_prefix(scope: Scope) -> str:
    """Return the prefix of all grains of an agent, relative to the root."""
    return f"vectordb/{scope.workspace}/{scope.agent}"


def new_session() -> Any:
    """Return caches for LanceDB, to be shared by connections."""
    return lancedb.Session(INDEX_BYTES, METADATA_BYTES)


def new_table(database: Any, model: str) -> Table:
    """Create the empty table of a store.

    Raises Misconfigured: the model's name has no dimensions.
    """
    return database.create_table(
        TABLE, schema=schema_for(model), exist_ok=True
    )


class Tables:
    """The tables below a root. LanceDB commits each change and settles races."""

    def __init__(
        self,
        root: str,
        objects: Objects,
        upkeep: Upkeep,
        options: dict[str, str] | None = None,
        meter: Meter | None = None,
    ) -> None:
        self._root = root
        self._objects = objects
        self._upkeep = upkeep
        self._options = options
        self._is_remote = root.startswith("s3://")
        self._meter = meter if self._is_remote else None
        begin_counting(self._meter)
        self._session = new_session()
        self._tables: dict[Store, tuple[object, Table]] = {}
        self._indexed: set[Store] = set()
        self._expected: dict[Store, Future[Table | None]] = {}

    def open_newest(self, scope: Scope, grain: StoreName) -> Table | None:
        """Open the newest version, or return None if nothing has been written."""
        try:
            return self._open_newest(scope, grain)
        finally:
            count_requests(self._meter)

    def _open_newest(self, scope: Scope, grain: StoreName) -> Table | None:
        identity = self._read_identity(scope, grain)
        known, table = self._tables.get((scope, grain), (None, None))
        if table is not None and known == identity:
            table.checkout_latest()
            return table
        prefix = store_prefix(scope, grain)
        # LanceDB would create the directory.
        if not self._is_remote and not self._list_manifests(prefix):
            return None
        try:
            opened = self._connect(scope, grain).open_table(TABLE)
        except ValueError:  # LanceDB's error for a table that it did not find
            if not self._list_manifests(prefix):
                return None
            opened = self._connect(scope, grain).open_table(TABLE)
        return self._keep(scope, grain, identity, opened)

    def expect(self, scope: Scope, grain: StoreName) -> None:
        """Open the table for a coming write in the background, if it is on S3."""
        if self._is_remote:
            opening = self._pool.submit(self.open_newest, scope, grain)
            self._expected[scope, grain] = opening

    def finish(self) -> None:
        """Forget tables that were opened for writes that did not happen."""
        self._expected.clear()

    def write(
        self,
        scope: Scope,
        grain: StoreName,
        change: Change,
        model: str | None,
        *,
        purge: bool,
    ) -> Written:
        """Apply the change to the newest version.

        Returns the change's result and the version that has it. Creates a missing table
        for `model`; without a model, does nothing. With `purge`, deletes every byte that
        the change removed. Raises Retryable, RuntimeError, OSError.
        """
        try:
            table = self._open_or_create(scope, grain, model)
            if table is None:
                return Written(0, 0)
            if purge:
                return self._purge(table, change, store_prefix(scope, grain))
            return self._apply(table, change, store_prefix(scope, grain))
        except FOREIGN:
            self._forget(scope, grain)
            raise
        finally:
            count_requests(self._meter)

    def compact(self, scope: Scope, grain: StoreName) -> None:
        """Merge the table's fragments; in a directory delete all older versions.

        A reader of a deleted version reads the newest one. On S3 nothing is done: commits
        compact a store as it grows. There old files cost little and requests cost more.
        Raises Retryable, RuntimeError, OSError.
        """
        if self._is_remote:
            return
        manifests = self._list_manifests(store_prefix(scope, grain))
        if len(manifests) > 1:
            table = self.open_newest(scope, grain)
            if table is not None:
                keep_versions_from(table, table.version)
                compact(table, self._upkeep, timedelta(milliseconds=1))

    def _apply(self, table: Table, change: Change, prefix: str) -> Written:
        before = table.version
        changed = self._confirm(table, change)
        if self._upkeep.is_due(count_fragments(table), before, table.version):
            times = [
                file.last_modified for file in self._list_manifests(prefix)
            ]
            compact(table, self._upkeep, self._upkeep.prunable_age(times))
        return Written(changed, table.version)

    def _confirm(self, table: Table, change: Change) -> int:
        """Apply the change until it is certain that the newest version has it."""
        changed = 0
        while True:
            started = monotonic()
            again = change(table)
            changed = max(changed, again)
            took = monotonic() - started
            if (
                not again
                or not self._is_remote
                or took < CONFIRM_AFTER_SECONDS
            ):
                return changed
            committed = table.version
            table.checkout_latest()
            if table.version == committed:
                return changed

    def _purge(self, table: Table, change: Change, prefix: str) -> Written:
        files = list(self._objects.list(prefix))
        changed = change(table)
        # Rewrite even if no row is left: an earlier delivery may have failed half-way.
        rewrite(table)
        keep_versions_from(table, table.version)
        delete_leftovers(files, prefix, self._objects)
        return Written(changed, table.version)

    def _open_or_create(
        self, scope: Scope, grain: StoreName, model: str | None
    ) -> Table | None:
        expected = self._expected.pop((scope, grain), None)
        table = (
            expected.result() if expected else self.open_newest(scope, grain)
        )
        if table is None:  # do not test for truth: an empty table is false
            if model is None:
                return None
            table = self._create(scope, grain, model)
        if (scope, grain) not in self._indexed:
            require_index(table)
            self._indexed.add((scope, grain))
        return table

    def _create(self, scope: Scope, grain: StoreName, model: str) -> Table:
        def create() -> Table:
            table = new_table(self._connect(scope, grain), model)
            identity = self._read_identity(scope, grain)
            return self._keep(scope, grain, identity, table)

        return create_once(
            f"{store_prefix(scope, grain)}/{TABLE}.creator",
            self._objects,
            partial(self.open_newest, scope, grain),
            create,
        )

    def _connect(self, scope: Scope, grain: StoreName) -> Any:
        uri = f"{self._root}/{store_prefix(scope, grain)}"
        return lancedb.connect(
            uri, storage_options=self._options, session=self._session
        )

    def _keep(
        self, scope: Scope, grain: StoreName, identity: object, table: Table
    ) -> Table:
        self._tables[scope, grain] = (identity, table)
        self._indexed.discard((scope, grain))
        return table

    def _forget(self, scope: Scope, grain: StoreName) -> None:
        """Open the table with new caches next time: it may have been recreated."""
        self._tables.pop((scope, grain), None)
        self._session = new_session()

    def _read_identity(self, scope: Scope, grain: StoreName) -> object:
        """Return a value that differs for a recreated table in the same directory.

        LanceDB mistakes an open table for the newest until the recreated one has more
        versions. The table's own folder almost never changes, as files are added to and
        removed from the folders below it.
        """
        if self._is_remote:
            return None
        folder = Path(self._root, store_prefix(scope, grain), f"{TABLE}.lance")
        try:
            found = folder.stat()
        except FileNotFoundError:
            return None
        return found.st_ino, found.st_ctime_ns

    def _list_manifests(self, prefix: str) -> list[ObjectInfo]:
        files = self._objects.list(f"{prefix}/{VERSIONS}")
        return [file for file in files if file.key.endswith(".manifest")]

    @cached_property
    def _pool(self) -> MeteredThreads:
        return MeteredThreads(4, thread_name_prefix="varve-open")
