"""The tables of an S3 root, mirrored by replicas on the local disk.

A reader lists an agent's prefix once, which tells the committed versions of all its
grains. At the same time it requests the packs that follow the versions it holds. A writer
lists its store, changes the replica and commits by a conditional put. LanceDB itself
reads and writes stores too large for the disk, directly on S3. Its commits are the
same conditional puts, so both sorts of writers are safe with each other.
"""

import random
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from itertools import count
from threading import Lock
from time import monotonic, sleep
from typing import Any

from varve.adapters.exports.transfers import LocalFile, Transfers, Vanished
from varve.adapters.records.cache_directory import CacheDirectory, Caching
from varve.adapters.records.lean_import import without_rest_client
from varve.adapters.records.packs import PackRequest, pack_name, unpack_all
from varve.adapters.records.purge_turn import PurgeTurn
from varve.adapters.records.replica import Listing, Replica
from varve.adapters.records.table_handle import TableHandle
from varve.adapters.records.tables import (
    NEVER,
    Change,
    DirectTables,
    Store,
    agent_prefix,
    compact,
    count_fragments,
    new_table,
    require_index,
    store_prefix,
)
from varve.adapters.records.upkeep import Upkeep, list_store, prune
from varve.domain.calendar import Grain
from varve.domain.errors import Contended
from varve.domain.identity import Scope, digest
from varve.domain.record import StoreName, Written

with without_rest_client():
    from lancedb.table import Table

COMMIT_TRIES = 40
LONGEST_WAIT_SECONDS = 0.5
CONFIRM_AFTER_SECONDS = 45.0
"""Look up a commit again if its listing is older: see `upkeep.FENCE`, which is longer."""
MAX_REPLICAS = 6_000
PACKS_AHEAD: Mapping[StoreName, int] = {Grain.WORKING: 3}
"""A conversation writes working memory twice; a summary writes other grains once."""


class ReplicatedTables:
    """The tables of an S3 root at their newest commit, read from replicas if small."""

    def __init__(
        self,
        root: str,
        transfers: Transfers,
        direct: DirectTables,
        session: Any,
        upkeep: Upkeep,
        caching: Caching,
    ) -> None:
        self._root = root
        self._transfers = transfers
        self._direct = direct
        self._session = session
        self._upkeep = upkeep
        self._caching = caching
        self._home = CacheDirectory(caching.directory)
        self._replicas: OrderedDict[Store, Replica] = OrderedDict()
        self._used: dict[Store, float] = {}
        self._numbers = count()
        self._lock = Lock()
        self._expected: dict[Store, Future[Listing]] = {}

    def open_newest(self, scope: Scope, grain: StoreName) -> Table | None:
        """Open the newest version, or return None if nothing has been written."""
        handles = self._refresh(scope, [grain], store_prefix(scope, grain))
        return handles[grain].open()

    def handle(self, scope: Scope, grain: StoreName) -> TableHandle:
        """Return a handle on the newest version."""
        return TableHandle.opening(partial(self.open_newest, scope, grain))

    def handles(
        self, scope: Scope, stores: Sequence[StoreName]
    ) -> dict[StoreName, TableHandle]:
        """Return handles on these stores of an agent, all from one listing."""
        if len(stores) > 1:
            return self._refresh(scope, stores, agent_prefix(scope))
        return self._refresh(scope, stores, store_prefix(scope, stores[0]))

    def expect(self, scope: Scope, grain: StoreName) -> None:
        """Request the listing for a coming write in the background."""
        request = partial(
            list_store, self._transfers.objects, store_prefix(scope, grain)
        )
        self._expected[scope, grain] = self._transfers.start(request)

    def write(
        self,
        scope: Scope,
        grain: StoreName,
        change: Change,
        model: str | None,
        *,
        purge: bool,
    ) -> Written:
        """Apply the change to the newest version, as `DirectTables.write` does.

        A change that returns 0 is not committed, unless it purges. The count returned is
        the largest of all attempts. Raises Contended: too many commits came first.
        """
        max_changed = 0
        expected = self._expected.pop((scope, grain), None)
        turn = PurgeTurn(store_prefix(scope, grain), self._transfers.objects)
        with turn.ending():
            for attempt in range(COMMIT_TRIES):
                if attempt:
                    sleep(random.uniform(0, min(LONGEST_WAIT_SECONDS, 0.02 * attempt)))
                replica = self._get_replica(scope, grain)
                listing = turn.await_turn(None if attempt else expected, purge=purge)
                is_large = listing.size > self._caching.store_bytes
                if purge and (attempt or is_large):
                    turn.ask(listing)
                with replica.lock:
                    if is_large:
                        return self._direct.write(
                            scope, grain, change, model, purge=purge
                        )
                    changed, done = self._apply(
                        replica, listing, change, model, purge=purge
                    )
                    version = replica.version
                max_changed = max(max_changed, changed)
                if done:
                    self._evict()
                    return Written(max_changed, version)
        raise Contended(
            f"store {scope}/{grain}: {COMMIT_TRIES} other commits came first"
        )

    def compact(self, scope: Scope, grain: StoreName) -> None:
        """Do nothing: commits compact a store as it grows.

        On S3 old files cost little, and requests cost more.
        """

    def finish(self) -> None:
        """Wait for background uploads of packs."""
        # The listing of a write that did not happen must not serve a later write.
        self._expected.clear()
        self._transfers.finish()

    # ---- reading

    def _refresh(
        self, scope: Scope, grains: Sequence[StoreName], prefix: str
    ) -> dict[StoreName, TableHandle]:
        """Update the replicas of these stores; large stores get direct handles."""
        for _ in range(COMMIT_TRIES):
            replicas = {grain: self._get_replica(scope, grain) for grain in grains}
            # A file vanishes if it is pruned between the listing and the fetch.
            with ExitStack() as locks, suppress(Vanished):
                for replica in replicas.values():  # always in the order of the grains
                    locks.enter_context(replica.lock)
                small = self._update(replicas, prefix)
                locks.close()
                self._evict()
                handles = {}
                for grain in grains:
                    handle = small.get(grain)
                    handles[grain] = handle or self._direct.handle(scope, grain)
                return handles
        raise Contended(f"{prefix}: files vanish faster than they can be read")

    def _update(
        self, replicas: Mapping[StoreName, Replica], prefix: str
    ) -> dict[StoreName, TableHandle]:
        """Update the replicas of stores that are small enough.

        Requests the packs and the listing together, to save round trips.
        """
        packs = self._request_packs(replicas)
        taken = monotonic()
        found = {info.key: info for info in self._transfers.objects.list(prefix)}
        small: dict[StoreName, tuple[Replica, Listing]] = {}
        handles = {}
        for grain, replica in replicas.items():
            listing = Listing.of(replica.prefix, found, taken)
            if listing.size <= self._caching.store_bytes:
                replica.add_files(unpack_all(packs.get(grain, [])), listing)
                small[grain] = (replica, listing)
        self._pull(list(small.values()))
        for grain, (replica, _) in small.items():
            handles[grain] = TableHandle.holding(replica.table)
        return handles

    def _request_packs(
        self, replicas: Mapping[StoreName, Replica]
    ) -> dict[StoreName, list[PackRequest]]:
        """Request the packs that follow the replicas' versions, in the background."""
        requests = {}
        for grain, replica in replicas.items():
            if replica.version:
                end = replica.version + PACKS_AHEAD.get(grain, 1)
                requests[grain] = [
                    self._request_pack(replica, version)
                    for version in range(replica.version, end)
                ]
        return requests

    def _request_pack(self, replica: Replica, before: int) -> PackRequest:
        key = f"{replica.prefix}/{pack_name(before)}"
        return self._transfers.start(partial(self._transfers.objects.get, key))

    def _pull(self, pairs: Sequence[tuple[Replica, Listing]]) -> None:
        """Bring each replica to its listing's newest version.

        Raises Vanished: a listed file is gone; Retryable.
        """
        while True:
            missing = [
                (replica, replica.missing(listing)) for replica, listing in pairs
            ]
            wanted: dict[str, LocalFile] = {}
            for _, files in missing:
                wanted |= files
            if not wanted:
                break
            self._transfers.download(wanted)
            for replica, files in missing:
                replica.mark_fetched(files)
        for replica, listing in pairs:
            replica.switch_to(listing)

    # ---- writing

    def _apply(
        self,
        replica: Replica,
        listing: Listing,
        change: Change,
        model: str | None,
        *,
        purge: bool,
    ) -> tuple[int, bool]:
        """Apply the change and commit it.

        Returns the change's result and whether it is committed. If another writer
        committed first, the replica returns to its earlier version.
        """
        try:
            self._pull([(replica, listing)])
        except Vanished:
            return 0, False
        if replica.table is None and model is None:
            return 0, True
        before = replica.version
        prune_early = self._should_prune_early(replica, listing)
        with _discard_on_error(replica):
            table = self._open_or_create(replica, model)
            changed = change(table)
            if not changed and not purge:
                replica.discard()
                return 0, True
            if not replica.commit() or not self._confirm(replica, listing):
                replica.discard()
                return changed, False
            return changed, self._maintain(replica, before, prune_early, purge=purge)

    def _maintain(
        self, replica: Replica, before: int, prune_early: bool, *, purge: bool
    ) -> bool:
        """Compact or prune after a commit on top of version `before`.

        Returns False if a purge was not completed because another writer committed.
        """
        if purge:
            return self._compact(replica, purge=True)
        fragments = count_fragments(replica.table)
        if self._upkeep.is_due(fragments, before, replica.version):
            self._compact(replica, purge=False)
        elif prune_early:
            self._prune(replica, all_old=False)
        return True

    def _open_or_create(self, replica: Replica, model: str | None) -> Table:
        table = replica.table
        if table is None:
            table = new_table(replica.database(), str(model))
        require_index(table)
        return table

    def _should_prune_early(self, replica: Replica, listing: Listing) -> bool:
        times = list(listing.commit_times.values())
        return self._upkeep.should_prune_early(times, replica.count_unneeded(listing))

    def _compact(self, replica: Replica, *, purge: bool) -> bool:
        """Compact, commit and prune; return False if another writer committed first."""
        table: Any = replica.table
        self._transfers.finish()  # a pack put after the pruning would stay forever
        merge = partial(table.optimize, cleanup_older_than=NEVER)
        compact(table, self._upkeep, merge, purge=purge)
        if not replica.commit():
            replica.discard()
            return False
        self._prune(replica, all_old=purge)
        return True

    def _prune(self, replica: Replica, *, all_old: bool) -> None:
        """Prune the store, including packs that are still being uploaded."""
        self._transfers.finish()
        prune(self._transfers, replica.prefix, self._upkeep, all_old=all_old)
        replica.drop_unneeded()

    def _confirm(self, replica: Replica, listing: Listing) -> bool:
        """Tell whether a commit based on this listing is the newest version.

        A commit soon after its listing needs no new listing: see CONFIRM_AFTER_SECONDS.
        """
        if monotonic() - listing.taken < CONFIRM_AFTER_SECONDS:
            return True
        current = list_store(self._transfers.objects, replica.prefix)
        if current.newest == replica.version:
            return True
        replica.reset()
        return False

    # ---- keeping

    def _get_replica(self, scope: Scope, grain: StoreName) -> Replica:
        """Return the store's replica, creating it on first use."""
        with self._lock:
            if (scope, grain) not in self._replicas:
                self._replicas[scope, grain] = self._create_replica(scope, grain)
            self._replicas.move_to_end((scope, grain))
            self._used[scope, grain] = monotonic()
            return self._replicas[scope, grain]

    def _create_replica(self, scope: Scope, grain: StoreName) -> Replica:
        name = digest(self._root, scope.workspace, scope.agent, grain, length=32)
        home = self._home.path / f"{name}-{next(self._numbers)}"
        return Replica(store_prefix(scope, grain), home, self._transfers, self._session)

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


@contextmanager
def _discard_on_error(replica: Replica) -> Iterator[None]:
    """Return the replica to its committed version if the block fails."""
    with ExitStack() as undo:
        undo.callback(replica.discard)
        yield
        undo.pop_all()
