"""The outline of a store too large to hold: where its rows lie, and what is short about them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from varve.adapters.records.layout import ADDRESS, Addresses
from varve.adapters.records.lean_import import without_rest_client
from varve.adapters.records.rows import scanned
from varve.domain.search.lexical import Spots
from varve.domain.search.outline import TYPES, Codes, Outline

with without_rest_client():
    from lancedb.table import Table

SHORT = (
    "memory_type", "period", "event_time", "conversation_id", "user_id", "about", "importance", "position",
)  # fmt: skip
"""What an outline has of a row."""


@dataclass(frozen=True, eq=False)
class Located(Outline):
    """The outline of a table at one version, in the table's order; `addresses` lead to its rows."""

    addresses: Addresses
    version: int
    model: str

    def rows_at(self, addresses: Addresses) -> Spots:
        """The rows that lie there. Raises RuntimeError: there are others."""
        order = self._by_address
        found: Spots = order[
            np.searchsorted(self.addresses, addresses, sorter=order).clip(
                max=len(self) - 1
            )
        ]
        if not np.array_equal(self.addresses[found], addresses):
            raise RuntimeError("the table has other rows than its outline")
        return found

    @cached_property
    def _by_address(self) -> Spots:
        return np.argsort(self.addresses, kind="stable")


def as_outlined(table: Table, model: str, known: Outline | None) -> Located:
    """What is known if that is the table's outline as it stands, or the one read anew."""
    if (
        isinstance(known, Located)
        and known.model == model
        and known.version == table.version
    ):
        return known
    return outlined(table, model, known)


def outlined(table: Table, model: str, before: Outline | None) -> Located:
    """The table's outline; of what `before` has of it, where nothing has gone since, only the rest is read.

    Raises RuntimeError: somebody has written meanwhile.
    """
    version = int(table.version)
    addresses = scanned(table.search().select([ADDRESS]))[ADDRESS].to_numpy()
    known = before if isinstance(before, Located) and before.model == model else None
    if known is not None and not np.array_equal(
        known.addresses, addresses[: len(known)]
    ):
        known = None
    first = 0 if known is None else len(known)
    rows = scanned(table.search().select([*SHORT]).with_row_id(True).offset(first))
    if not np.array_equal(rows[ADDRESS].to_numpy(), addresses[first:]):
        raise RuntimeError("the table was written to while its outline was read")
    read = short_columns(rows)
    del rows
    pa.default_memory_pool().release_unused()  # which it would keep, more than the outline takes
    if known is not None:
        read = {
            name: _below(column, read[name]) for name, column in known.short().items()
        }
    return Located(**read, addresses=addresses, version=version, model=model)


def short_columns(rows: pa.Table) -> dict[str, Any]:
    """An outline's columns, of rows that have what is `SHORT`."""
    return {
        "types": _types(rows["memory_type"]),
        "periods": _codes(rows["period"]),
        "conversations": _codes(rows["conversation_id"]),
        "users": _codes(rows["user_id"]),
        "speakers": _codes(rows["about"]),
        "positions": rows["position"].to_numpy().astype(np.int32),
        "event_times": rows["event_time"].cast(pa.int64()).to_numpy(),
        "importances": rows["importance"].to_numpy().astype(np.float32),
    }


def _below(known: Any, more: Any) -> Any:
    return (
        known.followed_by(more)
        if isinstance(known, Codes)
        else np.concatenate((known, more))
    )


def _types(column: pa.ChunkedArray) -> np.ndarray[Any, np.dtype[np.int8]]:
    names = pa.array([str(one) for one in TYPES])
    codes: np.ndarray[Any, np.dtype[np.int8]] = (
        pc.index_in(column, value_set=names).to_numpy().astype(np.int8)
    )
    return codes


def _codes(column: pa.ChunkedArray) -> Codes:
    encoded = column.combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    of = (
        pc.fill_null(encoded.indices, -1)
        .to_numpy(zero_copy_only=False)
        .astype(np.int32)
    )
    return Codes(of, encoded.dictionary.to_pylist())
