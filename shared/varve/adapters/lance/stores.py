"""Whole record stores: read with their vectors, and moved to another embedding model."""

import tempfile
from pathlib import Path
from typing import Any

import lancedb
import numpy as np
import pyarrow as pa
from lancedb.table import Table

from varve.adapters.exports.transfers import Transfers, Vanished
from varve.adapters.lance.copies import TableCopy
from varve.adapters.lance.errors import translate_errors
from varve.adapters.lance.keywords import require_index
from varve.adapters.lance.reader import LanceReader
from varve.adapters.lance.rows import (
    TABLE,
    TIME_ORDER,
    model_of,
    schema_for,
    to_record,
)
from varve.adapters.lance.tables import store_prefix
from varve.domain.embedding import dimensions_of
from varve.domain.errors import Contended
from varve.domain.identity import Scope
from varve.domain.record import EmbeddedRecord, StoreName
from varve.ports.objects import Objects
from varve.ports.transfer import Embed

MOVE_TRIES = 20

Content = tuple[str | None, list[EmbeddedRecord]]
"""A store's model, or None if nothing has been written, and its records."""


class LanceStores(LanceReader):
    """The StoreReader and VectorWriter ports.

    `move` works on a copy in `_directory`, also if the root is a directory. With LanceDB's
    own commit, the new rows could replace rows that another writer has committed meanwhile.
    """

    _objects: Objects
    _directory: Path

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
            ordered = rows.sort_by(TIME_ORDER).to_pylist()
            return model, list(map(_to_embedded, ordered))

        nothing: Content = (None, [])
        return self._read(scope, grain, read, nothing)

    def move(
        self, scope: Scope, grain: StoreName, model: str, embed: Embed
    ) -> int:
        store = store_prefix(scope, grain)
        transfers = Transfers(self._objects)
        with translate_errors(f"{scope}/{grain}"):
            for _ in range(MOVE_TRIES):
                moved = self._try_move(store, model, embed, transfers)
                if moved is not None:
                    return moved
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
