"""Tables that LanceDB opens in place: in a directory, or large ones on S3."""

from collections.abc import Callable, Iterable
from datetime import timedelta
from functools import partial
from pathlib import Path
from time import sleep
from typing import Any
from uuid import uuid4

from varve.adapters.exports.transfers import Transfers
from varve.adapters.records.files import VERSIONS
from varve.adapters.records.lean_import import without_rest_client
from varve.adapters.records.purge import delete_orphans, keep_only_newest_version
from varve.adapters.records.replica import TABLE
from varve.adapters.records.rows import schema_for
from varve.adapters.records.table_handle import TableHandle, VersionWatch
from varve.adapters.records.upkeep import Upkeep, prune
from varve.adapters.records.vectors import drop_index, index_due, make_index
from varve.domain.errors import Contended
from varve.domain.identity import Scope
from varve.domain.record import StoreName, Written
from varve.ports.objects import ObjectInfo, Objects

with without_rest_client():
    import lancedb
    from lancedb.index import FTS
    from lancedb.table import Table

CLAIM_WAITS = 50
CLAIM_WAIT_SECONDS = 0.1
NEVER = timedelta(days=36_500)
_KEYWORDS = FTS(
    base_tokenizer="simple", stem=True, remove_stop_words=True, ascii_folding=True
)

Change = Callable[[Table], int]
Store = tuple[Scope, StoreName]


def store_prefix(scope: Scope, grain: StoreName) -> str:
    """Return the prefix of one agent's grain, relative to the root."""
    return f"{agent_prefix(scope)}/{grain}"


def agent_prefix(scope: Scope) -> str:
    """Return the prefix of all grains of an agent, relative to the root."""
    return f"vectordb/{scope.workspace}/{scope.agent}"


def new_table(database: Any, model: str) -> Table:
    """Create the empty table of a store.

    Raises Misconfigured: the model's name has no dimensions.
    """
    return database.create_table(TABLE, schema=schema_for(model), exist_ok=True)


def require_index(table: Table) -> None:
    """Create the keyword index if it is missing.

    It is missing if the process that created the table died before creating the index.
    """
    if not any(index.columns == ["content"] for index in table.list_indices()):
        table.create_index("content", config=_KEYWORDS)


def rewrite(table: Table) -> None:
    """Rewrite all rows and the keyword index, so that no older file is needed.

    A deletion only hides rows, compaction skips files with few hidden rows, and a merged
    index keeps the words of deleted rows.
    """
    table.update(values_sql={"position": "position"})
    table.create_index("content", config=_KEYWORDS, replace=True)


def count_fragments(table: Table) -> int:
    """Return the number of fragments into which writes have split the table."""
    return int(table.stats()["fragment_stats"]["num_fragments"])


def compact(
    table: Table, upkeep: Upkeep, optimize: Callable[[], object], *, purge: bool
) -> None:
    """Merge fragments and update indices with `optimize`; add a due vector index.

    With `purge` the vector index is dropped, because LanceDB carries over its codes of
    deleted rows. The next compaction builds it again. That takes longer than the rest of
    a purge, and a purge must not time out.
    """
    if purge:
        drop_index(table)
    optimize()
    if not purge and index_due(table, upkeep.index_rows):
        make_index(table)


class DirectTables:
    """The tables of a root, opened and changed in place by LanceDB.

    In a directory LanceDB removes old versions. On S3, given `transfers`, `prune` does it
    in fewer requests.
    """

    def __init__(
        self,
        root: str,
        objects: Objects,
        session: Any,
        upkeep: Upkeep,
        options: dict[str, str] | None = None,
        transfers: Transfers | None = None,
    ) -> None:
        self._root = root
        self._objects = objects
        self._session = session
        self._upkeep = upkeep
        self._options = options
        self._transfers = transfers
        self._tables: dict[Store, tuple[object, Table]] = {}
        self._handles: dict[Store, TableHandle] = {}
        self._indexed: set[Store] = set()
        self._watch = VersionWatch()

    def handle(self, scope: Scope, grain: StoreName) -> TableHandle:
        """Return a handle on the newest version.

        In a directory the handle tells the version without opening the table.
        """
        known = self._handles.get((scope, grain))
        if known is not None:
            return known
        open_newest = partial(self.open_newest, scope, grain)
        if self._transfers is not None:
            return TableHandle.opening(open_newest)
        prefix = store_prefix(scope, grain)
        versions = f"{self._root}/{prefix}/{TABLE}.lance/{VERSIONS}"
        version = partial(self._watch.newest, versions)
        handle = TableHandle(open_newest, version)
        self._handles[scope, grain] = handle
        return handle

    def open_newest(self, scope: Scope, grain: StoreName) -> Table | None:
        """Open the newest version, or return None if nothing has been written."""
        identity = self._read_identity(scope, grain)
        known, table = self._tables.get((scope, grain), (None, None))
        if table is not None and known == identity:
            table.checkout_latest()
            return table
        manifests = self._list_manifests(store_prefix(scope, grain))
        if not any(manifests):
            return None
        opened = self._connect(scope, grain).open_table(TABLE)
        return self._keep(scope, grain, identity, opened)

    def _keep(
        self, scope: Scope, grain: StoreName, identity: object, table: Table
    ) -> Table:
        self._tables[scope, grain] = (identity, table)
        self._indexed.discard((scope, grain))
        return table

    def _read_identity(self, scope: Scope, grain: StoreName) -> object:
        """Return a value that differs for a recreated table in the same directory.

        LanceDB mistakes an open table for the newest until the recreated one has more
        versions. The table's own folder almost never changes, as files are added to and
        removed from the folders below it.
        """
        if self._transfers is not None:
            return None
        folder = Path(self._root, store_prefix(scope, grain), f"{TABLE}.lance")
        try:
            found = folder.stat()
        except FileNotFoundError:
            return None
        return found.st_ino, found.st_ctime_ns

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
        table = self.open_newest(scope, grain)
        if table is None:  # do not test for truth: an empty table is false
            if model is None:
                return Written(0, 0)
            table = self._create(scope, grain, model)
        if (scope, grain) not in self._indexed:
            require_index(table)
            self._indexed.add((scope, grain))
        prefix = store_prefix(scope, grain)
        files = []
        if purge and self._transfers is None:
            files = list(self._objects.list(f"{prefix}/{TABLE}.lance"))
        before = table.version
        changed = change(table)
        if purge or self._upkeep.is_due(count_fragments(table), before, table.version):
            self._compact(table, prefix, purge=purge)
        if files:
            delete_orphans(files, self._objects)
        return Written(changed, table.version)

    def compact(self, scope: Scope, grain: StoreName) -> None:
        """Merge the table's fragments; in a directory delete all older versions.

        A reader of a deleted version reads the newest one. On S3 the versions of readers
        in flight stay. Raises Retryable, RuntimeError, OSError.
        """
        prefix = store_prefix(scope, grain)
        manifests = [
            file
            for file in self._list_manifests(prefix)
            if file.key.endswith(".manifest")
        ]
        table = self.open_newest(scope, grain) if len(manifests) > 1 else None
        if table is None:
            return
        if self._transfers is not None:
            self._compact(table, prefix, purge=False)
            return
        merge = partial(keep_only_newest_version, table)
        compact(table, self._upkeep, merge, purge=False)

    def _compact(self, table: Table, prefix: str, *, purge: bool) -> None:
        if self._transfers is not None:
            merge = partial(table.optimize, cleanup_older_than=NEVER)
            compact(table, self._upkeep, merge, purge=purge)
            prune(self._transfers, prefix, self._upkeep, all_old=purge)
        elif purge:
            merge = partial(keep_only_newest_version, table)
            compact(table, self._upkeep, merge, purge=True)
        else:
            age = self._prunable_age(prefix)
            merge = partial(table.optimize, cleanup_older_than=age)
            compact(table, self._upkeep, merge, purge=False)

    def _prunable_age(self, prefix: str) -> timedelta:
        times = []
        for file in self._list_manifests(prefix):
            if file.key.endswith(".manifest"):
                times.append(file.last_modified)
        return self._upkeep.prunable_age(times)

    def _list_manifests(self, prefix: str) -> Iterable[ObjectInfo]:
        return self._objects.list(f"{prefix}/{TABLE}.lance/{VERSIONS}")

    def _create(self, scope: Scope, grain: StoreName, model: str) -> Table:
        """Create an empty table under a claim, so that only one writer creates it.

        LanceDB lets a second creator overwrite the first one's table. A claim whose table
        does not appear belongs to a writer that died, and is taken over.
        Raises Contended: another writer is creating the table.
        """
        key = f"{store_prefix(scope, grain)}/{TABLE}.creator"
        claim = self._objects.get(key)
        if claim is not None:
            table = self._await_table(scope, grain)
            if table is not None:
                return table
        etag = claim.etag if claim else None
        if not self._objects.put_if(key, uuid4().bytes, etag):
            raise Contended(
                f"store {scope}/{grain}: another writer is making the table"
            )
        table = self.open_newest(scope, grain)
        if table is not None:
            return table
        table = new_table(self._connect(scope, grain), model)
        identity = self._read_identity(scope, grain)
        return self._keep(scope, grain, identity, table)

    def _await_table(self, scope: Scope, grain: StoreName) -> Table | None:
        """Wait up to 5 seconds for the table that another writer is creating."""
        for _ in range(CLAIM_WAITS):
            table = self.open_newest(scope, grain)
            if table is not None:
                return table
            sleep(CLAIM_WAIT_SECONDS)
        return None

    def _connect(self, scope: Scope, grain: StoreName) -> Any:
        uri = f"{self._root}/{store_prefix(scope, grain)}"
        return lancedb.connect(
            uri, storage_options=self._options, session=self._session
        )
