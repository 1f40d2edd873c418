"""Where the rows of a table in a directory lie, and how that differs between versions.

A row's address (`_rowid`) is its fragment's number and its place in the fragment's files.
Files never change and have unique names, so equal files and places mean equal rows.
The numbers alone are no proof: a recreated store counts from 0 again.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from lancedb.table import Table

from varve.adapters.lance.rows import Addresses
from varve.adapters.lance_cache.files import (
    Fragment,
    UnknownFormat,
    fragments_of,
    manifest_name,
)
from varve.domain.search.lexical import Bools

Places = npt.NDArray[np.uint32]

_FRAGMENT_SHIFT = np.uint64(32)
_PLACE_MASK = np.uint64(2**32 - 1)
_NO_ADDRESSES = np.zeros(0, np.uint64)


@dataclass(frozen=True, eq=False)
class Layout:
    """The files that hold the rows of one version of a table.

    `fragments` are keyed by number. `deleted` has the places of deleted rows, keyed by
    the name of the deletion file.
    """

    version: int
    fragments: Mapping[int, Fragment]
    deleted: Mapping[str, Places]

    def holds(self, addresses: Addresses) -> bool:
        """Tell whether these are the addresses of all its rows, in any order."""
        empty = Layout(0, {}, {})
        all_rows, _ = self.since(empty, _NO_ADDRESSES)
        return np.array_equal(np.sort(all_rows), np.sort(addresses))

    def since(
        self, before: "Layout", known: Addresses
    ) -> tuple[Addresses, Bools]:
        """Compare with an earlier layout, whose rows have the addresses `known`.

        Returns the addresses of rows that were added, and a mask of the `known` rows
        that remain.
        """
        numbers = known >> _FRAGMENT_SHIFT
        places = known & _PLACE_MASK
        shared = []
        for number, fragment in self.fragments.items():
            earlier = before.fragments.get(number)
            if earlier is not None and earlier.data == fragment.data:
                shared.append(number)
        remaining = np.isin(numbers, np.array(shared, np.uint64))
        added = [_NO_ADDRESSES]
        for number, fragment in self.fragments.items():
            if fragment == before.fragments.get(number):
                continue
            new = np.ones(fragment.rows, np.bool_)
            if fragment.deletions is not None:
                new[self.deleted[fragment.deletions]] = False
            old = np.flatnonzero(remaining & (numbers == number))
            remaining[old] = new[places[old]]
            new[places[old]] = False
            new_places = np.flatnonzero(new).astype(np.uint64)
            added.append(new_places | np.uint64(number) << _FRAGMENT_SHIFT)
        return np.concatenate(added), remaining


def read_layout(table: Table, before: Layout | None) -> Layout | None:
    """Read where the table's rows lie, reusing deletion files that `before` has read.

    Returns None for a table on S3 itself, where reading would cost requests; for an old
    version pruned meanwhile; and if a deletion file is a bitmap, the form for many rows.
    """
    folder = Path(table.uri)
    version = table.version
    known = before.deleted if before is not None else {}
    try:
        fragments = fragments_of(
            (folder / manifest_name(version)).read_bytes()
        )
        deleted = {}
        for name in _deletion_files(fragments):
            if name not in known:
                deleted[name] = _read_places(folder / name)
            else:
                deleted[name] = known[name]
    except (OSError, UnknownFormat, pa.ArrowInvalid):
        return None
    by_number = {fragment.number: fragment for fragment in fragments}
    return Layout(version, by_number, deleted)


def _deletion_files(fragments: list[Fragment]) -> Iterator[str]:
    for fragment in fragments:
        if fragment.deletions is not None:
            yield fragment.deletions


def _read_places(deletions: Path) -> Places:
    table = pa.ipc.open_file(deletions.read_bytes()).read_all()
    places: Places = table.column(0).to_numpy()
    return places
