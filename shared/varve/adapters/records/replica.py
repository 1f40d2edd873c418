"""A mirror of one table of an object store in a local directory.

Reads and changes happen in the directory; a conditional put commits a change. The files of
a version never change, so the directory fetches only files that it lacks. LanceDB
makes a change in the directory. The replica puts the new files first and the manifest of
the new version last, on the condition that no such manifest exists. That put is the
commit. The writer that loses the race discards its change and reapplies it to the new
version. So commits are strictly sequential, and a process that dies before its put
leaves only files that no manifest names.
"""

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, partial
from itertools import takewhile
from pathlib import Path
from threading import RLock
from time import monotonic
from typing import Any

from varve.adapters.exports.transfers import LocalFile, Transfers, Vanished
from varve.adapters.records.files import (
    Needs,
    is_content,
    manifest_name,
    needs_of,
    version_of,
)
from varve.adapters.records.lean_import import without_rest_client
from varve.adapters.records.packs import MAX_PACK_BYTES, pack, pack_name
from varve.ports.objects import ObjectInfo

with without_rest_client():
    import lancedb
    from lancedb.table import Table

TABLE = "memories"
AT_ONCE_BYTES = 16 * 1024 * 1024
"""Bytes that may be fetched together with the manifest although it may not need them."""


@dataclass(frozen=True)
class Listing:
    """One store's objects at a moment.

    `files` are the table's files and `beside` the store's other objects, by relative
    name. `taken` is a time of the monotonic clock, in seconds, before the request.
    """

    files: Mapping[str, ObjectInfo]
    beside: Mapping[str, ObjectInfo]
    taken: float

    @classmethod
    def of(
        cls, prefix: str, found: Mapping[str, ObjectInfo], taken: float
    ) -> "Listing":
        """Build the listing of the store at `prefix` from objects by full key."""
        table = f"{prefix}/{TABLE}.lance/"
        store = f"{prefix}/"
        files = {}
        beside = {}
        for key, info in found.items():
            if key.startswith(table):
                files[key.removeprefix(table)] = info
            elif key.startswith(store):
                beside[key.removeprefix(store)] = info
        return cls(files, beside, taken)

    @cached_property
    def versions(self) -> list[int]:
        """The committed versions, newest first."""
        found = map(version_of, self.files)
        versions = [version for version in found if version is not None]
        return sorted(versions, reverse=True)

    @property
    def newest(self) -> int:
        """The newest version; 0 if there is no table."""
        return self.versions[0] if self.versions else 0

    @cached_property
    def commit_times(self) -> dict[int, datetime]:
        """The time of each commit by the object store's clock, newest version first."""
        return {version: self.stamp(version)[0] for version in self.versions}

    @cached_property
    def content(self) -> dict[str, int]:
        """Sizes of the files with rows, deletions and indices, by name."""
        return {
            name: info.size for name, info in self.files.items() if is_content(name)
        }

    @property
    def size(self) -> int:
        """The bytes of these files together."""
        return sum(self.content.values())

    def stamp(self, version: int) -> tuple[datetime, int]:
        """Return the time and size of a version's manifest.

        They differ from those of the same version in a recreated store.
        """
        info = self.files[manifest_name(version)]
        return info.last_modified, info.size


class Replica:
    """The mirror of one store. `table` is open at `version`; callers hold `lock`."""

    def __init__(
        self, prefix: str, home: Path, transfers: Transfers, session: Any
    ) -> None:
        self.prefix = prefix
        self.lock = RLock()
        self.table: Table | None = None
        self.version = 0
        self._home = home
        self._generation = 0
        self._transfers = transfers
        self._session = session
        self._held: dict[str, int] = {}
        self._stamp: tuple[datetime, int] | None = None
        self._committed = float("-inf")

    @property
    def size(self) -> int:
        """The bytes of its files on disk."""
        return sum(self._held.values())

    # ---- pull

    def add_files(self, files: Mapping[str, bytes], listing: Listing) -> None:
        """Store the content of listed files that were fetched in a pack."""
        if not self.version or listing.newest <= self.version:
            return
        listed = {manifest_name(listing.newest), *listing.content}
        for name in listed - self._held.keys():
            if name in files:
                path = self._path / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(files[name])
                self._held[name] = len(files[name])

    def missing(self, listing: Listing) -> dict[str, LocalFile]:
        """Return the files to fetch next to reach the listing's newest version.

        Maps each key to its local file. If none is left, call `switch_to`.
        Raises Vanished: a needed file is not listed.
        """
        if self._is_older(listing):
            return {}
        if self._was_recreated(listing):
            self.reset()
        wanted = {}
        for name in self._missing_names(listing):
            size = listing.files[name].size
            wanted[self._key(name)] = LocalFile(self._path / name, size)
        return wanted

    def _missing_names(self, listing: Listing) -> set[str]:
        if listing.newest in (0, self.version):
            return set()
        manifest = manifest_name(listing.newest)
        lacking = {
            name: size
            for name, size in listing.content.items()
            if name not in self._held
        }
        if manifest not in self._held:
            return {manifest, *_guess_needed(lacking, listing)}
        needs = self._read_needs(manifest)
        if needs.files - self._held.keys() - lacking.keys():
            raise Vanished
        return {name for name in lacking if needs.has(name)}

    def mark_fetched(self, files: Mapping[str, LocalFile]) -> None:
        """Record that these files, as returned by `missing`, are on disk."""
        folder = self._key("")
        for key, file in files.items():
            self._held[key.removeprefix(folder)] = file.size

    def switch_to(self, listing: Listing) -> None:
        """Open the listing's newest version and drop files that are not listed."""
        if self._is_older(listing):
            return
        if listing.newest == 0:
            self.reset()
            return
        self._stamp = listing.stamp(listing.newest)
        listed = {manifest_name(listing.newest), *listing.content}
        self._drop(self._held.keys() - listed)
        if listing.newest != self.version:
            self._open(listing.newest)

    def count_unneeded(self, listing: Listing) -> int:
        """Count the listed files that the open version does not need."""
        if not self.version:
            return 0
        needs = self._read_needs(manifest_name(self.version))
        return sum(not needs.has(name) for name in listing.content)

    def drop_unneeded(self) -> None:
        """Drop the files that only older versions need."""
        needs = self._read_needs(manifest_name(self.version))
        content = set(filter(is_content, self._held))
        self._drop({name for name in content if not needs.has(name)})

    def reset(self) -> None:
        """Drop everything."""
        if not self._held:
            return
        self.table = None
        self.version = 0
        self._held = {}
        self._stamp = None
        shutil.rmtree(self._path, ignore_errors=True)
        self._generation += 1

    # ---- commit

    def database(self) -> Any:
        """Open the directory as a LanceDB database."""
        self._path.mkdir(parents=True, exist_ok=True)
        return lancedb.connect(self._path.parent, session=self._session)

    def commit(self) -> bool:
        """Upload and commit the versions that LanceDB has added in the directory.

        Versions are committed one by one. Returns False if another writer committed
        first: then call `discard`. Raises Retryable: it is unknown whether the commit
        succeeded; then call `discard` too.
        """
        fresh = self._fresh_files()
        found = map(version_of, fresh)
        versions = sorted(version for version in found if version is not None)
        if not versions:
            return True
        manifests = {}
        for version in versions:
            name = manifest_name(version)
            manifests[name] = (self._path / name).read_bytes()
        needs = [needs_of(manifest) for manifest in manifests.values()]
        content = _needed_content(fresh, needs)
        if not self._put(content, manifests, needs):
            return False
        self._put_pack(content, manifests)
        for name in (*content, *manifests):
            self._held[name] = fresh[name]
        self._stamp = None
        self._committed = monotonic()
        self._open(versions[-1])
        return True

    def _put(
        self, content: list[str], manifests: Mapping[str, bytes], needs: list[Needs]
    ) -> bool:
        """Upload the files and put the manifests; False if another writer was first."""
        commits = [self._commit_put(name, data) for name, data in manifests.items()]
        if not needs[0].files and not needs[0].indices:
            # The manifest of an empty table names no file, so it waits for no upload.
            commits[0] = self._transfers.start(commits[0]).result
        self._transfers.upload(self._local_files(content))
        committed = list(takewhile(bool, (commit() for commit in commits)))
        if len(committed) == len(commits):
            return True
        used = _needed_content(content, needs[: len(committed)])
        lost = [name for name in content if name not in used]
        self._transfers.delete(self._key(name) for name in lost)
        return False

    def _local_files(self, names: Iterable[str]) -> dict[str, Path]:
        """Return the files' local paths by key."""
        return {self._key(name): self._path / name for name in names}

    def _commit_put(self, name: str, data: bytes) -> Callable[[], bool]:
        return partial(self._transfers.objects.put_if, self._key(name), data, None)

    def discard(self) -> None:
        """Discard what LanceDB has written since the last commit.

        The directory gets a new name, because LanceDB caches manifests by path and version.
        """
        self._unlink_fresh_files()
        before = self._path
        self._generation += 1
        if before.exists():
            self._path.parent.mkdir(parents=True)
            before.rename(self._path)
        if self.version:
            self._open(self.version)
        else:
            self.table = None

    def _put_pack(self, content: list[str], manifests: Mapping[str, bytes]) -> None:
        """Put the pack of a commit in the background, unless the commit is too large."""
        if not self.version:
            return
        files = dict(manifests)
        for name in content:
            files[name] = (self._path / name).read_bytes()
        size = sum(map(len, files.values()))
        if size <= MAX_PACK_BYTES:
            key = f"{self.prefix}/{pack_name(self.version)}"
            self._transfers.put_behind(key, pack(files))

    # ---- local files

    @property
    def _path(self) -> Path:
        return self._home / str(self._generation) / f"{TABLE}.lance"

    def _key(self, name: str) -> str:
        return f"{self.prefix}/{TABLE}.lance/{name}"

    def _fresh_files(self) -> dict[str, int]:
        """Sizes of the files on disk that are not committed, by name."""
        sizes = {}
        for path in self._path.rglob("*"):
            name = path.relative_to(self._path).as_posix()
            if name not in self._held and path.is_file():
                sizes[name] = path.stat().st_size
        return sizes

    def _unlink_fresh_files(self) -> None:
        for name in self._fresh_files():
            (self._path / name).unlink()

    def _read_needs(self, manifest: str) -> Needs:
        return needs_of((self._path / manifest).read_bytes())

    def _open(self, version: int) -> None:
        self._unlink_fresh_files()
        current = manifest_name(version)
        manifests = {name for name in self._held if version_of(name) is not None}
        self._drop(manifests - {current})
        self.table = self.database().open_table(TABLE)
        self.version = version

    def _drop(self, names: Set[str]) -> None:
        for name in names:
            (self._path / name).unlink(missing_ok=True)
            del self._held[name]

    def _is_older(self, listing: Listing) -> bool:
        """Tell whether the listing predates this replica's version.

        Such a listing was requested before the replica's commit, or it is stale.
        """
        if listing.newest >= self.version:
            return False
        if listing.taken < self._committed:
            return True
        manifest = self._key(manifest_name(self.version))
        return self._transfers.objects.get(manifest) is not None

    def _was_recreated(self, listing: Listing) -> bool:
        """Tell whether the store was deleted and recreated with the same versions."""
        if listing.newest < self.version:
            return True
        if self.version == 0 or listing.newest > self.version:
            return False
        if self._stamp is not None:
            return listing.stamp(self.version) != self._stamp
        # The time of the replica's own commit is unknown, but file names are unique.
        needs = self._read_needs(manifest_name(self.version))
        return not needs.files <= listing.content.keys()


def _needed_content(names: Iterable[str], needs: Sequence[Needs]) -> list[str]:
    """Return the content files that at least one of the versions needs."""
    return [
        name
        for name in filter(is_content, names)
        if any(version.has(name) for version in needs)
    ]


def _guess_needed(lacking: Mapping[str, int], listing: Listing) -> Iterator[str]:
    """Yield files that the newest version probably needs, by size and age.

    Those are the newest files that make up half the bytes, and some older ones. Files
    that a compaction replaced stay listed for a while. They are about as large as the
    files in their place.
    """
    half = sum(lacking.values()) / 2
    taken = 0
    spare = AT_ONCE_BYTES
    newest_first = sorted(
        lacking, key=lambda name: listing.files[name].last_modified, reverse=True
    )
    for name in newest_first:
        if taken >= half:
            spare -= lacking[name]
            if spare < 0:
                return
        taken += lacking[name]
        yield name
