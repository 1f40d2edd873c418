"""The records of a root: LanceDB's tables, with caches for their readers."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from lancedb.table import Table

from varve.adapters.lance.errors import translate_errors
from varve.adapters.lance.reader import (
    FindTable,
    LanceReader,
    OpenTable,
    TableHandle,
)
from varve.adapters.lance.rows import model_of
from varve.adapters.lance.stores import LanceStores
from varve.adapters.lance.tables import Tables
from varve.adapters.lance.upkeep import Upkeep
from varve.adapters.lance.writer import LanceWriter
from varve.adapters.lance_cache.cache_directory import Caching
from varve.adapters.lance_cache.column_cache import ColumnCache
from varve.adapters.lance_cache.replicas import Replicas
from varve.adapters.lance_cache.version_watch import watched_tables
from varve.domain.embedding import require_same_model
from varve.domain.identity import Scope
from varve.domain.record import GRAINS, StoreName, Vector
from varve.domain.search.query import Filter
from varve.ports.meter import Meter
from varve.ports.objects import Objects

if TYPE_CHECKING:  # a writer never loads the ranking modules
    from varve.adapters.lance.outline import StoredOutline
    from varve.domain.search.columns import Columns
    from varve.domain.search.outline import Outline


@cache
def no_columns() -> "Columns":
    """Return the columns of a store without records."""
    from varve.domain.search.columns import columns_of

    return columns_of([])


class CachingReader(LanceReader):
    """The MemoryReader port: keeps the columns of stores in memory."""

    def __init__(
        self, find: FindTable, open_newest: OpenTable, cache: ColumnCache
    ) -> None:
        super().__init__(find, open_newest)
        self._cache = cache

    def at(  # the parameters are the port's
        self,
        scope: Scope,  # noqa: ARG002
        stores: Sequence[StoreName] = GRAINS,  # noqa: ARG002
    ) -> "CachingReader":
        return self  # already pinned to a version

    def columns(
        self, scope: Scope, grain: StoreName, *, model: str
    ) -> "Outline":
        handle = self._find(scope, grain)
        with translate_errors(f"{scope}/{grain}"):
            version = handle.version()
        if version is None:
            return no_columns()
        before = self._cache.get(scope, grain)
        if before and before.version == version and before.model == model:
            return before.columns
        from varve.adapters.lance_cache.columns import read_store

        def read(table: Table) -> "Outline":
            store = read_store(table, f"{scope}/{grain}", model, before)
            self._cache.put(scope, grain, replace(store, version=version))
            return store.columns

        nothing: Outline = no_columns()
        return self._read(scope, grain, read, nothing, handle=handle)

    def candidates(
        self,
        scope: Scope,
        grain: StoreName,
        *,
        text: str,
        vector: Vector,
        model: str,
        where: Filter,
        limit: int,
        reach: int,
    ) -> "Columns":
        from varve.adapters.lance_cache.columns import read_candidates

        def read(table: Table, outline: "StoredOutline") -> "Columns":
            return read_candidates(
                table, outline, text, vector, where, limit, reach
            )

        return self._read_by_outline(scope, grain, model, read)

    def columns_of_users(
        self,
        scope: Scope,
        grain: StoreName,
        *,
        users: Sequence[str | None],
        model: str,
    ) -> "Columns":
        from varve.adapters.lance_cache.columns import read_users

        def read(table: Table, outline: "StoredOutline") -> "Columns":
            return read_users(table, outline, users)

        return self._read_by_outline(scope, grain, model, read)

    def _read_by_outline(
        self,
        scope: Scope,
        grain: StoreName,
        model: str,
        read: "Callable[[Table, StoredOutline], Columns]",
    ) -> "Columns":
        """Read rows of a store from the table and its outline of the same version."""
        from varve.adapters.lance.outline import current_outline

        def read_table(table: Table) -> "Columns":
            require_same_model(f"{scope}/{grain}", model_of(table), model)
            cached = self._cache.get(scope, grain)
            known = cached.columns if cached else None
            return read(table, current_outline(table, known))

        return self._read(scope, grain, read_table, no_columns())


class LanceRecords(CachingReader, LanceStores, LanceWriter):
    """The ports to the records of a root; readers of S3 roots use replicas."""

    def __init__(
        self,
        root: str,
        objects: Objects,
        storage_options: dict[str, str] | None = None,
        upkeep: Upkeep | None = None,
        caching: Caching | None = None,
        meter: Meter | None = None,
    ) -> None:
        caching = caching or Caching()
        tables = Tables(
            root,
            objects,
            upkeep or Upkeep(),
            caching.directory,
            storage_options,
            meter,
        )
        LanceWriter.__init__(self, tables)
        self._objects = objects
        self._directory = caching.directory
        self._replicas: Replicas | None = None
        newest: OpenTable = tables.open_newest
        find: FindTable = watched_tables(root, newest)
        if root.startswith("s3://"):
            self._replicas = Replicas(objects, tables, caching)
            newest = self._replicas.open_newest
            find = self._replicas.handle
        CachingReader.__init__(self, find, newest, ColumnCache())

    def at(
        self, scope: Scope, stores: Sequence[StoreName] = GRAINS
    ) -> CachingReader:
        if self._replicas is None:
            return self
        with translate_errors(str(scope)):
            handles = self._replicas.handles(scope, stores)

        def find(asked: Scope, grain: StoreName) -> TableHandle:
            if asked == scope and grain in handles:
                return handles[grain]
            return self._find(asked, grain)

        return CachingReader(find, self.open_newest, self._cache)
