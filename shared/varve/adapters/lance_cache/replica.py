"""A copy of one table of an object store in a local directory, for reading.

The files of a version never change, so the directory fetches only files that it lacks.
LanceDB opens the directory as a table at that version.
"""

import shutil
from collections.abc import Mapping, Set
from datetime import datetime
from pathlib import Path
from threading import RLock
from typing import Any

from varve.adapters.exports.transfers import LocalFile, Transfers, Vanished
from varve.adapters.lance.lean_import import without_rest_client
from varve.adapters.lance.rows import TABLE
from varve.adapters.lance_cache.files import manifest_name, needs_of
from varve.adapters.lance_cache.listing import Listing

with without_rest_client():
    import lancedb
    from lancedb.table import Table


class Replica:
    """The copy of one store. `table` is open at `version`; callers hold `lock`.

    `unknown` is the version whose manifest is in an unknown format.
    """

    def __init__(
        self, prefix: str, home: Path, transfers: Transfers, session: Any
    ) -> None:
        self.prefix = prefix
        self.lock = RLock()
        self.table: Table | None = None
        self.version = 0
        self.unknown = 0
        self._home = home
        self._generation = 0
        self._transfers = transfers
        self._session = session
        self._held: dict[str, int] = {}
        self._stamp: tuple[datetime, int] | None = None

    @property
    def size(self) -> int:
        """The bytes of its files on disk."""
        return sum(self._held.values())

    def missing(self, listing: Listing) -> dict[str, LocalFile]:
        """Return the files to fetch next to reach the listing's newest version.

        Maps each key to its local file. If none is left, call `switch_to`.
        Raises Vanished: a needed file is not listed; UnknownFormat.
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
            return {manifest, *listing.guess_needed(lacking)}
        needs = needs_of((self._path / manifest).read_bytes())
        if needs.files - self._held.keys() - lacking.keys():
            raise Vanished
        return {name for name in lacking if needs.has(name)}

    def mark_fetched(self, files: Mapping[str, LocalFile]) -> None:
        """Record that its files among these, as returned by `missing`, are on disk."""
        folder = self._key("")
        for key, file in files.items():
            if key.startswith(folder):
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
            database = lancedb.connect(
                self._path.parent, session=self._session
            )
            self.table = database.open_table(TABLE)
            self.version = listing.newest

    def reset(self) -> None:
        """Drop everything."""
        if not self._held:
            return
        self.table = None
        self.version = 0
        self._held = {}
        self._stamp = None
        shutil.rmtree(self._path, ignore_errors=True)
        # LanceDB caches manifests by path and version.
        self._generation += 1

    @property
    def _path(self) -> Path:
        return self._home / str(self._generation) / f"{TABLE}.lance"

    def _key(self, name: str) -> str:
        return f"{self.prefix}/{TABLE}.lance/{name}"

    def _drop(self, names: Set[str]) -> None:
        for name in names:
            (self._path / name).unlink(missing_ok=True)
            del self._held[name]

    def _is_older(self, listing: Listing) -> bool:
        """Tell whether the listing is stale: the replica's newer version still exists."""
        if listing.newest >= self.version:
            return False
        manifest = self._key(manifest_name(self.version))
        return self._transfers.objects.get(manifest) is not None

    def _was_recreated(self, listing: Listing) -> bool:
        """Tell whether the store was deleted and recreated."""
        if listing.newest < self.version:
            return True
        if self.version == 0 or listing.newest > self.version:
            return False
        return listing.stamp(self.version) != self._stamp
