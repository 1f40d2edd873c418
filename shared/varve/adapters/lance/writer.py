"""Writing of records with LanceDB, in a directory or on S3."""

from collections.abc import Callable, Sequence
from datetime import datetime

from varve.adapters.lance.errors import translate_commit_errors
from varve.adapters.lance.lean_import import without_rest_client
from varve.adapters.lance.purge import delete_ids
from varve.adapters.lance.rows import GIVES_WAY, model_of, to_arrow
from varve.adapters.lance.tables import Tables
from varve.domain.embedding import require_same_model, require_vectors
from varve.domain.identity import Scope
from varve.domain.record import EmbeddedRecord, StoreName, Written

with without_rest_client():
    from lancedb.expr import col
    from lancedb.table import Table


class LanceWriter:
    """The MemoryWriter port over `vectordb/{workspace}/{agent}/{grain}/`."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def expect(self, scope: Scope, grain: StoreName) -> None:
        self._tables.expect(scope, grain)

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
            builder = table.merge_insert("id").when_matched_update_all(
                where=GIVES_WAY
            )
            rows = to_arrow(newest, table.schema)
            merged = builder.when_not_matched_insert_all().execute(rows)
            return int(merged.num_inserted_rows + merged.num_updated_rows)

        with translate_commit_errors(f"{scope}/{grain}"):
            return self._tables.write(scope, grain, merge, model, purge=False)

    def compact(self, scope: Scope, grain: StoreName) -> None:
        with translate_commit_errors(f"{scope}/{grain}"):
            self._tables.compact(scope, grain)

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
        return self._purge(
            scope, grain, lambda table: delete_ids(table, ids, known_by)
        )

    def _purge(
        self, scope: Scope, grain: StoreName, delete: Callable[[Table], int]
    ) -> int:
        """Delete rows and all their bytes; return how many rows were deleted."""
        with translate_commit_errors(f"{scope}/{grain}"):
            written = self._tables.write(
                scope, grain, delete, None, purge=True
            )
        return written.changed

    def finish(self) -> None:
        self._tables.finish()


def _newest_by_id(records: Sequence[EmbeddedRecord]) -> list[EmbeddedRecord]:
    """Return one record for each id: the one that the others give way to."""
    newest: dict[str, EmbeddedRecord] = {}
    for embedded in records:
        record = embedded.record
        known = newest.get(record.id)
        if known is None or known.record.gives_way_to(record):
            newest[record.id] = embedded
    return list(newest.values())
