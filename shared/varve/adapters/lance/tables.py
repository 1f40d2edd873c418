"""The tables of a root, in a directory or on S3, opened and changed by LanceDB itself."""

from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import Any

import lancedb
from lancedb.table import Table

from varve.adapters.exports.transfers import Transfers
from varve.adapters.lance.copies import Change, create_table
from varve.adapters.lance.errors import FOREIGN, translate_errors
from varve.adapters.lance.keywords import require_index
from varve.adapters.lance.metering import begin_counting, count_requests
from varve.adapters.lance.purge import (
    delete_leftovers,
    delete_unfinished,
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
        self._tables[scope, grain] = (identity, opened)
        self._indexed.discard((scope, grain))
        return opened

    def expect(self, scope: Scope, grain: StoreName) -> None:
        """Open the table for a coming write in the background, if it is on S3."""
        if self._is_remote:
            opening = self._pool.submit(self.open_newest, scope, grain)
            self._expected[scope, grain] = opening

    def write(
        self,
        scope: Scope,
        grain: StoreName,
        change: Change,
        model: str,
    ) -> Written:
        """Apply the change to the newest version; create a missing table for `model`.

        Returns the change's result and the version that has it.
        Raises Contended, Retryable.
        """
        with self._translate_errors(scope, grain):
            expected = self._expected.pop((scope, grain), None)
            table = (
                expected.result()
                if expected
                else self.open_newest(scope, grain)
            )
            if table is None:
                return self._create(scope, grain, model, change)
            self._require_index(scope, grain, table)
            return self._apply(table, change, store_prefix(scope, grain))

    def purge(self, scope: Scope, grain: StoreName, change: Change) -> int:
        """Apply a change that deletes rows, and delete every byte that it removed.

        Returns the change's result. Raises Contended, Retryable.
        """
        prefix = store_prefix(scope, grain)
        with self._translate_errors(scope, grain):
            # A table that was opened early may lack rows that must go.
            self._expected.pop((scope, grain), None)
            files = list(self._objects.list(prefix))
            table = self.open_newest(scope, grain)
            if table is None:
                delete_unfinished(files, prefix, self._objects)
                return 0
            changed = change(table)
            # Rewrite even if no row is left: an earlier delivery may have failed half-way.
            rewrite(table)
            keep_versions_from(table, table.version)
            manifests = self._list_manifests(prefix)
            present = max(file.last_modified for file in manifests)
            delete_leftovers(files, prefix, present, self._objects)
            return changed

    def compact(self, scope: Scope, grain: StoreName) -> None:
        """Merge the table's fragments; in a directory delete all older versions.

        A reader of a deleted version reads the newest one. On S3 nothing is done: commits
        compact a store as it grows. There old files cost little and requests cost more.
        Raises Contended, Retryable.
        """
        if self._is_remote:
            return
        with self._translate_errors(scope, grain):
            if len(self._list_manifests(store_prefix(scope, grain))) < 2:
                return
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
        home = self._directory if self._is_remote else Path(self._root, prefix)
        created = create_table(model, change, prefix, home, self._transfers)
        table = self.open_newest(scope, grain)
        if table is None:
            raise Contended(f"{prefix}: another writer is making the table")
        self._require_index(scope, grain, table)
        if created is None or created.version != table.version:
            return self._apply(table, change, prefix)
        return created

    def _connect(self, scope: Scope, grain: StoreName) -> Any:
        uri = f"{self._root}/{store_prefix(scope, grain)}"
        return lancedb.connect(
            uri, storage_options=self._options, session=self._session
        )

    @contextmanager
    def _translate_errors(
        self, scope: Scope, grain: StoreName
    ) -> Iterator[None]:
        with translate_errors(f"{scope}/{grain}", commits=True):
            try:
                yield
            except FOREIGN:
                # The store may have been recreated: open it with new caches next time.
                self._tables.pop((scope, grain), None)
                self._session = new_session()
                raise
            finally:
                count_requests(self._meter)

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
