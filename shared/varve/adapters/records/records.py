"""Records in LanceDB: one database per agent and grain, one table in it, on a directory or on S3."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

import pyarrow.compute as pc

from varve.adapters.exports.transfers import Transfers
from varve.adapters.records.column_cache import ColumnCache
from varve.adapters.records.errors import FOREIGN, failed, translated
from varve.adapters.records.lean_import import without_rest_client
from varve.adapters.records.purge import delete_ids
from varve.adapters.records.replicas import Caching, ReplicatedTables
from varve.adapters.records.rows import (
    GIVES_WAY,
    RECORD_COLUMNS,
    filtered,
    model_of,
    scanned,
    to_arrow,
    to_record,
)
from varve.adapters.records.standing import Standing
from varve.adapters.records.tables import DirectTables, remake
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
from varve.ports.objects import Objects

if TYPE_CHECKING:  # a writer need not load what ranks
    from varve.domain.search.columns import Columns
    from varve.domain.search.outline import Outline

with without_rest_client():
    import lancedb
    from lancedb.expr import col, lit
    from lancedb.table import Table

INDEX_BYTES, METADATA_BYTES = 128 * 1024 * 1024, 64 * 1024 * 1024
"""What LanceDB may keep: a warm process may meet any number of agents. The vectors' codes of a million rows
are 85 MB, where words stand 35, and a search that has to read them again takes three times as long."""

T = TypeVar("T")


Open = Callable[[Scope, StoreName], Table | None]
"""The table of a store, or None where nothing has been written yet."""
Stand = Callable[[Scope, StoreName], Standing]
"""Where a store stands."""


class LanceReader:
    """MemoryReader over `vectordb/{workspace}/{agent}/{grain}/` as it stands; `newest` where that fails."""

    def __init__(self, stand: Stand, newest: Open, columns: ColumnCache) -> None:
        self._stand, self._newest, self._columns = stand, newest, columns

    def at(self, scope: Scope, stores: Sequence[StoreName] = GRAINS) -> "LanceReader":  # noqa: ARG002
        return self  # a view stays where it is

    def columns(self, scope: Scope, grain: Grain, *, model: str) -> "Outline":
        standing = self._stand(scope, grain)
        nothing: Outline = self._columns.nothing
        try:
            stands = standing.version()
        except FOREIGN as error:
            raise failed(f"{scope}/{grain}", error) from error
        if stands is None:
            return nothing
        version = (stands, model)  # the model is that of the rows: asked for once
        known = self._columns.get(scope, grain, version)
        if known is not None:
            return known
        from varve.adapters.records.columns import hold

        def run(table: Table) -> "Outline":
            held = hold(
                table, f"{scope}/{grain}", model, self._columns.newest(scope, grain)
            )
            self._columns.put(scope, grain, version, held)
            return held.columns

        return self._run(scope, grain, standing, run, nothing)

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
        from varve.adapters.records.columns import found
        from varve.adapters.records.outline import as_outlined

        def run(table: Table) -> "Columns":
            require_same_model(f"{scope}/{grain}", model_of(table), model)
            held = self._columns.newest(scope, grain)
            outline = as_outlined(table, model, held.columns if held else None)
            return found(
                table, f"{scope}/{grain}", outline, text, vector, where, limit, reach
            )

        return self._read(scope, grain, run, self._columns.nothing)

    def browse(
        self, scope: Scope, grain: StoreName, *, where: Filter, limit: int
    ) -> list[Record]:
        def run(table: Table) -> list[Record]:
            keys = ["id", "event_time", "position"]
            rows = scanned(filtered(table.search(), where).select(keys))
            order = [
                ("event_time", "descending"),
                ("position", "descending"),
                ("id", "ascending"),
            ]
            return _by_ids(table, rows.sort_by(order).column("id")[:limit].to_pylist())

        return self._read(scope, grain, run, [])

    def get(self, scope: Scope, grain: StoreName, ids: Sequence[str]) -> list[Record]:
        return self._read(scope, grain, lambda table: _by_ids(table, ids), [])

    def count(self, scope: Scope, grain: StoreName, *, where: Filter) -> int:
        def run(table: Table) -> int:
            if where == Filter():
                return int(table.count_rows())
            # count_rows takes SQL text only, and the text of an expression does not quote every value.
            return int(scanned(filtered(table.search(), where).select(["id"])).num_rows)

        return self._read(scope, grain, run, 0)

    def periods(self, scope: Scope, grain: StoreName) -> dict[str, int]:
        def run(table: Table) -> dict[str, int]:
            counts = (
                scanned(table.search().select(["period"]))
                .column("period")
                .value_counts()
            )
            return {pair["values"]: pair["counts"] for pair in counts.to_pylist()}

        return self._read(scope, grain, run, {})

    def in_period(
        self, scope: Scope, grain: StoreName, label: str, since: int = 0
    ) -> list[Record]:
        def run(table: Table) -> list[Record]:
            rows = (
                table.search()
                .where(col("period") == lit(label))
                .select(RECORD_COLUMNS)
                .limit(None)
            )
            records = [to_record(row) for row in rows.to_arrow().to_pylist()]
            return sorted(records, key=lambda r: (r.event_time, r.position, r.id))

        return self._read(scope, grain, run, [], since)

    def span(self, scope: Scope, grain: StoreName) -> tuple[datetime, datetime] | None:
        def run(table: Table) -> tuple[datetime, datetime] | None:
            times = scanned(table.search().select(["event_time"])).column("event_time")
            ends = pc.min_max(times).as_py()
            return (ends["min"], ends["max"]) if len(times) else None

        return self._read(scope, grain, run, None)

    def _read(
        self,
        scope: Scope,
        grain: StoreName,
        run: Callable[[Table], T],
        nothing: T,
        since: int = 0,
    ) -> T:
        return self._run(scope, grain, self._stand(scope, grain), run, nothing, since)

    def _run(
        self,
        scope: Scope,
        grain: StoreName,
        standing: Standing,
        run: Callable[[Table], T],
        nothing: T,
        since: int = 0,
    ) -> T:
        """Run where the store stands; where that vanished or is too old, once more on the newest version."""

        def read(table: Table | None) -> T:
            if since and (0 if table is None else table.version) < since:
                raise RuntimeError(
                    f"older than version {since}, which has been written"
                )
            return nothing if table is None else run(table)

        with translated(f"{scope}/{grain}"):
            try:
                return read(standing.table())
            except (RuntimeError, OSError, ValueError):
                return read(self._newest(scope, grain))


class LanceRecords(LanceReader):
    """MemoryReader and MemoryWriter; on S3 through replicas on this machine's disk."""

    def __init__(
        self,
        root: str,
        objects: Objects,
        storage_options: dict[str, str] | None = None,
        upkeep: Upkeep | None = None,
        caching: Caching | None = None,
    ) -> None:
        upkeep, caching = upkeep or Upkeep(), caching or Caching()
        session = lancedb.Session(INDEX_BYTES, METADATA_BYTES)
        self._stores: DirectTables | ReplicatedTables
        if root.startswith("s3://"):
            transfers = Transfers(objects)
            direct = DirectTables(
                root, objects, session, upkeep, storage_options, transfers
            )
            self._stores = ReplicatedTables(
                root, transfers, direct, session, upkeep, caching
            )
        else:
            self._stores = DirectTables(root, objects, session, upkeep)
        super().__init__(self._stores.standing, self._stores.newest, ColumnCache())

    @property
    def newest(self) -> Open:
        """What opens a store's table at its newest version."""
        return self._newest

    def at(self, scope: Scope, stores: Sequence[StoreName] = GRAINS) -> LanceReader:
        if isinstance(self._stores, DirectTables):
            return self
        with translated(str(scope)):
            standing = self._stores.at(scope, stores)

        def stand(asked: Scope, grain: StoreName) -> Standing:
            here = asked == scope and grain in standing
            return standing[grain] if here else self._stores.standing(asked, grain)

        return LanceReader(stand, self._newest, self._columns)

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
        newest: dict[str, EmbeddedRecord] = {}
        for embedded in records:
            known = newest.get(embedded.record.id)
            if known is None or known.record.gives_way_to(embedded.record):
                newest[embedded.record.id] = embedded

        def merge(table: Table) -> int:
            require_same_model(f"{scope}/{grain}", model_of(table), model)
            merge = (
                table.merge_insert("id")
                .when_matched_update_all(where=GIVES_WAY)
                .when_not_matched_insert_all()
            )
            merged = merge.execute(to_arrow(list(newest.values()), table.schema))
            return int(merged.num_inserted_rows + merged.num_updated_rows)

        with translated(f"{scope}/{grain}"):
            return self._stores.write(scope, grain, merge, model, purge=False)

    def delete_periods(
        self, scope: Scope, grain: StoreName, labels: Sequence[str]
    ) -> int:
        doomed = col("period").isin(list(labels)).to_sql()
        return self._delete(
            scope, grain, lambda table: int(table.delete(doomed).num_deleted_rows)
        )

    def delete(
        self,
        scope: Scope,
        grain: StoreName,
        ids: Sequence[str],
        known_by: datetime | None = None,
    ) -> int:
        return self._delete(
            scope, grain, lambda table: delete_ids(table, ids, known_by)
        )

    def _delete(
        self, scope: Scope, grain: StoreName, rows: Callable[[Table], int]
    ) -> int:
        def delete(table: Table) -> int:
            count = rows(table)
            # Even where nothing was left to delete, for the delivery before may have ended half-way.
            remake(table)
            return count

        with translated(f"{scope}/{grain}"):
            return self._stores.write(scope, grain, delete, None, purge=True).changed

    def finish(self) -> None:
        if isinstance(self._stores, ReplicatedTables):
            self._stores.finish()


def _by_ids(table: Table, ids: Sequence[str]) -> list[Record]:
    if not ids:
        return []
    wanted = (
        table.search()
        .where(col("id").isin(list(ids)))
        .select(RECORD_COLUMNS)
        .limit(None)
    )
    found = {row["id"]: to_record(row) for row in wanted.to_arrow().to_pylist()}
    return [found[id_] for id_ in ids if id_ in found]
