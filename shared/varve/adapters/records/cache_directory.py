"""A directory of this process's own, removed when it ends; those of processes that were killed as well."""

import shutil
import tempfile
import weakref
from contextlib import suppress
from pathlib import Path

from filelock import FileLock, Timeout

_PREFIX = "varve-"
_LOCK = ".lock"


class CacheDirectory:
    """A fresh directory below the parent that no other process uses."""

    def __init__(self, parent: Path) -> None:
        parent.mkdir(parents=True, exist_ok=True)
        _sweep(parent)
        # The lock comes first and is the directory's name beside it, so that no sweep finds it without.
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
        lock = FileLock(_lock_of(self.path))
        lock.acquire()
        self.close = weakref.finalize(self, _remove, self.path, lock)


def _lock_of(path: Path) -> Path:
    return path.with_name(f"{path.name}{_LOCK}")


def _remove(path: Path, lock: FileLock) -> None:
    shutil.rmtree(path, ignore_errors=True)
    lock.release()
    with suppress(OSError):
        _lock_of(path).unlink()


def _sweep(parent: Path) -> None:
    """Remove the directories whose owners are gone: their locks are free."""
    for lock_file in parent.glob(f"{_PREFIX}*{_LOCK}"):
        path = lock_file.with_name(lock_file.name.removesuffix(_LOCK))
        lock = FileLock(lock_file)
        with suppress(Timeout):
            lock.acquire(blocking=False)
            _remove(path, lock)
