"""A directory for one process, deleted when the process ends or after it was killed."""

import shutil
import tempfile
import weakref
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from filelock import FileLock, Timeout

_PREFIX = "varve-"
_LOCK = ".lock"


@dataclass(frozen=True, slots=True)
class Caching:
    """The directory for replicas, the bytes that they may take, and for how long.

    A replica that no request used for `seconds` is removed at the next request of any
    agent, because it may hold data that an erasure has deleted from its store.
    """

    directory: Path = field(
        default_factory=lambda: Path(tempfile.gettempdir())
    )
    bytes: int = 360_000_000
    seconds: float = 900.0

    @property
    def store_bytes(self) -> int:
        """Limit for a store with a replica, so that an agent's other stores fit too."""
        return self.bytes // 3


class CacheDirectory:
    """A new directory below `parent` that no other process uses."""

    def __init__(self, parent: Path) -> None:
        parent.mkdir(parents=True, exist_ok=True)
        _sweep(parent)
        # A sweep looks for lock files, so it never finds the directory before its lock.
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
        lock = FileLock(_lock_file(self.path))
        lock.acquire()
        self.close = weakref.finalize(self, _remove, self.path, lock)


def _lock_file(path: Path) -> Path:
    return path.with_name(f"{path.name}{_LOCK}")


def _remove(path: Path, lock: FileLock) -> None:
    shutil.rmtree(path, ignore_errors=True)
    lock.release()
    with suppress(OSError):
        _lock_file(path).unlink()


def _sweep(parent: Path) -> None:
    """Remove the directories of processes that have ended: their locks are free."""
    for lock_file in parent.glob(f"{_PREFIX}*{_LOCK}"):
        path = lock_file.with_name(lock_file.name.removesuffix(_LOCK))
        lock = FileLock(lock_file)
        with suppress(Timeout):
            lock.acquire(blocking=False)
            _remove(path, lock)
