"""Ids and sources of rows, read only for the rows that a result may show."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from varve.adapters.lance.errors import FOREIGN
from varve.domain.errors import Outdated
from varve.domain.search.lexical import Spots

NAMES = ("id", "source_ids")


class LazyNames:
    """The `NAMES` columns of `size` rows, read in batches on first use.

    `read` returns rows of the store in the order of the row numbers it is given.
    """

    def __init__(
        self, store: str, size: int, read: Callable[[Spots], pa.Table]
    ) -> None:
        self.size = size
        self.known: dict[int, tuple[Any, ...]] = {}
        self._store = store
        self._read = read

    def load(self, rows: Spots) -> None:
        """Read the rows that are not known yet.

        Raises Outdated: the rows have moved or gone since they were ranked.
        """
        new = [row for row in rows.tolist() if row not in self.known]
        if not new:
            return
        try:
            read = self._read(np.array(new, np.intp))
        except FOREIGN as error:
            raise Outdated(
                f"store {self._store}: rows have moved or gone since they were ranked"
            ) from error
        columns = [read[name].to_pylist() for name in NAMES]
        values = zip(*columns, strict=True)
        self.known.update(zip(new, values, strict=True))


class LazyColumn(Sequence[Any]):
    """One column of `LazyNames`."""

    def __init__(self, names: LazyNames, name: str) -> None:
        self._names = names
        self._index = NAMES.index(name)

    def __len__(self) -> int:
        return self._names.size

    def __getitem__(self, row: Any) -> Any:
        if row not in self._names.known:
            if not 0 <= row < len(self):
                raise IndexError(row)
            self._names.load(np.arange(len(self)))
        return self._names.known[row][self._index]
