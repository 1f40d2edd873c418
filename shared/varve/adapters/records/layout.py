"""Where the rows of a table in a directory lie, and which of them are others than at an earlier version.

A row's address (`_rowid`) is the number of its fragment and its place in the fragment's files. Files never
change and have names of their own, so rows of the same files and places are the same rows. The numbers alone
would not tell: a store that is made anew counts from 0 again.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from varve.adapters.records.files import (
    Fragment,
    UnknownFormat,
    fragments_of,
    manifest_name,
)
from varve.adapters.records.lean_import import without_rest_client
from varve.domain.search.lexical import Bools

with without_rest_client():
    from lancedb.table import Table

ADDRESS = "_rowid"
Addresses = npt.NDArray[np.uint64]
Gone = npt.NDArray[np.uint32]

_NUMBER_FROM = np.uint64(32)
_PLACE = np.uint64(2**32 - 1)


@dataclass(frozen=True, eq=False)
class Layout:
    """What the rows of one version of a table are in: fragments by their numbers, and the places of rows
    that are gone, by the names of the files that say so."""

    version: int
    fragments: Mapping[int, Fragment]
    gone: Mapping[str, Gone]

    def holds(self, addresses: Addresses) -> bool:
        """Whether these, in any order, are the addresses of all its rows."""
        nothing = Layout(0, {}, {})
        all_rows, _ = self.since(nothing, np.zeros(0, np.uint64))
        return np.array_equal(np.sort(all_rows), np.sort(addresses))

    def since(self, before: "Layout", known: Addresses) -> tuple[Addresses, Bools]:
        """The addresses of rows that were not there `before`, and which of those that were still are.

        `known` are the addresses of all rows there were.
        """
        numbers, places = known >> _NUMBER_FROM, known & _PLACE
        stay = np.isin(numbers, np.array(self._with_files_of(before), np.uint64))
        came = [np.zeros(0, np.uint64)]
        for number, fragment in self.fragments.items():
            if fragment == before.fragments.get(number):
                continue
            there = np.ones(fragment.rows, np.bool_)
            if fragment.deletions is not None:
                there[self.gone[fragment.deletions]] = False
            held = np.flatnonzero(stay & (numbers == number))
            stay[held] = there[places[held]]
            there[places[held]] = False
            came.append(
                np.flatnonzero(there).astype(np.uint64)
                | np.uint64(number) << _NUMBER_FROM
            )
        return np.concatenate(came), stay

    def goes_on_from(self, before: "Layout") -> bool:
        """Whether some of its files were there before, so that it is of the same life of the store."""
        return bool(self._with_files_of(before))

    def _with_files_of(self, before: "Layout") -> list[int]:
        return [
            n
            for n, f in self.fragments.items()
            if n in before.fragments and f.data == before.fragments[n].data
        ]


def layout_of(table: Table, before: Layout | None) -> Layout | None:
    """Where the rows lie; `before` spares reading what it has read.

    None where it cannot be told: of a table on S3 itself, which it would take requests for; of a version
    that was removed as an old one meanwhile; where so many rows of a fragment are gone that it says so by a
    bitmap.
    """
    folder, version = Path(table.uri), table.version
    read = before.gone if before is not None else {}
    try:
        fragments = fragments_of((folder / manifest_name(version)).read_bytes())
        named = [
            fragment.deletions
            for fragment in fragments
            if fragment.deletions is not None
        ]
        gone = {
            name: read[name] if name in read else _places(folder / name)
            for name in named
        }
    except (OSError, UnknownFormat, pa.ArrowInvalid):
        return None
    return Layout(version, {fragment.number: fragment for fragment in fragments}, gone)


def _places(deletions: Path) -> Gone:
    gone: Gone = (
        pa.ipc.open_file(deletions.read_bytes()).read_all().column(0).to_numpy()
    )
    return gone
