"""Whole record stores: read with their vectors, and moved to another embedding model."""

import tempfile
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from varve.adapters.exports.transfers import Transfers, Vanished
from varve.adapters.lance.copies import TableCopy
from varve.adapters.lance.errors import to_retryable
from varve.adapters.lance.keywords import require_index
from varve.adapters.lance.lean_import import without_rest_client
from varve.adapters.lance.reader import LanceReader, OpenTable, TableHandle
from varve.adapters.lance.rows import TABLE, model_of, schema_for, to_record
from varve.adapters.lance.tables import store_prefix
from varve.domain.embedding import dimensions_of
from varve.domain.errors import Contended
from varve.domain.identity import Scope
from varve.domain.record import EmbeddedRecord, StoreName
from varve.ports.objects import Objects
from varve.ports.transfer import Embed

with without_rest_client():
    import lancedb
    from lancedb.table import Table

MOVE_TRIES = 20

Content = tuple[str | None, list[EmbeddedRecord]]
"""A store's model, or None if nothing has been written, and its records."""


class LanceStores(LanceReader):
    """The StoreReader and VectorWriter ports over the tables that `open_newest` opens.

    `move` works on a copy in `directory`, also if the root is a directory. With LanceDB's
    own commit, the new rows could replace rows that another writer has committed meanwhile.
    """

    def __init__(
        self, open_newest: OpenTable, objects: Objects, directory: Path
    ) -> None:
        def find(scope: Scope, grain: StoreName) -> TableHandle:
            return TableHandle.opening(partial(open_newest, scope, grain))

        super().__init__(find, open_newest)
        self._objects = objects
        self._directory = directory

    def model(self, scope: Scope, grain: StoreName) -> str | None:
        return self._read(scope, grain, model_of, None)

    def embedded(self, scope: Scope, grain: StoreName) -> Content:
        def read(table: Table) -> Content:
            model = model_of(table)
            rows = table.search().limit(None).to_arrow()
            if model_of(table) != model:
                raise RuntimeError(
                    "the store has moved to another model meanwhile"
                )
            records = map(_to_embedded, rows.to_pylist())
            return model, sorted(records, key=_time_order)

        nothing: Content = (None, [])
        return self._read(scope, grain, read, nothing)

    def move(
        self, scope: Scope, grain: StoreName, model: str, embed: Embed
    ) -> int:
        store = store_prefix(scope, grain)
        transfers = Transfers(self._objects)
        try:
            for _ in range(MOVE_TRIES):
                moved = self._try_move(store, model, embed, transfers)
                if moved is not None:
                    return moved
        except (RuntimeError, OSError) as error:
            raise to_retryable(f"{scope}/{grain}", error) from error
        raise Contended(
            f"store {scope}/{grain}: {MOVE_TRIES} other commits came first"
        )

    def _try_move(
        self, store: str, model: str, embed: Embed, transfers: Transfers
    ) -> int | None:
        """Return how many records were moved, or None if another commit came first."""
        self._directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(
            prefix="varve-move-", dir=self._directory
        ) as home:
            copy = TableCopy(store, Path(home), transfers)
            try:
                if not copy.pull():
                    return 0
            except Vanished:
                return None
            table = lancedb.connect(home).open_table(TABLE)
            moved = _reembed(table, model, embed)
            is_done = copy.publish() and copy.is_newest()
            return moved if is_done else None


def _reembed(table: Table, model: str, embed: Embed) -> int:
    """Replace the table's vectors, unless they are of this model; return how many."""
    moved = 0
    if model_of(table) != model:
        before = table.search().limit(None).to_arrow()
        table.add(_replace_vectors(model, before, embed), mode="overwrite")
        moved = len(before)
    require_index(table)
    return moved


def _replace_vectors(model: str, rows: pa.Table, embed: Embed) -> pa.Table:
    """Return the rows with the vectors of another model."""
    schema = schema_for(model)
    texts = rows.drop_columns(["vector"])
    records = [to_record(row) for row in texts.to_pylist()]
    vectors = np.asarray(embed(records), dtype=np.float16).reshape(-1)
    column = pa.FixedSizeListArray.from_arrays(
        pa.array(vectors, pa.float16()), dimensions_of(model)
    )
    index = rows.schema.get_field_index("vector")
    replaced = rows.set_column(index, schema.field("vector"), column)
    return replaced.select(schema.names).cast(schema)


def _to_embedded(row: dict[str, Any]) -> EmbeddedRecord:
    vector = np.asarray(row["vector"], dtype=np.float32)
    return EmbeddedRecord(to_record(row), vector)


def _time_order(embedded: EmbeddedRecord) -> tuple[datetime, int, str]:
    record = embedded.record
    return record.event_time, record.position, record.id
