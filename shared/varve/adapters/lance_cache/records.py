"""The records of a root: LanceDB's tables, with caches for their readers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from varve.adapters.lance.errors import FOREIGN, to_retryable, translate_errors
from varve.adapters.lance.lean_import import without_rest_client
from varve.adapters.lance.reader import (
    FindTable,
    LanceReader,
    OpenTable,
    TableHandle,
)
from varve.adapters.lance.rows import model_of
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
    from varve.domain.search.columns import Columns
    from varve.domain.search.outline import Outline

with without_rest_client():
    from lancedb.table import Table


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
        nothing: Outline = self._cache.nothing
        try:
            state = handle.version()
        except FOREIGN as error:
            raise to_retryable(f"{scope}/{grain}", error) from error
        if state is None:
            return nothing
        version = (state, model)  # the cached rows were checked for this model
        known = self._cache.get(scope, grain, version)
        if known is not None:
            return known
        from varve.adapters.lance_cache.columns import read_store

        def read(table: Table) -> "Outline":
            before = self._cache.newest(scope, grain)
            store = read_store(table, f"{scope}/{grain}", model, before)
            self._cache.put(scope, grain, version, store)
            return store.columns

        return self._read_from(handle, scope, grain, read, nothing)

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
        from varve.adapters.lance.outline import current_outline
        from varve.adapters.lance_cache.columns import read_candidates

        store = f"{scope}/{grain}"

        def read(table: Table) -> "Columns":
            require_same_model(store, model_of(table), model)
            cached = self._cache.newest(scope, grain)
            known = cached.columns if cached else None
            outline = current_outline(table, model, known)
            return read_candidates(
                table, store, outline, text, vector, where, limit, reach
            )

        return self._read(scope, grain, read, self._cache.nothing)


class LanceRecords(CachingReader, LanceWriter):
    """The MemoryReader and MemoryWriter ports; readers of S3 roots use replicas."""

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
        self._replicas: Replicas | None = None
        newest: OpenTable = tables.open_newest
        find: FindTable = watched_tables(root, newest)
        if root.startswith("s3://"):
            self._replicas = Replicas(root, objects, tables, caching, meter)
            newest = self._replicas.open_newest
            find = self._replicas.handle
        CachingReader.__init__(self, find, newest, ColumnCache())

    @property
    def newest(self) -> OpenTable:
        """Opens a store's table at its newest version."""
        return self._open_newest

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

        return CachingReader(find, self._open_newest, self._cache)
