"""An in-process cache of the columns of whole stores."""

from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING

from varve.domain.identity import Scope
from varve.domain.record import StoreName

if TYPE_CHECKING:  # a writer creates this cache too, but never loads columns
    from varve.adapters.lance_cache.columns import CachedStore

MAX_CACHED_BYTES = 256 * 1024 * 1024
"""Limit for all columns of one process, except those of the agent used last."""


class ColumnCache:
    """A least-recently-used cache with one version of each store's columns.

    The stores of the agent used last always stay. A search needs all of them, so evicting
    one would make each search read it again.
    """

    def __init__(self, max_bytes: int = MAX_CACHED_BYTES) -> None:
        self._max_bytes = max_bytes
        self._cached: OrderedDict[tuple[Scope, StoreName], CachedStore] = (
            OrderedDict()
        )
        self._lock = Lock()

    def get(self, scope: Scope, grain: StoreName) -> "CachedStore | None":
        """Return the store at the version that was read last."""
        with self._lock:
            found = self._cached.get((scope, grain))
            if found is not None:
                self._cached.move_to_end((scope, grain))
            return found

    def put(
        self, scope: Scope, grain: StoreName, store: "CachedStore"
    ) -> None:
        """Cache the store in place of its other version.

        Evicts stores of other agents, least recently used first, until the rest fits.
        """
        with self._lock:
            self._cached[scope, grain] = store
            self._cached.move_to_end((scope, grain))
            evictable = [key for key in self._cached if key[0] != scope]
            for key in evictable:
                if self._size() <= self._max_bytes:
                    return
                del self._cached[key]

    def _size(self) -> int:
        return sum(store.columns.bytes for store in self._cached.values())
