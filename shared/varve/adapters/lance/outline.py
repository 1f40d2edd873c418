"""The outline of a store too large to cache: row addresses and the short columns."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from lancedb.table import Table

from varve.adapters.lance.rows import ADDRESS, Addresses, read_all
from varve.domain.record import MemoryType
from varve.domain.search.lexical import Spots
from varve.domain.search.outline import LINK_SEPARATOR, TYPES, Codes, Outline

SHORT = (
    "memory_type",
    "period",
    "event_time",
    "conversation_id",
    "user_id",
    "about",
    "importance",
    "position",
    "source_fingerprints",
)
"""The columns of a row that an outline has."""

TypeCodes = npt.NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class StoredOutline(Outline):
    """The outline of a table at one version, in table order, with the rows' addresses."""

    addresses: Addresses
    version: int

    def rows_at(self, addresses: Addresses) -> Spots:
        """Return the numbers of the rows at these addresses.

        Raises RuntimeError: the outline does not have all of them.
        """
        order = self._by_address
        places = np.searchsorted(self.addresses, addresses, sorter=order)
        found: Spots = order[places.clip(max=len(self) - 1)]
        if not np.array_equal(self.addresses[found], addresses):
            raise RuntimeError("the table has other rows than its outline")
        return found

    @cached_property
    def _by_address(self) -> Spots:
        return np.argsort(self.addresses, kind="stable")


def current_outline(table: Table, known: Outline | None) -> StoredOutline:
    """Return `known` if it is the outline of the table's version, else read it."""
    if isinstance(known, StoredOutline) and known.version == table.version:
        return known
    return read_outline(table)


def read_outline(table: Table) -> StoredOutline:
    """Read the table's outline."""
    version = int(table.version)
    rows = read_all(table.search().with_row_id(True).select([*SHORT]))
    addresses = rows[ADDRESS].to_numpy()
    columns = short_columns(rows)
    del rows
    release_memory()
    return StoredOutline(**columns, addresses=addresses, version=version)


def release_memory() -> None:
    """Return Arrow's unused memory, which is more than the columns themselves take."""
    pa.default_memory_pool().release_unused()


def short_columns(rows: pa.Table) -> dict[str, Any]:
    """Return an outline's columns from rows that have the `SHORT` columns."""
    return {
        "types": _type_codes(rows["memory_type"]),
        "periods": _codes(rows["period"]),
        "conversations": _codes(rows["conversation_id"]),
        "users": _codes(rows["user_id"]),
        "speakers": _codes(rows["about"]),
        "positions": rows["position"].to_numpy().astype(np.int32),
        "event_times": rows["event_time"].cast(pa.int64()).to_numpy(),
        "importances": rows["importance"].to_numpy().astype(np.float32),
        "links": _codes(_join_links(rows)),
    }


def _join_links(rows: pa.Table) -> pa.ChunkedArray:
    """Return the links of each turn as one text; null for rows without links."""
    fingerprints = rows["source_fingerprints"]
    is_turn = pc.equal(rows["memory_type"], MemoryType.TURN.value)
    has_links = pc.and_(
        is_turn, pc.greater(pc.list_value_length(fingerprints), 0)
    )
    joined = pc.binary_join(fingerprints, LINK_SEPARATOR)
    return pc.if_else(has_links, joined, pa.scalar(None, pa.string()))


def _type_codes(column: pa.ChunkedArray) -> TypeCodes:
    names = pa.array([str(one) for one in TYPES])
    indices = pc.index_in(column, value_set=names).to_numpy()
    codes: TypeCodes = indices.astype(np.int8)
    return codes


def _codes(column: pa.ChunkedArray) -> Codes:
    encoded = column.combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    indices = pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False)
    return Codes(indices.astype(np.int32), encoded.dictionary.to_pylist())
