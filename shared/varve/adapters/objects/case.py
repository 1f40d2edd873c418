"""Refuse ids that would share a folder on a file system that ignores case.

macOS and Windows take `Acme` and `acme` for one folder. S3 does not, so the keys stay as
they are, and a store may be copied between them. Ids are ASCII, so that no Unicode
normalization makes two of them equal.
"""

import os
from pathlib import Path

from varve.domain.errors import Misconfigured

_Listed = tuple[tuple[int, int], dict[str, str]]
"""A folder's inode and time of change, and its names by their folded form."""


class CaseGuard:
    """Checks that the folders of a path are there in exactly the case asked for."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._ignores_case: bool | None = None
        self._listed: dict[str, _Listed] = {}

    def require_exact(self, key: str) -> None:
        """Check each name of the key, relative to the root, that is there.

        Raises Misconfigured: the file system has it in another case.
        """
        if not self.asks():
            return
        folder = str(self._root)
        for name in key.split("/"):
            actual = self._names(folder).get(_fold(name), name)
            if actual != name:
                raise Misconfigured(
                    f"store {self._root}: its file system ignores case, and "
                    f"{name!r} would share the folder of {actual!r}"
                )
            folder = f"{folder}/{name}"

    def asks(self) -> bool:
        """Return whether names can share a folder; an empty root is asked again later."""
        if self._ignores_case is None:
            self._ignores_case = _ignores_case(self._root)
        return bool(self._ignores_case)

    def _names(self, folder: str) -> dict[str, str]:
        try:
            status = os.stat(folder)  # noqa: PTH116 - faster than Path.stat
        except OSError:  # the request itself names the fault
            return {}
        stamp = (status.st_ino, status.st_mtime_ns)
        known = self._listed.get(folder)
        if known is not None and known[0] == stamp:
            return known[1]
        try:
            names = {_fold(name): name for name in os.listdir(folder)}  # noqa: PTH208
        except OSError:
            return {}
        self._listed[folder] = (stamp, names)
        return names


def _ignores_case(root: Path) -> bool | None:
    """Ask the file system for an entry of the root in another case; None: none is there."""
    try:
        entries = set(os.listdir(root))  # noqa: PTH208
    except OSError:
        return None
    for entry in entries:
        other = entry.swapcase()
        if other not in entries:
            return (root / other).exists()
    return None


def _fold(name: str) -> str:
    # Windows ignores dots at the end of a name, too.
    return name.casefold().rstrip(".")
