"""Writing of records with LanceDB, in a directory or on S3."""

from collections.abc import Sequence
from datetime import UTC, datetime

from lancedb.expr import Expr, col, lit
from lancedb.table import Table

from varve.adapters.lance.rows import GIVES_WAY, model_of, to_arrow
from varve.adapters.lance.tables import Tables
from varve.domain.embedding import require_same_model, require_vectors
from varve.domain.identity import Scope
from varve.domain.record import EmbeddedRecord, StoreName, Written


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

        return self._tables.write(scope, grain, merge, model)

    def compact(self, scope: Scope, grain: StoreName) -> None:
        self._tables.compact(scope, grain)

    def delete_periods(
        self, scope: Scope, grain: StoreName, labels: Sequence[str]
    ) -> int:
        return self._purge(scope, grain, col("period").isin(list(labels)))

    def delete(
        self,
        scope: Scope,
        grain: StoreName,
        ids: Sequence[str],
        known_by: datetime | None = None,
    ) -> int:
        # No record has an empty id; SQL knows no empty list.
        doomed = col("id").isin(list(ids) or [""])
        if known_by is not None:
            doomed &= col("created_at") <= lit(known_by.astimezone(UTC))
        return self._purge(scope, grain, doomed)

    def _purge(self, scope: Scope, grain: StoreName, doomed: Expr) -> int:
        """Delete rows and all their bytes; return how many rows were deleted."""

        def delete(table: Table) -> int:
            return int(table.delete(doomed.to_sql()).num_deleted_rows)

        return self._tables.purge(scope, grain, delete)


def _newest_by_id(records: Sequence[EmbeddedRecord]) -> list[EmbeddedRecord]:
    """Return one record for each id: the one that the others give way to."""
    newest: dict[str, EmbeddedRecord] = {}
    for embedded in records:
        record = embedded.record
        known = newest.get(record.id)
        if known is None or known.record.gives_way_to(record):
            newest[record.id] = embedded
    return list(newest.values())
