"""When a table is compacted, and which files of an object store are then deleted."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic

from varve.adapters.exports.transfers import Transfers
from varve.adapters.records.files import Needs, is_content, manifest_name, needs_of
from varve.adapters.records.packs import version_before
from varve.adapters.records.replica import TABLE, Listing
from varve.ports.objects import Objects

FENCE = timedelta(seconds=90)
"""Manifests younger than this stay, even if their content is deleted.

Without them a delayed writer would find its version's number free. It would then commit
below the newest version, where no reader looks.
"""
ORPHAN_AGE = timedelta(hours=1)
"""No writer lives longer than this, so an older file that no manifest names is unused."""
_TRANSACTIONS = "_transactions"


@dataclass(frozen=True, slots=True)
class Upkeep:
    """When a table is compacted, and which old versions stay for readers in flight.

    Compaction follows a write that leaves `max_fragments` fragments, and every
    `max_fragments` versions. Of the older versions those younger than `keep_for` stay,
    up to `max_versions`, so a burst of writes stays bounded. A reader that outlives its
    version starts again from the newest. A table of `index_rows` rows gets a vector
    index at its next compaction.
    """

    max_fragments: int = 32
    keep_for: timedelta = timedelta(seconds=90)
    max_versions: int = 128
    index_rows: int = 50_000

    def is_due(self, fragments: int, before: int, after: int) -> bool:
        """Tell whether to compact after a write from version `before` to `after`.

        Writes that replace rows add versions without fragments, so both count.
        """
        if fragments >= self.max_fragments:
            return True
        return after // self.max_fragments != before // self.max_fragments

    def should_prune_early(self, versions: Sequence[datetime], unneeded: int) -> bool:
        """Tell whether to prune before the next compaction.

        The files that a compaction replaced are too young to be deleted with it. Prune
        early if at least `max_fragments / 2` files are unneeded and no reader can still
        be on an older version. `versions` are commit times, newest first.
        """
        if len(versions) < 2:
            return False
        newest, before, *_ = versions
        if newest - before < self.keep_for:
            return False
        return unneeded >= self.max_fragments // 2

    def prunable_age(self, times: list[datetime]) -> timedelta:
        """Return the age from which versions are deleted, given their commit times.

        That is `keep_for`, or less if there are more versions than `max_versions`.
        """
        newest_first = sorted(times, reverse=True)
        if len(newest_first) <= self.max_versions:
            return self.keep_for
        crowded = newest_first[0] - newest_first[self.max_versions // 2]
        return min(self.keep_for, max(crowded, timedelta(milliseconds=1)))


def list_store(objects: Objects, prefix: str) -> Listing:
    """List one store's files. Raises Retryable."""
    taken = monotonic()
    found = {info.key: info for info in objects.list(prefix)}
    return Listing.of(prefix, found, taken)


def prune(transfers: Transfers, prefix: str, upkeep: Upkeep, *, all_old: bool) -> None:
    """Delete the files that only old versions need.

    With `all_old`, all versions but the newest are deleted. Ages are relative to the
    newest commit, by the object store's own clock. Raises Retryable.
    """
    listing = list_store(transfers.objects, prefix)
    if not listing.versions:
        return
    min_age = timedelta(0)
    if not all_old:
        min_age = upkeep.prunable_age(list(listing.commit_times.values()))
    needs = _read_needs(transfers, prefix, listing.versions)
    pruning = _Pruning(listing, needs, min_age)
    folder = f"{prefix}/{TABLE}.lance"
    doomed = [f"{folder}/{name}" for name in pruning.table_files()]
    # A pack leads from one version to the next: keep the one to the oldest kept version.
    oldest_pack = min(pruning.kept) if all_old else min(pruning.kept) - 1
    for name in listing.beside:
        version = version_before(name)
        if version is not None and version < oldest_pack:
            doomed.append(f"{prefix}/{name}")
    transfers.delete(doomed)


class _Pruning:
    """The division of a listing's versions into kept and old ones.

    A version is old from `min_age` on, unless it is the newest. `needs` are the files
    that each version needs; a version whose manifest has vanished is missing there.
    """

    def __init__(
        self, listing: Listing, needs: Mapping[int, Needs], min_age: timedelta
    ) -> None:
        self._listing = listing
        self._needs = needs
        self._last_commit = max(listing.commit_times.values())
        self.kept: set[int] = set()
        self._old: set[int] = set()
        for version, time in listing.commit_times.items():
            old = self._last_commit - time >= min_age
            is_old = old and version != listing.newest
            (self._old if is_old else self.kept).add(version)

    def table_files(self) -> Iterator[str]:
        """Yield the table's files to delete: manifests first, then the other files."""
        for version in self._old:
            if self._last_commit - self._listing.commit_times[version] >= FENCE:
                yield manifest_name(version)
        for name in self._listing.files:
            if not self._is_needed_by(self.kept, name) and self._is_unused(name):
                yield name

    def _is_unused(self, name: str) -> bool:
        """Tell whether no version or writer uses a file that no kept version names."""
        if is_content(name):
            age = self._last_commit - self._listing.files[name].last_modified
            return self._is_needed_by(self._old, name) or age >= ORPHAN_AGE
        if name.startswith(f"{_TRANSACTIONS}/"):
            return _read_version(name) < min(self.kept)
        return False

    def _is_needed_by(self, versions: set[int], name: str) -> bool:
        for version in versions:
            needs = self._needs.get(version)
            if needs is not None and needs.has(name):
                return True
        return False


def _read_needs(
    transfers: Transfers, prefix: str, versions: list[int]
) -> dict[int, Needs]:
    folder = f"{prefix}/{TABLE}.lance"
    keys = [f"{folder}/{manifest_name(version)}" for version in versions]
    manifests = transfers.get(keys)
    needs = {}
    for version, manifest in zip(versions, manifests, strict=True):
        if manifest is not None:
            needs[version] = needs_of(manifest)
    return needs


def _read_version(transaction: str) -> int:
    """Return the version that a transaction was based on, from its file's name."""
    number = transaction.removeprefix(f"{_TRANSACTIONS}/").partition("-")[0]
    return int(number) if number.isdecimal() else 0
