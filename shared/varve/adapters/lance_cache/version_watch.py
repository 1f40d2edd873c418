"""The newest version of tables in directories, without opening them."""

import os
from dataclasses import dataclass
from functools import partial
from time import monotonic

from varve.adapters.lance.reader import FindTable, OpenTable, TableHandle
from varve.adapters.lance.tables import VERSIONS, store_prefix
from varve.domain.identity import Scope
from varve.domain.record import StoreName

COARSEST_SECONDS = 3.0
"""Longer than a tick of any file system's clock: those of FAT are two seconds."""


@dataclass(frozen=True, slots=True)
class _FolderRead:
    """One reading of a folder's names at time `at`.

    `changed` is the folder's modification time by the file system's clock. `since` is
    when that time was first seen. `at` and `since` are monotonic, in seconds.
    """

    changed: int
    since: float
    at: float
    newest: object


class VersionWatch:
    """Tells the newest version of tables in directories from their `_versions` folders.

    It reads a folder's names again if the folder's modification time has changed. Two
    changes within one tick of the file system's clock leave the same time. So it trusts
    a reading only if the folder was unchanged for longer than any tick before it.
    """

    def __init__(self) -> None:
        self._read: dict[str, _FolderRead] = {}

    def newest(self, folder: str) -> object:
        """Return a value that identifies the folder's newest version, or None."""
        try:
            changed = os.stat(folder).st_mtime_ns  # noqa: PTH116 - Path.stat takes twice as long
        except (FileNotFoundError, NotADirectoryError):
            return None
        known = self._read.get(folder)
        now = monotonic()
        if known is None or known.changed != changed:
            known = _FolderRead(changed, now, now, _newest_manifest(folder))
        elif known.at - known.since < COARSEST_SECONDS:
            known = _FolderRead(
                changed, known.since, now, _newest_manifest(folder)
            )
        self._read[folder] = known
        return known.newest


def _newest_manifest(folder: str) -> object:
    """Return name, inode and time of the first, and so the newest, manifest.

    Inode and time tell it from a manifest of the same name in a recreated store.
    """
    while names := os.listdir(folder):  # noqa: PTH208 - needs the names, not paths
        manifests = (name for name in names if name.endswith(".manifest"))
        # If damage took all manifests, the folder must not read as an empty store.
        name = min(manifests, default=names[0])
        try:
            found = os.stat(f"{folder}/{name}")  # noqa: PTH116 - same reason as above
        except FileNotFoundError:  # pruned meanwhile, so there is a newer one
            continue
        return name, found.st_ino, found.st_mtime_ns
    return None


def watched_tables(root: str, open_newest: OpenTable) -> FindTable:
    """Return a finder of handles that tell a version without opening its table.

    `root` is a directory.
    """
    watch = VersionWatch()

    def find(scope: Scope, grain: StoreName) -> TableHandle:
        folder = f"{root}/{store_prefix(scope, grain)}/{VERSIONS}"
        return TableHandle(
            partial(open_newest, scope, grain), partial(watch.newest, folder)
        )

    return find
