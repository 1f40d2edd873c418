"""The columns of whole stores that one process keeps."""

from collections import OrderedDict
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING

from varve.domain.calendar import Grain
from varve.domain.identity import Scope

if TYPE_CHECKING:  # a writer has this cache too, and holds no columns
    from varve.adapters.records.columns import Held
    from varve.domain.search.columns import Columns
    from varve.domain.search.outline import Outline

MAX_BYTES = 256 * 1024 * 1024
"""What the columns kept by one process may take together, but for those of one agent."""


class ColumnCache:
    """The columns of the stores used last, each at one version, while all of them fit.

    One agent's stay together, for a search needs all of them: it would read them anew each time.
    """

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._kept: OrderedDict[tuple[Scope, Grain], tuple[object, Held]] = (
            OrderedDict()
        )
        self._lock = Lock()

    @cached_property
    def nothing(self) -> "Columns":
        """The columns of a store in which nothing has been written yet."""
        from varve.domain.search.columns import columns_of

        return columns_of([])

    def get(self, scope: Scope, grain: Grain, version: object) -> "Outline | None":
        """The store's columns at exactly this version."""
        with self._lock:
            kept = self._kept.get((scope, grain))
            if kept is None or kept[0] != version:
                return None
            self._kept.move_to_end((scope, grain))
            return kept[1].columns

    def newest(self, scope: Scope, grain: Grain) -> "Held | None":
        """What is held of the store, at whatever version."""
        with self._lock:
            kept = self._kept.get((scope, grain))
            return None if kept is None else kept[1]

    def put(self, scope: Scope, grain: Grain, version: object, held: "Held") -> None:
        """Keep it in place of any other version; what is of other agents and was used longest ago goes."""
        with self._lock:
            self._kept[scope, grain] = (version, held)
            self._kept.move_to_end((scope, grain))
            others = [store for store in self._kept if store[0] != scope]
            while (
                others
                and sum(h.columns.bytes for _, h in self._kept.values())
                > self._max_bytes
            ):
                del self._kept[others.pop(0)]
