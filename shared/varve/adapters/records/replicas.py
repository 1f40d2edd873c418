"""The tables of an S3 root through replicas on disk: one listing tells whether anything is newer.

A reader lists an agent's prefix once, which says for all its grains what is committed, and asks beside it for
the packs that would follow the versions it holds. A writer lists its store, changes the replica and
commits by a conditional put. Stores too large for the disk are left to LanceDB on S3 itself; its
commits are the same conditional puts, so both sorts of writers are safe with each other.
"""

import random
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import gettempdir
from threading import Lock
from time import monotonic, sleep
from typing import Any

from varve.adapters.exports.transfers import Transfers, Vanished
from varve.adapters.records.cache_directory import CacheDirectory
from varve.adapters.records.lean_import import without_rest_client
from varve.adapters.records.packs import pack_name, unpack
from varve.adapters.records.replica import Listing, Replica
from varve.adapters.records.standing import Standing
from varve.adapters.records.tables import (
    NEVER,
    Change,
    DirectTables,
    agent_prefix,
    compact,
    fragments_of,
    new_table,
    require_index,
    store_prefix,
)
from varve.adapters.records.upkeep import Upkeep, look, prune
from varve.domain.calendar import Grain
from varve.domain.errors import Retryable
from varve.domain.identity import Scope, digest
from varve.domain.record import StoreName, Written

with without_rest_client():
    from lancedb.table import Table

TRIES, LONGEST_WAIT_SECONDS = 40, 0.5
CONFIRM_AFTER_SECONDS = 45.0
"""A commit this long after its listing is looked up again: see `upkeep.FENCE`, which is longer."""
MAX_REPLICAS = 6_000
PACKS_AHEAD: Mapping[StoreName, int] = {Grain.WORKING: 3}
"""Working memory is written twice by every conversation, the others once by a summary."""


@dataclass(frozen=True, slots=True)
class Caching:
    """Where replicas lie and how much they may take, in bytes."""

    directory: Path = field(default_factory=lambda: Path(gettempdir()))
    bytes: int = 360_000_000

    @property
    def store_bytes(self) -> int:
        """A store that is larger has no replica: compacting it would take twice as much again."""
        return self.bytes // 3


class ReplicatedTables:
    """The tables of an S3 root as of the newest commit, each from its replica where it is not too large."""

    def __init__(
        self,
        root: str,
        transfers: Transfers,
        direct: DirectTables,
        session: Any,
        upkeep: Upkeep,
        caching: Caching,
    ) -> None:
        self._root, self._transfers, self._direct = root, transfers, direct
        self._session, self._upkeep, self._caching = session, upkeep, caching
        self._home = CacheDirectory(caching.directory)
        self._replicas: OrderedDict[tuple[Scope, StoreName], Replica] = OrderedDict()
        self._numbers = count()
        self._lock = Lock()
        self._expected: dict[tuple[Scope, StoreName], Future[Listing]] = {}

    def newest(self, scope: Scope, grain: StoreName) -> Table | None:
        """The table at its newest version, or None where nothing has been written yet."""
        return self._refreshed(scope, [grain], store_prefix(scope, grain))[
            grain
        ].table()

    def standing(self, scope: Scope, grain: StoreName) -> Standing:
        """The store, to be read at its newest version."""
        return Standing.of(partial(self.newest, scope, grain))

    def at(
        self, scope: Scope, stores: Sequence[StoreName]
    ) -> dict[StoreName, Standing]:
        """These stores of an agent, all as of one listing."""
        prefix = (
            agent_prefix(scope) if len(stores) > 1 else store_prefix(scope, stores[0])
        )
        return self._refreshed(scope, stores, prefix)

    def expect(self, scope: Scope, grain: StoreName) -> None:
        """A write follows: ask for its listing beside whatever comes before it."""
        listed = partial(look, self._transfers.objects, store_prefix(scope, grain))
        self._expected[scope, grain] = self._transfers.start(listed)

    def write(
        self,
        scope: Scope,
        grain: StoreName,
        change: Change,
        model: str | None,
        *,
        purge: bool,
    ) -> Written:
        """As `DirectTables.write`; a change that returns 0 and does not purge is not committed at all."""
        most, expected = 0, self._expected.pop((scope, grain), None)
        for attempt in range(TRIES):
            if attempt:
                sleep(random.uniform(0, min(LONGEST_WAIT_SECONDS, 0.02 * attempt)))
            replica = self._replica(scope, grain)
            with replica.lock:
                look_again = partial(look, self._transfers.objects, replica.prefix)
                listing = (
                    expected.result() if expected and not attempt else look_again()
                )
                if listing.size > self._caching.store_bytes:
                    return self._direct.write(scope, grain, change, model, purge=purge)
                changed, done = self._changed(
                    replica, listing, change, model, purge=purge
                )
                version = replica.version
            most = max(most, changed)
            if done:
                self._evict()
                return Written(most, version)
        raise Retryable(f"store {scope}/{grain}: {TRIES} other commits came first")

    def finish(self) -> None:
        """Wait for the packs that are on their way."""
        self._expected.clear()  # of a write that did not come the listing is not to serve a later one
        self._transfers.finish()

    # ---- reading

    def _refreshed(
        self, scope: Scope, grains: Sequence[StoreName], prefix: str
    ) -> dict[StoreName, Standing]:
        for _ in range(TRIES):
            replicas = {grain: self._replica(scope, grain) for grain in grains}
            with (
                ExitStack() as locks,
                suppress(Vanished),
            ):  # pruned between the listing and the fetch
                for replica in replicas.values():  # always in the order of the grains
                    locks.enter_context(replica.lock)
                small = self._pulled(replicas, prefix)
                locks.close()
                self._evict()
                return {
                    grain: small.get(grain) or self._direct.standing(scope, grain)
                    for grain in grains
                }
        raise Retryable(f"{prefix}: files vanish faster than they can be read")

    def _pulled(
        self, replicas: Mapping[StoreName, Replica], prefix: str
    ) -> dict[StoreName, Standing]:
        """Bring those up to date that may have a replica, in as few round trips as it takes."""
        packs, taken = self._asked_for_packs(replicas), monotonic()
        found = {info.key: info for info in self._transfers.objects.list(prefix)}
        listings = {
            grain: Listing.of(replica.prefix, found, taken)
            for grain, replica in replicas.items()
        }
        small = {
            g: r
            for g, r in replicas.items()
            if listings[g].size <= self._caching.store_bytes
        }
        for grain, replica in small.items():
            replica.take(packs(grain), listings[grain])
        self._pull([(replica, listings[grain]) for grain, replica in small.items()])
        return {grain: _standing(replica.table) for grain, replica in small.items()}

    def _asked_for_packs(
        self, replicas: Mapping[StoreName, Replica]
    ) -> Callable[[StoreName], dict[str, bytes]]:
        """Ask for the packs that would follow what is held, beside the listing; what they hold by grain."""
        asked = {
            grain: [
                self._transfers.start(
                    partial(
                        self._transfers.objects.get, f"{replica.prefix}/{pack_name(v)}"
                    )
                )
                for v in range(
                    replica.version, replica.version + PACKS_AHEAD.get(grain, 1)
                )
            ]
            for grain, replica in replicas.items()
            if replica.version
        }

        def contents(grain: StoreName) -> dict[str, bytes]:
            found = [pack.result() for pack in asked.get(grain, [])]
            return {
                name: data
                for stored in found
                if stored
                for name, data in unpack(stored.data).items()
            }

        return contents

    def _pull(self, pairs: Sequence[tuple[Replica, Listing]]) -> None:
        """Raises Vanished, Retryable."""
        while True:
            missing = [
                (replica, replica.missing(listing)) for replica, listing in pairs
            ]
            wanted = {key: file for _, files in missing for key, file in files.items()}
            if not wanted:
                break
            self._transfers.download(wanted)
            for replica, files in missing:
                replica.fetched(files)
        for replica, listing in pairs:
            replica.settle(listing)

    # ---- writing

    def _changed(
        self,
        replica: Replica,
        listing: Listing,
        change: Change,
        model: str | None,
        *,
        purge: bool,
    ) -> tuple[int, bool]:
        """Make the change and commit it; what the change returned, and whether it is committed.

        Where it is not, another commit came first and the replica stands where it stood before.
        """
        try:
            self._pull([(replica, listing)])
        except Vanished:
            return 0, False
        before, littered = replica.version, self._is_littered(replica, listing)
        if replica.table is None and model is None:
            return 0, True
        with _discarding(replica):
            table = replica.table
            if table is None:
                table = new_table(replica.database(), str(model))
            require_index(table)
            changed = change(table)
            if not changed and not purge:
                replica.discard()
                return 0, True
            if not replica.commit() or not self._is_still_newest(replica, listing):
                replica.discard()
                return changed, False
            table = replica.table
            if purge or self._upkeep.is_due(
                fragments_of(table), before, replica.version
            ):
                return changed, self._compacted(
                    replica, table, purge=purge
                ) or not purge
            if littered:
                self._prune(replica, all_old=False)
        return changed, True

    def _is_littered(self, replica: Replica, listing: Listing) -> bool:
        times = [listing.age_stamp(version)[0] for version in listing.versions[:2]]
        return self._upkeep.is_littered(times, replica.spare(listing))

    def _compacted(self, replica: Replica, table: Table, *, purge: bool) -> bool:
        """Compact and remove what may go; False: another commit came first."""
        self._transfers.finish()  # a pack that came after the pruning would stay
        merge = partial(table.optimize, cleanup_older_than=NEVER)
        compact(table, self._upkeep, merge, purge=purge)
        if not replica.commit():
            replica.discard()
            return False
        self._prune(replica, all_old=purge)
        return True

    def _prune(self, replica: Replica, *, all_old: bool) -> None:
        """Remove what may go, packs that are still on their way included."""
        self._transfers.finish()
        prune(self._transfers, replica.prefix, self._upkeep, all_old=all_old)
        replica.trim()

    def _is_still_newest(self, replica: Replica, listing: Listing) -> bool:
        if monotonic() - listing.taken < CONFIRM_AFTER_SECONDS:
            return True
        if look(self._transfers.objects, replica.prefix).newest == replica.version:
            return True
        replica.reset()
        return False

    # ---- keeping

    def _replica(self, scope: Scope, grain: StoreName) -> Replica:
        with self._lock:
            if (scope, grain) not in self._replicas:
                name = digest(
                    self._root, scope.workspace, scope.agent, grain, length=32
                )
                home = self._home.path / f"{name}-{next(self._numbers)}"
                replica = Replica(
                    store_prefix(scope, grain), home, self._transfers, self._session
                )
                self._replicas[scope, grain] = replica
            self._replicas.move_to_end((scope, grain))
            return self._replicas[scope, grain]

    def _evict(self) -> None:
        """Let go of the least recently used until the rest fits; one in use stays until the next time."""
        with self._lock:
            excess = (
                sum(replica.size for replica in self._replicas.values())
                - self._caching.bytes
            )
            many = len(self._replicas) - MAX_REPLICAS
            for key, replica in list(self._replicas.items()):
                if excess <= 0 and many <= 0:
                    return
                if replica.lock.acquire(blocking=False):
                    excess, many = excess - replica.size, many - 1
                    del self._replicas[key]
                    replica.reset()
                    replica.lock.release()


def _standing(table: Table | None) -> Standing:
    return Standing.of(lambda: table)


@contextmanager
def _discarding(replica: Replica) -> Iterator[None]:
    """Whatever goes wrong, the replica stands at a committed version afterwards."""
    with ExitStack() as undo:
        undo.callback(replica.discard)
        yield
        undo.pop_all()
