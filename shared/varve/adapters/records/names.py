"""Ids and sources of rows, read only for those that may be shown."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from varve.adapters.records.errors import FOREIGN
from varve.domain.errors import Outdated
from varve.domain.search.lexical import Spots

NAMES = ("id", "source_ids")


class Names:
    """The columns `NAMES` of so many rows. What is expected is read together, the rest when it is asked for.

    `read` gives rows of the store in the order in which it is told them.
    """

    def __init__(
        self, store: str, size: int, read: Callable[[Spots], pa.Table]
    ) -> None:
        self._store, self.size, self._read = store, size, read
        self.known: dict[int, tuple[Any, ...]] = {}

    def expect(self, rows: Spots) -> None:
        """Read these rows, where they were not before. Raises Outdated: they have moved or gone since."""
        new = [row for row in rows.tolist() if row not in self.known]
        if new:
            try:
                read = self._read(np.array(new, np.intp))
            except FOREIGN as error:
                raise Outdated(
                    f"store {self._store}: rows have moved or gone since they were ranked"
                ) from error
            self.known |= zip(
                new,
                zip(*(read[name].to_pylist() for name in NAMES), strict=True),
                strict=True,
            )


class Named(Sequence[Any]):
    """One of the columns."""

    def __init__(self, names: Names, name: str) -> None:
        self._names, self._at = names, NAMES.index(name)

    def __len__(self) -> int:
        return self._names.size

    def __getitem__(self, row: Any) -> Any:
        if row not in self._names.known:
            if not 0 <= row < len(self):
                raise IndexError(row)
            self._names.expect(np.arange(len(self)))
        return self._names.known[row][self._at]
