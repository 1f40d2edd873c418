"""Replicas of the tables of an S3 root, for readers.

A reader lists an agent's prefix once, which tells the committed versions of all its
grains, and fetches the files that its replicas lack. LanceDB itself reads from S3 the
stores that are too large for the disk, and those whose manifest is in an unknown format.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from itertools import count
from threading import Lock
from time import monotonic

from varve.adapters.exports.transfers import LocalFile, Transfers, Vanished
from varve.adapters.lance.lean_import import without_rest_client
from varve.adapters.lance.reader import TableHandle
from varve.adapters.lance.tables import (
    Store,
    Tables,
    agent_prefix,
    new_session,
    store_prefix,
)
from varve.adapters.lance_cache.cache_directory import CacheDirectory, Caching
from varve.adapters.lance_cache.files import UnknownFormat
from varve.adapters.lance_cache.listing import Listing
from varve.adapters.lance_cache.replica import Replica
from varve.domain.errors import Contended
from varve.domain.identity import Scope, digest
from varve.domain.record import StoreName
from varve.domain.usage import Item
from varve.ports.meter import Meter
from varve.ports.objects import Objects

with without_rest_client():
    from lancedb.table import Table

LISTING_TRIES = 40
MAX_REPLICAS = 6_000

Listed = tuple[Replica, Listing]


class Replicas:
    """The tables of an S3 root at their newest commit, read from replicas if small.

    `meter` counts the versions in a format that replicas do not know.
    """

    def __init__(
        self,
        root: str,
        objects: Objects,
        tables: Tables,
        caching: Caching,
        meter: Meter | None,
    ) -> None:
        self._root = root
        self._meter = meter
        self._transfers = Transfers(objects)
        self._tables = tables
        self._session = new_session()
        self._caching = caching
        self._home = CacheDirectory(caching.directory)
        self._replicas: OrderedDict[Store, Replica] = OrderedDict()
        self._used: dict[Store, float] = {}
        self._numbers = count()
        self._lock = Lock()

    def open_newest(self, scope: Scope, grain: StoreName) -> Table | None:
        """Open the newest version, or return None if nothing has been written."""
        return self.handles(scope, [grain])[grain].open()

    def handle(self, scope: Scope, grain: StoreName) -> TableHandle:
        """Return a handle on the newest version."""
        return TableHandle.opening(partial(self.open_newest, scope, grain))

    def handles(
        self, scope: Scope, grains: Sequence[StoreName]
    ) -> dict[StoreName, TableHandle]:
        """Return handles on these stores of an agent, all from one listing."""
        one = len(grains) == 1
        prefix = store_prefix(scope, grains[0]) if one else agent_prefix(scope)
        for _ in range(LISTING_TRIES):
            replicas = {
                grain: self._get_replica(scope, grain) for grain in grains
            }
            # A file vanishes if it is deleted between the listing and the fetch.
            with ExitStack() as locks, suppress(Vanished):
                for (
                    replica
                ) in replicas.values():  # always in the order of the grains
                    locks.enter_context(replica.lock)
                held = self._update(replicas, prefix)
                locks.close()
                self._evict()
                for grain in grains:
                    if grain not in held:
                        opening = partial(
                            self._tables.open_newest, scope, grain
                        )
                        held[grain] = TableHandle.opening(opening)
                return held
        raise Contended(f"{prefix}: files vanish faster than they can be read")

    def _update(
        self, replicas: Mapping[StoreName, Replica], prefix: str
    ) -> dict[StoreName, TableHandle]:
        """Update the replicas of stores that are small enough, and return handles."""
        found = {
            info.key: info for info in self._transfers.objects.list(prefix)
        }
        small: dict[StoreName, Listed] = {}
        for grain, replica in replicas.items():
            listing = Listing.of(replica.prefix, found)
            is_small = listing.size <= self._caching.store_bytes
            if is_small and listing.newest != (replica.unknown or -1):
                small[grain] = (replica, listing)
        while missing := self._find_missing(small):
            self._transfers.download(missing)
            for replica, _ in small.values():
                replica.mark_fetched(missing)
        handles = {}
        for grain, (replica, listing) in small.items():
            replica.switch_to(listing)
            handles[grain] = TableHandle.holding(replica.table)
        return handles

    def _find_missing(
        self, small: dict[StoreName, Listed]
    ) -> dict[str, LocalFile]:
        """Return the files to fetch next; drop stores in an unknown format."""
        missing: dict[str, LocalFile] = {}
        for grain, (replica, listing) in list(small.items()):
            try:
                missing |= replica.missing(listing)
            except UnknownFormat:
                replica.reset()
                replica.unknown = listing.newest
                if self._meter is not None:
                    self._meter.add(Item.UNKNOWN_MANIFESTS)
                del small[grain]
        return missing

    def _get_replica(self, scope: Scope, grain: StoreName) -> Replica:
        """Return the store's replica, creating it on first use."""
        with self._lock:
            if (scope, grain) not in self._replicas:
                self._replicas[scope, grain] = self._create_replica(
                    scope, grain
                )
            self._replicas.move_to_end((scope, grain))
            self._used[scope, grain] = monotonic()
            return self._replicas[scope, grain]

    def _create_replica(self, scope: Scope, grain: StoreName) -> Replica:
        name = digest(
            self._root, scope.workspace, scope.agent, grain, length=32
        )
        home = self._home.path / f"{name}-{next(self._numbers)}"
        return Replica(
            store_prefix(scope, grain), home, self._transfers, self._session
        )

    def _evict(self) -> None:
        """Remove the least recently used replicas until the rest fits and is in use.

        A replica without a request for `Caching.seconds` goes: data that was
        erased from its store since then may still be in it. A replica in use stays until the next
        eviction.
        """
        idle_before = monotonic() - self._caching.seconds
        with self._lock:
            size = sum(replica.size for replica in self._replicas.values())
            excess_bytes = size - self._caching.bytes
            excess_replicas = len(self._replicas) - MAX_REPLICAS
            for store, replica in list(self._replicas.items()):
                is_idle = self._used[store] <= idle_before
                if excess_bytes <= 0 and excess_replicas <= 0 and not is_idle:
                    return
                if replica.lock.acquire(blocking=False):
                    excess_bytes -= replica.size
                    excess_replicas -= 1
                    del self._replicas[store], self._used[store]
                    replica.reset()
                    replica.lock.release()
