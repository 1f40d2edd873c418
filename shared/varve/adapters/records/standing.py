"""Where a store stands: which version it is at, told without opening it wherever that is possible."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lancedb.table import Table

COARSEST_SECONDS = 3.0
"""No file system's clock is coarser: the times of FAT are two seconds apart."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A store to be read. `table` opens it, or gives None where nothing has been written yet.

    `version` tells the state it is in from any other, None where nothing has been written: asked before the
    table is read, it names what is read, or what was there before that.
    """

    table: "Callable[[], Table | None]"
    version: Callable[[], object]

    @classmethod
    def of(cls, table: "Callable[[], Table | None]") -> "Standing":
        """The store that opens so, opened once, its version as LanceDB tells it."""
        opened = cache(table)

        def version() -> object:
            found = opened()
            # Another life of the store is another table.
            return None if found is None else (found, found.version)

        return cls(opened, version)


@dataclass(frozen=True, slots=True)
class _Reading:
    """The newest version by a folder's names, which were read at `at`, and had been changed since `since`.

    Both in seconds of the monotonic clock, `changed` is the file system's own time.
    """

    changed: int
    since: float
    at: float
    newest: object


class Watch:
    """Tells the newest version of tables in directories by the names in their `_versions`.

    The names are read again where the folder's time of change is another one. Changes within one tick of the
    file system's clock leave the same time, so a reading is relied on only if the folder had stood unchanged
    for longer than any tick before its names were read.
    """

    def __init__(self) -> None:
        self._read: dict[str, _Reading] = {}

    def newest(self, folder: str) -> object:
        """What tells the newest version of this folder from any other; None where there is none."""
        try:
            changed = os.stat(folder).st_mtime_ns  # noqa: PTH116 - each search asks, and a Path costs as much
        except (FileNotFoundError, NotADirectoryError):
            return None
        known, now = self._read.get(folder), monotonic()
        if known is None or known.changed != changed:
            known = _Reading(changed, now, now, _newest(folder))
        elif known.at - known.since < COARSEST_SECONDS:
            known = _Reading(changed, known.since, now, _newest(folder))
        self._read[folder] = known
        return known.newest


def _newest(folder: str) -> object:
    """The first name, which is that of the newest manifest, with what tells a file from its namesakes."""
    while names := os.listdir(folder):  # noqa: PTH208 - names, not paths
        # Damage that takes all manifests must not read as nothing written.
        name = min(
            (name for name in names if name.endswith(".manifest")), default=names[0]
        )
        try:
            found = os.stat(f"{folder}/{name}")  # noqa: PTH116 - as before
        except FileNotFoundError:  # pruned since, so there is a newer one
            continue
        return name, found.st_ino, found.st_mtime_ns
    return None
