"""Record stores as a whole: read out with their vectors, and put under another embedding model."""

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from varve.adapters.exports.transfers import Transfers, Vanished
from varve.adapters.records.column_cache import ColumnCache
from varve.adapters.records.lean_import import without_rest_client
from varve.adapters.records.records import LanceReader, Open
from varve.adapters.records.replica import Replica
from varve.adapters.records.rows import model_of, schema_for, to_record
from varve.adapters.records.standing import Standing
from varve.adapters.records.tables import require_index, store_prefix
from varve.adapters.records.upkeep import look
from varve.domain.embedding import dimensions_of
from varve.domain.errors import Retryable
from varve.domain.identity import Scope
from varve.domain.record import EmbeddedRecord, StoreName
from varve.ports.objects import Objects
from varve.ports.transfer import Embed

with without_rest_client():
    import lancedb
    from lancedb.table import Table

TRIES = 20


class LanceStores(LanceReader):
    """StoreReader and VectorWriter over the tables that `newest` opens.

    A store is moved in a copy in `directory` and committed by a conditional put of the next version, in a
    root that is a directory as well: LanceDB itself would let new rows replace the rows that another
    writer has committed meanwhile.
    """

    def __init__(self, newest: Open, objects: Objects, directory: Path) -> None:
        super().__init__(
            lambda *store: Standing.of(partial(newest, *store)), newest, ColumnCache()
        )
        self._objects, self._directory = objects, directory

    def model(self, scope: Scope, grain: StoreName) -> str | None:
        return self._read(scope, grain, model_of, None)

    def embedded(
        self, scope: Scope, grain: StoreName
    ) -> tuple[str | None, list[EmbeddedRecord]]:
        def run(table: Table) -> tuple[str | None, list[EmbeddedRecord]]:
            model, rows = model_of(table), table.search().limit(None).to_arrow()
            if model_of(table) != model:
                raise RuntimeError("the store has moved to another model meanwhile")
            found = [
                EmbeddedRecord(to_record(row), _vector(row)) for row in rows.to_pylist()
            ]
            return model, sorted(
                found,
                key=lambda e: (e.record.event_time, e.record.position, e.record.id),
            )

        nothing: tuple[str | None, list[EmbeddedRecord]] = (None, [])
        return self._read(scope, grain, run, nothing)

    def move(self, scope: Scope, grain: StoreName, model: str, embed: Embed) -> int:
        store = store_prefix(scope, grain)
        transfers = Transfers(self._objects)
        try:
            for _ in range(TRIES):
                moved = self._moved(store, model, embed, transfers)
                if moved is not None:
                    return moved
        except (RuntimeError, OSError) as error:
            raise Retryable(
                f"store {scope}/{grain}: {type(error).__name__} in LanceDB"
            ) from error
        finally:
            transfers.finish()
        raise Retryable(f"store {scope}/{grain}: {TRIES} other commits came first")

    def _moved(
        self, store: str, model: str, embed: Embed, transfers: Transfers
    ) -> int | None:
        """How many records were moved; None: another commit came first."""
        self._directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(
            prefix="varve-move-", dir=self._directory
        ) as home:
            replica = Replica(store, Path(home), transfers, lancedb.Session())
            listing = look(self._objects, store)
            if not listing.newest:
                return 0
            try:
                while missing := replica.missing(listing):
                    transfers.download(missing)
                    replica.fetched(missing)
                replica.settle(listing)
            except Vanished:
                return None
            table: Any = replica.table
            if model_of(table) == model:
                return 0
            rows = _under(model, table.search().limit(None).to_arrow(), embed)
            table.add(rows, mode="overwrite")
            require_index(table)
            # Embedding takes its time: others may have committed, and pruned, beyond this version's number.
            committed = (
                replica.commit()
                and look(self._objects, store).newest == replica.version
            )
            return len(rows) if committed else None


def _under(model: str, rows: pa.Table, embed: Embed) -> pa.Table:
    """The rows with the vectors of another model."""
    schema = schema_for(model)
    records = [to_record(row) for row in rows.drop_columns(["vector"]).to_pylist()]
    vectors = np.asarray(embed(records), dtype=np.float16).reshape(-1)
    column = pa.FixedSizeListArray.from_arrays(
        pa.array(vectors, pa.float16()), dimensions_of(model)
    )
    place = rows.schema.get_field_index("vector")
    return (
        rows.set_column(place, schema.field("vector"), column)
        .select(schema.names)
        .cast(schema)
    )


def _vector(row: dict[str, Any]) -> Any:
    return np.asarray(row["vector"], dtype=np.float32)
