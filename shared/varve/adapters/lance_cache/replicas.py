"""Replicas of the tables of an S3 root, for readers.

A reader lists an agent's prefix once, which tells the committed versions of all its
grains, and fetches the files that its replicas lack. LanceDB itself reads from S3 the
stores that are too large for the disk.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from threading import Lock
from time import monotonic

from lancedb.table import Table

from varve.adapters.exports.transfers import LocalFile, Transfers, Vanished
from varve.adapters.lance.reader import TableHandle
from varve.adapters.lance.tables import (
    Store,
    Tables,
    agent_prefix,
    new_session,
    store_prefix,
)
from varve.adapters.lance_cache.cache_directory import CacheDirectory, Caching
from varve.adapters.lance_cache.listing import Listing
from varve.adapters.lance_cache.replica import Replica
from varve.domain.errors import Contended
from varve.domain.identity import Scope
from varve.domain.record import StoreName
from varve.ports.objects import Objects

LISTING_TRIES = 40
MAX_REPLICAS = 6_000


class Replicas:
    """The tables of an S3 root at their newest commit, read from replicas if small."""

    def __init__(
        self, objects: Objects, tables: Tables, caching: Caching
    ) -> None:
        self._transfers = Transfers(objects)
        self._tables = tables
        self._session = new_session()
        self._caching = caching
        self._home = CacheDirectory(caching.directory)
        self._replicas: OrderedDict[Store, Replica] = OrderedDict()
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
        found = list(self._transfers.objects.list(prefix))
        listings: dict[StoreName, Listing] = {}
        missing: dict[str, LocalFile] = {}
        for grain, replica in replicas.items():
            listing = Listing.of(replica.prefix, found)
            if listing.size <= self._caching.store_bytes:
                listings[grain] = listing
                missing |= replica.find_missing(listing)
        self._transfers.download(missing)
        handles = {}
        for grain, listing in listings.items():
            replica = replicas[grain]
            replica.switch_to(listing)
            handles[grain] = TableHandle.holding(replica.table)
        return handles

    def _get_replica(self, scope: Scope, grain: StoreName) -> Replica:
        """Return the store's replica, creating it on first use."""
        with self._lock:
            replica = self._replicas.get((scope, grain))
            if replica is None:
                replica = Replica(
                    store_prefix(scope, grain),
                    self._home.path,
                    self._transfers.objects,
                    self._session,
                )
                self._replicas[scope, grain] = replica
            self._replicas.move_to_end((scope, grain))
            replica.used = monotonic()
            return replica

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
                is_idle = replica.used <= idle_before
                if excess_bytes <= 0 and excess_replicas <= 0 and not is_idle:
                    return
                if replica.lock.acquire(blocking=False):
                    excess_bytes -= replica.size
                    excess_replicas -= 1
                    del self._replicas[store]
                    replica.reset()
                    replica.lock.release()
