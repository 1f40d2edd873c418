"""Records in LanceDB: one database with one table for each agent and grain."""

from collections.abc import Callable, Sequence
from datetime import datetime
from time import sleep
from typing import TYPE_CHECKING, TypeVar

import pyarrow.compute as pc

from varve.adapters.exports.transfers import Transfers
from varve.adapters.records.cache_directory import Caching
from varve.adapters.records.column_cache import ColumnCache
from varve.adapters.records.errors import (
    FOREIGN,
    to_retryable,
    translate_commit_errors,
    translate_errors,
)
from varve.adapters.records.lean_import import without_rest_client
from varve.adapters.records.purge import delete_ids
from varve.adapters.records.replicas import ReplicatedTables
from varve.adapters.records.rows import (
    GIVES_WAY,
    RECORD_COLUMNS,
    apply_filter,
    model_of,
    read_all,
    read_by_ids,
    read_metadata,
    to_arrow,
    to_record,
)
from varve.adapters.records.table_handle import TableHandle
from varve.adapters.records.tables import DirectTables, rewrite
from varve.adapters.records.tallies import tally_rows
from varve.adapters.records.upkeep import Upkeep
from varve.domain.calendar import Grain
from varve.domain.embedding import require_same_model, require_vectors
from varve.domain.identity import Scope
from varve.domain.record import (
    GRAINS,
    EmbeddedRecord,
    Record,
    StoreName,
    Vector,
    Written,
)
from varve.domain.search.query import Filter
from varve.domain.tally import Tally, TallyColumn
from varve.ports.objects import Objects

if TYPE_CHECKING:  # a writer never loads the ranking modules
    from varve.domain.search.columns import Columns
    from varve.domain.search.outline import Outline

with without_rest_client():
    import lancedb
    from lancedb.expr import col, lit
    from lancedb.table import Table

INDEX_BYTES = 128 * 1024 * 1024
"""LanceDB's index cache: the vector codes of a million rows take 85 MB.

Keyword postings take 35 MB. A search that reads the codes again takes three times as long.
"""
METADATA_BYTES = 64 * 1024 * 1024
"""LanceDB's metadata cache, bounded because a warm process may serve many agents."""

DISTURBED = (RuntimeError, OSError, ValueError)
"""What LanceDB raises if a writer prunes the version that is being read."""
READ_WAITS = (0.01, 0.05, 0.2)
"""Seconds between the attempts to read a store: an erasure prunes it several times."""

T = TypeVar("T")

OpenTable = Callable[[Scope, StoreName], Table | None]
"""Opens a store's newest version; returns None if nothing has been written."""
FindTable = Callable[[Scope, StoreName], TableHandle]
"""Returns a handle on a store."""


class LanceReader:
    """The MemoryReader port over `vectordb/{workspace}/{agent}/{grain}/`.

    `find` gives the version to read; `open_newest` is the fallback if that read fails.
    """

    def __init__(
        self, find: FindTable, open_newest: OpenTable, columns: ColumnCache
    ) -> None:
        self._find = find
        self._open_newest = open_newest
        self._columns = columns

    def at(self, scope: Scope, stores: Sequence[StoreName] = GRAINS) -> "LanceReader":  # noqa: ARG002 - in the port
        return self  # already pinned to a version

    def columns(self, scope: Scope, grain: Grain, *, model: str) -> "Outline":
        handle = self._find(scope, grain)
        nothing: Outline = self._columns.nothing
        try:
            state = handle.version()
        except FOREIGN as error:
            raise to_retryable(f"{scope}/{grain}", error) from error
        if state is None:
            return nothing
        version = (state, model)  # the cached rows were checked for this model
        known = self._columns.get(scope, grain, version)
        if known is not None:
            return known
        from varve.adapters.records.columns import read_store

        def read(table: Table) -> "Outline":
            before = self._columns.newest(scope, grain)
            store = read_store(table, f"{scope}/{grain}", model, before)
            self._columns.put(scope, grain, version, store)
            return store.columns

        return self._read_from(handle, scope, grain, read, nothing)

    def candidates(
        self,
        scope: Scope,
        grain: Grain,
        *,
        text: str,
        vector: Vector,
        model: str,
        where: Filter,
        limit: int,
        reach: int,
    ) -> "Columns":
        from varve.adapters.records.columns import read_candidates
        from varve.adapters.records.outline import current_outline

        store = f"{scope}/{grain}"

        def read(table: Table) -> "Columns":
            require_same_model(store, model_of(table), model)
            cached = self._columns.newest(scope, grain)
            known = cached.columns if cached else None
            outline = current_outline(table, model, known)
            return read_candidates(
                table, store, outline, text, vector, where, limit, reach
            )

        return self._read(scope, grain, read, self._columns.nothing)

    def browse(
        self, scope: Scope, grain: StoreName, *, where: Filter, limit: int
    ) -> list[Record]:
        def read(table: Table) -> list[Record]:
            keys = ["id", "event_time", "position"]
            query = apply_filter(table.search(), where)
            rows = read_all(query.select(keys))
            order = [
                ("event_time", "descending"),
                ("position", "descending"),
                ("id", "ascending"),
            ]
            ids = rows.sort_by(order).column("id")
            newest = ids[:limit].to_pylist()
            return read_by_ids(table, newest)

        return self._read(scope, grain, read, [])

    def get(self, scope: Scope, grain: StoreName, ids: Sequence[str]) -> list[Record]:
        return self._read(scope, grain, lambda table: read_by_ids(table, ids), [])

    def count(self, scope: Scope, grain: StoreName, *, where: Filter) -> int:
        def read(table: Table) -> int:
            if where == Filter():
                return int(table.count_rows())
            # count_rows takes only SQL, and an expression's SQL does not quote every value.
            query = apply_filter(table.search(), where)
            ids = read_all(query.select(["id"]))
            return int(ids.num_rows)

        return self._read(scope, grain, read, 0)

    def read_metadata(self, scope: Scope, grain: StoreName) -> dict[str, str]:
        return self._read(scope, grain, read_metadata, {})

    def periods(self, scope: Scope, grain: StoreName) -> dict[str, int]:
        def read(table: Table) -> dict[str, int]:
            rows = read_all(table.search().select(["period"]))
            counts = rows.column("period").value_counts().to_pylist()
            return {pair["values"]: pair["counts"] for pair in counts}

        return self._read(scope, grain, read, {})

    def tally(
        self,
        scope: Scope,
        grain: StoreName,
        by: Sequence[TallyColumn],
        *,
        where: Filter,
    ) -> list[Tally]:
        return self._read(scope, grain, lambda t: tally_rows(t, by, where), [])

    def in_period(
        self, scope: Scope, grain: StoreName, label: str, since: int = 0
    ) -> list[Record]:
        def read(table: Table) -> list[Record]:
            query = table.search().where(col("period") == lit(label))
            rows = query.select(RECORD_COLUMNS).limit(None).to_arrow()
            records = [to_record(row) for row in rows.to_pylist()]
            return sorted(records, key=lambda r: (r.event_time, r.position, r.id))

        return self._read(scope, grain, read, [], since)

    def span(self, scope: Scope, grain: StoreName) -> tuple[datetime, datetime] | None:
        def read(table: Table) -> tuple[datetime, datetime] | None:
            rows = read_all(table.search().select(["event_time"]))
            if not rows.num_rows:
                return None
            ends = pc.min_max(rows.column("event_time")).as_py()
            return ends["min"], ends["max"]

        return self._read(scope, grain, read, None)

    def _read(
        self,
        scope: Scope,
        grain: StoreName,
        read: Callable[[Table], T],
        nothing: T,
        since: int = 0,
    ) -> T:
        """Read a store; return `nothing` if nothing has been written."""
        handle = self._find(scope, grain)
        return self._read_from(handle, scope, grain, read, nothing, since)

    def _read_from(
        self,
        handle: TableHandle,
        scope: Scope,
        grain: StoreName,
        read: Callable[[Table], T],
        nothing: T,
        since: int = 0,
    ) -> T:
        """Read the handle's version; if it vanished or is too old, read the newest.

        Raises Retryable: the newest version fails too, or is older than `since`.
        """

        def read_version(table: Table | None) -> T:
            version = 0 if table is None else table.version
            if version < since:
                raise RuntimeError(
                    f"older than version {since}, which has been written"
                )
            return nothing if table is None else read(table)

        with translate_errors(f"{scope}/{grain}"):
            try:
                return read_version(handle.open())
            except DISTURBED:
                return self._read_newest(scope, grain, read_version)

    def _read_newest(
        self, scope: Scope, grain: StoreName, read: Callable[[Table | None], T]
    ) -> T:
        """Read the newest version; again if a writer deletes it meanwhile."""
        for wait in READ_WAITS:
            try:
                return read(self._open_newest(scope, grain))
            except DISTURBED:
                sleep(wait)
        return read(self._open_newest(scope, grain))


class LanceRecords(LanceReader):
    """The MemoryReader and MemoryWriter ports; S3 roots use replicas on local disk."""

    def __init__(
        self,
        root: str,
        objects: Objects,
        storage_options: dict[str, str] | None = None,
        upkeep: Upkeep | None = None,
        caching: Caching | None = None,
    ) -> None:
        upkeep = upkeep or Upkeep()
        session = lancedb.Session(INDEX_BYTES, METADATA_BYTES)
        self._stores: DirectTables | ReplicatedTables
        if root.startswith("s3://"):
            transfers = Transfers(objects)
            direct = DirectTables(
                root, objects, session, upkeep, storage_options, transfers
            )
            self._stores = ReplicatedTables(
                root, transfers, direct, session, upkeep, caching or Caching()
            )
        else:
            self._stores = DirectTables(root, objects, session, upkeep)
        super().__init__(self._stores.handle, self._stores.open_newest, ColumnCache())

    @property
    def newest(self) -> OpenTable:
        """Opens a store's table at its newest version."""
        return self._open_newest

    def at(self, scope: Scope, stores: Sequence[StoreName] = GRAINS) -> LanceReader:
        if isinstance(self._stores, DirectTables):
            return self
        with translate_errors(str(scope)):
            handles = self._stores.handles(scope, stores)

        def find(asked: Scope, grain: StoreName) -> TableHandle:
            if asked == scope and grain in handles:
                return handles[grain]
            return self._stores.handle(asked, grain)

        return LanceReader(find, self._open_newest, self._columns)

    def expect(self, scope: Scope, grain: StoreName) -> None:
        if isinstance(self._stores, ReplicatedTables):
            self._stores.expect(scope, grain)

    def upsert(
        self,
        scope: Scope,
        grain: StoreName,
        records: Sequence[EmbeddedRecord],
        model: str,
    ) -> Written:
        require_vectors(records, model)
        newest = _newest_by_id(records)

        def merge(table: Table) -> int:
            require_same_model(f"{scope}/{grain}", model_of(table), model)
            builder = table.merge_insert("id").when_matched_update_all(where=GIVES_WAY)
            rows = to_arrow(newest, table.schema)
            merged = builder.when_not_matched_insert_all().execute(rows)
            return int(merged.num_inserted_rows + merged.num_updated_rows)

        with translate_commit_errors(f"{scope}/{grain}"):
            return self._stores.write(scope, grain, merge, model, purge=False)

    def compact(self, scope: Scope, grain: StoreName) -> None:
        with translate_commit_errors(f"{scope}/{grain}"):
            self._stores.compact(scope, grain)

    def delete_periods(
        self, scope: Scope, grain: StoreName, labels: Sequence[str]
    ) -> int:
        doomed = col("period").isin(list(labels)).to_sql()

        def delete(table: Table) -> int:
            return int(table.delete(doomed).num_deleted_rows)

        return self._purge(scope, grain, delete)

    def delete(
        self,
        scope: Scope,
        grain: StoreName,
        ids: Sequence[str],
        known_by: datetime | None = None,
    ) -> int:
        return self._purge(scope, grain, lambda table: delete_ids(table, ids, known_by))

    def _purge(
        self, scope: Scope, grain: StoreName, delete: Callable[[Table], int]
    ) -> int:
        """Delete rows and all their bytes; return how many rows were deleted."""

        def purge(table: Table) -> int:
            deleted = delete(table)
            # Rewrite even if no row is left: an earlier delivery may have failed half-way.
            rewrite(table)
            return deleted

        with translate_commit_errors(f"{scope}/{grain}"):
            written = self._stores.write(scope, grain, purge, None, purge=True)
        return written.changed

    def finish(self) -> None:
        if isinstance(self._stores, ReplicatedTables):
            self._stores.finish()


def _newest_by_id(records: Sequence[EmbeddedRecord]) -> list[EmbeddedRecord]:
    """Return one record for each id: the one that the others give way to."""
    newest: dict[str, EmbeddedRecord] = {}
    for embedded in records:
        record = embedded.record
        known = newest.get(record.id)
        if known is None or known.record.gives_way_to(record):
            newest[record.id] = embedded
    return list(newest.values())
