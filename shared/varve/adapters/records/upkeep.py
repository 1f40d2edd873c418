"""When a store is compacted, and which files of an object store go then."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic

from varve.adapters.exports.transfers import Transfers
from varve.adapters.records.files import Needs, is_content, manifest_name, needs_of
from varve.adapters.records.packs import version_before
from varve.adapters.records.replica import TABLE, Listing
from varve.ports.objects import Objects

FENCE = timedelta(seconds=90)
"""Manifests younger than this stay, whatever becomes of their content: a writer that was held up would
else find the number of its version free and commit below the newest, where nobody looks."""
ORPHAN_AGE = timedelta(hours=1)
"""A writer that lives longer than this does not exist; what no manifest names by then is nobody's."""
_TRANSACTIONS = "_transactions"


@dataclass(frozen=True, slots=True)
class Upkeep:
    """When a table is compacted and which of its old versions are kept for readers in flight.

    Compaction follows a write that leaves `max_fragments` fragments, and every `max_fragments`
    versions. Of the older versions those younger than `keep_for` stay, but never more than
    `max_versions`: a burst of writes stays bounded, and a reader that outlives its version starts
    again from the newest. A table of `index_rows` gets an index of its vectors with the next compaction.
    """

    max_fragments: int = 32
    keep_for: timedelta = timedelta(seconds=90)
    max_versions: int = 128
    index_rows: int = 50_000

    def is_due(self, fragments: int, before: int, after: int) -> bool:
        """Whether to compact: writes that replace rows add versions without fragments, so both count."""
        return (
            fragments >= self.max_fragments
            or after // self.max_fragments != before // self.max_fragments
        )

    def is_littered(self, versions: Sequence[datetime], spare: int) -> bool:
        """Whether to remove what is old before the next compaction does.

        What a compaction replaced is too young to go with it. Who finds so many `spare` files, and no reader
        in flight but at the newest of the versions, whose times these are, newest first, removes them.
        """
        alone = len(versions) > 1 and versions[0] - versions[1] >= self.keep_for
        return alone and spare >= self.max_fragments // 2

    def prunable_age(self, times: list[datetime]) -> timedelta:
        """The age from which versions go: `keep_for`, or less where there are more than may stay."""
        newest_first = sorted(times, reverse=True)
        if len(newest_first) <= self.max_versions:
            return self.keep_for
        crowded = newest_first[0] - newest_first[self.max_versions // 2]
        return min(self.keep_for, max(crowded, timedelta(milliseconds=1)))


def look(objects: Objects, prefix: str) -> Listing:
    """One store's files now. Raises Retryable."""
    taken = monotonic()
    return Listing.of(prefix, {info.key: info for info in objects.list(prefix)}, taken)


def prune(transfers: Transfers, prefix: str, upkeep: Upkeep, *, all_old: bool) -> None:
    """Remove what only versions need that may go; with `all_old` all but the newest may.

    Ages are those since the newest commit, by the object store's own clock. Raises Retryable.
    """
    listing = look(transfers.objects, prefix)
    if not listing.versions:
        return
    made = {version: listing.age_stamp(version)[0] for version in listing.versions}
    present = max(made.values())
    most = timedelta(0) if all_old else upkeep.prunable_age(list(made.values()))
    kept = {v for v in made if v == listing.newest or present - made[v] < most}
    old = {v for v in made if v not in kept}
    needs = _needs(transfers, prefix, listing.versions)
    doomed = [manifest_name(v) for v in old if present - made[v] >= FENCE]
    for name, info in listing.files.items():
        if any(needs[v].has(name) for v in kept if v in needs):
            continue
        if is_content(name):
            known = any(needs[v].has(name) for v in old if v in needs)
            if known or present - info.last_modified >= ORPHAN_AGE:
                doomed.append(name)
        elif name.startswith(f"{_TRANSACTIONS}/") and _read_version(name) < min(kept):
            doomed.append(name)
    packs = {name: version_before(name) for name in listing.beside}
    # One leads to the oldest that stays from the one before.
    oldest = min(kept) if all_old else min(kept) - 1
    stale = [
        name
        for name, version in packs.items()
        if version is not None and version < oldest
    ]
    keys = [f"{prefix}/{TABLE}.lance/{name}" for name in doomed] + [
        f"{prefix}/{name}" for name in stale
    ]
    transfers.delete(keys)


def _needs(transfers: Transfers, prefix: str, versions: list[int]) -> dict[int, Needs]:
    keys = [f"{prefix}/{TABLE}.lance/{manifest_name(version)}" for version in versions]
    found = zip(versions, transfers.get(keys), strict=True)
    return {version: needs_of(data) for version, data in found if data is not None}


def _read_version(transaction: str) -> int:
    number = transaction.removeprefix(f"{_TRANSACTIONS}/").partition("-")[0]
    return int(number) if number.isdecimal() else 0
