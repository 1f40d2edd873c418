"""The tables of a root, in a directory or on S3, opened and changed by LanceDB itself."""

from concurrent.futures import Future, wait
from datetime import timedelta
from functools import cached_property, partial
from pathlib import Path
from time import monotonic
from typing import Any

from varve.adapters.exports.transfers import Transfers
from varve.adapters.lance.copies import TableCopy
from varve.adapters.lance.creation import (
    Change,
    create_table,
    move_table,
)
from varve.adapters.lance.errors import FOREIGN
from varve.adapters.lance.keywords import require_index
from varve.adapters.lance.lean_import import without_rest_client
from varve.adapters.lance.metering import begin_counting, count_requests
from varve.adapters.lance.purge import (
    delete_leftovers,
    keep_versions_from,
    rewrite,
)
from varve.adapters.lance.rows import TABLE
from varve.adapters.lance.upkeep import Upkeep, compact, count_fragments
from varve.domain.errors import Contended
from varve.domain.identity import Scope
from varve.domain.record import StoreName, Written
from varve.ports.meter import Meter, MeteredThreads
from varve.ports.objects import ObjectInfo, Objects

with without_rest_client():
    import lancedb
    from lancedb.table import Table

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


class Tables:
    """The tables below a root. LanceDB commits each change and settles races.

    New tables of S3 are made in `directory` first.
    """

    def __init__(
        self,
        root: str,
        objects: Objects,
        upkeep: Upkeep,
        directory: Path,
        options: dict[str, str] | None = None,
        meter: Meter | None = None,
    ) -> None:
        self._root = root
        self._objects = objects
        self._upkeep = upkeep
        self._directory = directory
        self._options = options
        self._is_remote = root.startswith("s3://")
        self._meter = meter if self._is_remote else None
        begin_counting(self._meter)
        self._session = new_session()
        self._tables: dict[Store, tuple[object, Table]] = {}
        self._indexed: set[Store] = set()
        self._expected: dict[Store, Future[Table | None]] = {}
        self._looks: list[Future[None]] = []

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
        """Wait for what writes left to the background; forget tables opened for no write."""
        self._expected.clear()
        looks = self._looks
        self._looks = []
        wait(looks)

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
            table = self._open_for_writing(scope, grain)
            # Not a test for truth: an empty table is false.
            if table is not None:
                run = self._purge if purge else self._apply
                return run(table, change, store_prefix(scope, grain))
            if model is None:
                return Written(0, 0)
            return self._create(scope, grain, model, change)
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

    def _open_for_writing(
        self, scope: Scope, grain: StoreName
    ) -> Table | None:
        expected = self._expected.pop((scope, grain), None)
        table = (
            expected.result() if expected else self.open_newest(scope, grain)
        )
        if table is not None:
            self._require_index(scope, grain, table)
        return table

    def _look_at_index(
        self, scope: Scope, grain: StoreName, table: Table
    ) -> None:
        try:
            self._require_index(scope, grain, table)
        finally:
            count_requests(self._meter)

    def _require_index(
        self, scope: Scope, grain: StoreName, table: Table
    ) -> None:
        if (scope, grain) not in self._indexed:
            require_index(table)
            self._indexed.add((scope, grain))

    def _create(
        self, scope: Scope, grain: StoreName, model: str, change: Change
    ) -> Written:
        """Create the table, unless another writer does; apply the change again then.

        Others may have committed onto the new table already, so the newest version is
        opened to see that it is the one which the change made.
        """
        prefix = store_prefix(scope, grain)
        created = self._create_apart(prefix, model, change)
        table = self.open_newest(scope, grain)
        if table is None:
            raise Contended(f"{prefix}: another writer is making the table")
        if created is None or created.version != table.version:
            self._require_index(scope, grain, table)
            return self._apply(table, change, prefix)
        if self._is_remote:
            # The next write needs the index's metadata; this one does not wait for them.
            look = self._pool.submit(self._look_at_index, scope, grain, table)
            self._looks.append(look)
        return created

    def _create_apart(
        self, prefix: str, model: str, change: Change
    ) -> Written | None:
        """Make a table apart from the store, and put it there unless one is there."""
        if self._is_remote:

            def publish(home: Path) -> bool:
                return TableCopy(prefix, home, self._transfers).publish()

            return create_table(model, change, self._directory, publish)
        folder = Path(self._root, prefix)
        move = partial(move_table, folder=folder)
        return create_table(model, change, folder, move)

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
    def _transfers(self) -> Transfers:
        return Transfers(self._objects)

    @cached_property
    def _pool(self) -> MeteredThreads:
        return MeteredThreads(4, thread_name_prefix="varve-open")
