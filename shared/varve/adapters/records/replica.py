"""One table of an object store, mirrored in a directory: read there, changed there, committed by one put.

The files of a version never change, so the directory needs only those that it does not hold yet. A
change is made by LanceDB in the directory; its files are put first and the manifest of its version last,
on the condition that there is none. That put is the commit. Whoever loses it throws the change away
and makes it again on top of the winner's: commits are strictly one after the other, and a process that
dies before its put leaves files that nothing names.
"""

import shutil
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, partial
from itertools import takewhile
from pathlib import Path
from threading import RLock
from time import monotonic
from typing import Any

from varve.adapters.exports.transfers import Transfers, Vanished
from varve.adapters.records.files import (
    Needs,
    is_content,
    manifest_name,
    needs_of,
    version_of,
)
from varve.adapters.records.lean_import import without_rest_client
from varve.adapters.records.packs import MAX_BYTES, pack, pack_name
from varve.ports.objects import ObjectInfo

with without_rest_client():
    import lancedb
    from lancedb.table import Table

TABLE = "memories"
AT_ONCE_BYTES = 16 * 1024 * 1024
"""What may be fetched with the manifest, rather than after it, though it may turn out not to be needed."""


@dataclass(frozen=True)
class Listing:
    """What lay in one store at a moment: by name, the table's files and the others beside it.

    `taken` is before the listing was asked for, in seconds of the monotonic clock.
    """

    files: Mapping[str, ObjectInfo]
    beside: Mapping[str, ObjectInfo]
    taken: float

    @classmethod
    def of(
        cls, prefix: str, found: Mapping[str, ObjectInfo], taken: float
    ) -> "Listing":
        """Sort what was found below a store's prefix; the keys are full ones."""
        table, here = f"{prefix}/{TABLE}.lance/", f"{prefix}/"
        files = {
            key.removeprefix(table): info
            for key, info in found.items()
            if key.startswith(table)
        }
        others = (
            key for key in found if key.startswith(here) and not key.startswith(table)
        )
        return cls(files, {key.removeprefix(here): found[key] for key in others}, taken)

    @cached_property
    def versions(self) -> list[int]:
        """The committed versions, newest first."""
        found = (version_of(name) for name in self.files)
        return sorted(
            (version for version in found if version is not None), reverse=True
        )

    @property
    def newest(self) -> int:
        """The newest version; 0 where there is no table."""
        return self.versions[0] if self.versions else 0

    @cached_property
    def content(self) -> dict[str, int]:
        """Sizes of the files with rows, deletions and indices, by name."""
        return {
            name: info.size for name, info in self.files.items() if is_content(name)
        }

    @property
    def size(self) -> int:
        """The size of these files."""
        return sum(self.content.values())

    def age_stamp(self, version: int) -> tuple[datetime, int]:
        """What tells a version's manifest from one of the same number in another life of the store."""
        info = self.files[manifest_name(version)]
        return info.last_modified, info.size


class Replica:
    """The mirror of one store. Whoever calls holds its `lock`; `table` is the version it stands at."""

    def __init__(
        self, prefix: str, home: Path, transfers: Transfers, session: Any
    ) -> None:
        self.prefix = prefix
        self.lock = RLock()
        self.table: Table | None = None
        self.version = 0
        self._home, self._lives = home, 0
        self._transfers, self._session = transfers, session
        self._held: dict[str, int] = {}
        self._stamp: tuple[datetime, int] | None = None
        self._committed = float("-inf")

    @property
    def size(self) -> int:
        """What it takes on disk."""
        return sum(self._held.values())

    # ---- pull

    def take(self, files: Mapping[str, bytes], listing: Listing) -> None:
        """Use bytes that came by another way for files that the listing has."""
        if self.version and listing.newest > self.version:
            wanted = {
                manifest_name(listing.newest),
                *listing.content,
            } - self._held.keys()
            for name in wanted & files.keys():
                path = self._path / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(files[name])
                self._held[name] = len(files[name])

    def missing(self, listing: Listing) -> dict[str, tuple[Path, int]]:
        """What to fetch next, with its size, to stand at the listing's newest version; nothing: `settle`."""
        if self._is_older(listing):
            return {}
        if self._is_of_another_life(listing):
            self.reset()
        manifest = manifest_name(listing.newest)
        lacking = {
            name: size
            for name, size in listing.content.items()
            if name not in self._held
        }
        if listing.newest == 0 or listing.newest == self.version:
            wanted = set()
        elif manifest not in self._held:
            wanted = {manifest, *_likely(lacking, listing)}
        else:
            needs = self._needs(manifest)
            if needs.files - self._held.keys() - lacking.keys():
                raise Vanished
            wanted = {name for name in lacking if needs.has(name)}
        return {
            self._key(name): (self._path / name, listing.files[name].size)
            for name in wanted
        }

    def fetched(self, files: Mapping[str, tuple[Path, int]]) -> None:
        """Note that these are there now."""
        self._held |= {
            key.removeprefix(self._key("")): size for key, (_, size) in files.items()
        }

    def settle(self, listing: Listing) -> None:
        """Stand at the listing's newest version and let go of what is not listed any more."""
        if self._is_older(listing):
            return
        if listing.newest == 0:
            self.reset()
            return
        self._stamp = listing.age_stamp(listing.newest)
        self._drop(
            self._held.keys() - {manifest_name(listing.newest), *listing.content}
        )
        if listing.newest != self.version:
            self._open(listing.newest)

    def spare(self, listing: Listing) -> int:
        """How many of the listed files the version that it stands at does not need."""
        if not self.version:
            return 0
        needs = self._needs(manifest_name(self.version))
        return sum(not needs.has(name) for name in listing.content)

    def trim(self) -> None:
        """Let go of what only older versions need."""
        needs = self._needs(manifest_name(self.version))
        self._drop(
            {name for name in self._held if is_content(name) and not needs.has(name)}
        )

    def reset(self) -> None:
        """Forget everything."""
        if not self._held:
            return
        self.table, self.version, self._held, self._stamp = None, 0, {}, None
        shutil.rmtree(self._path, ignore_errors=True)
        self._lives += 1

    # ---- commit

    def database(self) -> Any:
        """The directory as a LanceDB database."""
        self._path.mkdir(parents=True, exist_ok=True)
        return lancedb.connect(self._path.parent, session=self._session)

    def commit(self) -> bool:
        """Put what LanceDB has written into the directory since; False: another was first.

        The versions are committed one by one. After False the directory has to be given up with
        `discard`. Raises Retryable: nobody knows whether it is committed, and `discard` as well.
        """
        fresh = {
            name: size
            for name, size in self._on_disk().items()
            if name not in self._held
        }
        versions = sorted(
            version for version in map(version_of, fresh) if version is not None
        )
        if not versions:
            return True
        manifests = {
            manifest_name(v): (self._path / manifest_name(v)).read_bytes()
            for v in versions
        }
        needs = [needs_of(manifest) for manifest in manifests.values()]
        content = [
            name
            for name in fresh
            if is_content(name) and any(need.has(name) for need in needs)
        ]
        put: list[Callable[[], bool]] = [
            partial(self._transfers.objects.put_if, self._key(n), m, None)
            for n, m in manifests.items()
        ]
        if (
            not needs[0].files and not needs[0].indices
        ):  # an empty table waits for no upload
            put[0] = self._transfers.start(put[0]).result
        self._transfers.upload({self._key(name): self._path / name for name in content})
        committed = list(takewhile(bool, (commit() for commit in put)))
        if len(committed) < len(put):
            used = needs[: len(committed)]
            lost = [
                name for name in content if not any(need.has(name) for need in used)
            ]
            self._transfers.delete(self._key(name) for name in lost)
            return False
        self._pack(content, manifests)
        self._held |= {name: fresh[name] for name in [*content, *manifests]}
        self._stamp, self._committed = None, monotonic()
        self._open(versions[-1])
        return True

    def discard(self) -> None:
        """Throw away what was written and not committed.

        The directory moves, for LanceDB remembers by path and version what a manifest says.
        """
        for name in self._on_disk().keys() - self._held.keys():
            (self._path / name).unlink()
        before = self._path
        self._lives += 1
        if before.exists():
            self._path.parent.mkdir(parents=True)
            before.rename(self._path)
        if self.version:
            self._open(self.version)
        else:
            self.table = None

    def _pack(self, content: list[str], manifests: dict[str, bytes]) -> None:
        files = {name: (self._path / name).read_bytes() for name in content} | manifests
        if self.version and sum(map(len, files.values())) <= MAX_BYTES:
            self._transfers.put_behind(
                f"{self.prefix}/{pack_name(self.version)}", pack(files)
            )

    # ---- what is where

    @property
    def _path(self) -> Path:
        return self._home / str(self._lives) / f"{TABLE}.lance"

    def _key(self, name: str) -> str:
        return f"{self.prefix}/{TABLE}.lance/{name}"

    def _on_disk(self) -> dict[str, int]:
        files = (path for path in self._path.rglob("*") if path.is_file())
        return {
            path.relative_to(self._path).as_posix(): path.stat().st_size
            for path in files
        }

    def _needs(self, manifest: str) -> Needs:
        return needs_of((self._path / manifest).read_bytes())

    def _open(self, version: int) -> None:
        for name in self._on_disk().keys() - self._held.keys():
            (self._path / name).unlink()
        self._drop(
            {name for name in self._held if version_of(name) not in (None, version)}
        )
        self.table, self.version = self.database().open_table(TABLE), version

    def _drop(self, names: Set[str]) -> None:
        for name in names:
            (self._path / name).unlink(missing_ok=True)
            del self._held[name]

    def _is_older(self, listing: Listing) -> bool:
        """Whether the listing is of before this replica's version: asked for too early, or stale."""
        if listing.newest >= self.version:
            return False
        manifest = self._key(manifest_name(self.version))
        return (
            listing.taken < self._committed
            or self._transfers.objects.get(manifest) is not None
        )

    def _is_of_another_life(self, listing: Listing) -> bool:
        """Whether the store was removed and made anew since: the same numbers, other contents."""
        if listing.newest < self.version:
            return True
        if self.version == 0 or listing.newest > self.version:
            return False
        if (
            self._stamp is None
        ):  # its own commit, of which it knows no time: names of files are unique
            return (
                not self._needs(manifest_name(self.version)).files
                <= listing.content.keys()
            )
        return listing.age_stamp(self.version) != self._stamp


def _likely(lacking: Mapping[str, int], listing: Listing) -> Iterator[str]:
    """What the newest version probably needs: the newest half of the bytes, and some that are older.

    What a compaction replaced stays listed for a while and is about as large as what took its place.
    """
    half, taken, spare = sum(lacking.values()) / 2, 0, AT_ONCE_BYTES
    for name in sorted(
        lacking, key=lambda name: listing.files[name].last_modified, reverse=True
    ):
        if taken >= half:
            spare -= lacking[name]
            if spare < 0:
                return
        taken += lacking[name]
        yield name
