"""A copy of one table of an object store in a local directory, for reading.

The files of a version never change, so the directory fetches only files that it lacks.
LanceDB opens the directory as a table at that version.
"""

import shutil
from pathlib import Path
from threading import RLock
from typing import Any
from uuid import uuid4

import lancedb
from lancedb.table import Table

from varve.adapters.exports.transfers import LocalFile
from varve.adapters.lance.rows import TABLE
from varve.adapters.lance_cache.files import manifest_name
from varve.adapters.lance_cache.listing import Files, Listing
from varve.ports.objects import Objects


class Replica:
    """The copy of one store, below `home`. `table` is open at `version`; callers hold `lock`.

    `used` is the time of the last request for it, monotonic, in seconds.
    """

    def __init__(
        self, prefix: str, home: Path, objects: Objects, session: Any
    ) -> None:
        self.prefix = prefix
        self.lock = RLock()
        self.table: Table | None = None
        self.version = 0
        self.used = 0.0
        self._home = home
        self._objects = objects
        self._session = session
        self._held: Files = {}
        self._folder = self._new_folder()

    @property
    def size(self) -> int:
        """The bytes of its files on disk."""
        return sum(info.size for info in self._held.values())

    def find_missing(self, listing: Listing) -> dict[str, LocalFile]:
        """Return the files to fetch before `switch_to`, by key."""
        if self._is_ahead_of(listing):
            return {}
        if self._was_recreated(listing):
            self.reset()
        wanted = {}
        for name, info in listing.carried.items():
            if name not in self._held:
                wanted[info.key] = LocalFile(self._folder / name, info.size)
        return wanted

    def switch_to(self, listing: Listing) -> None:
        """Open the listing's newest version and drop files that are not listed."""
        if self._is_ahead_of(listing):
            return
        carried = listing.carried
        if not carried:
            self.reset()
            return
        for name in self._held.keys() - carried.keys():
            (self._folder / name).unlink(missing_ok=True)
        self._held = carried
        if listing.newest != self.version:
            database = lancedb.connect(
                self._folder.parent, session=self._session
            )
            self.table = database.open_table(TABLE)
            self.version = listing.newest

    def reset(self) -> None:
        """Drop everything."""
        shutil.rmtree(self._folder.parent, ignore_errors=True)
        self.table = None
        self.version = 0
        self._held = {}
        self._folder = self._new_folder()

    def _new_folder(self) -> Path:
        # LanceDB caches manifests by path and version, so no path comes twice.
        return self._home / uuid4().hex / f"{TABLE}.lance"

    def _is_ahead_of(self, listing: Listing) -> bool:
        """Tell whether the listing is stale: the replica's newer version still exists."""
        if listing.newest >= self.version:
            return False
        held = self._held[manifest_name(self.version)]
        return self._objects.get(held.key) is not None

    def _was_recreated(self, listing: Listing) -> bool:
        """Tell whether the store was deleted and recreated, perhaps up to this version."""
        if listing.newest < self.version:
            return True
        manifest = manifest_name(self.version)
        held = self._held.get(manifest)
        return listing.files.get(manifest, held) != held
