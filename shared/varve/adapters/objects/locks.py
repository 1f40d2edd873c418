"""Locks between threads and, for a directory, between processes."""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from pathlib import Path
from threading import Lock

from filelock import FileLock

from varve.adapters.disk_errors import disk_error
from varve.domain.errors import Retryable
from varve.ports.locks import SLOTS, slot_of

POLL_SECONDS = 0.01
"""How often a process asks for a lock file that another process holds."""

_locks: dict[str, Lock] = {}
"""Every lock of this process: two clients of one root must share them."""


class ProcessLocks:
    """The Locks port between the threads of this process, for one store root.

    A name stands for one lock of its area, `slot_of`. Two names that share a lock only
    wait longer.
    """

    def __init__(self, root: str) -> None:
        self._root = root

    @contextmanager
    def hold(self, area: str, names: Iterable[str]) -> Iterator[None]:
        shares = {_lock_name(area, name) for name in names}
        with ExitStack() as held:
            for share in sorted(shares):
                self._acquire(share, held)
            yield

    def _acquire(self, share: str, held: ExitStack) -> None:
        lock = _locks.setdefault(f"{self._root}/{share}", Lock())
        held.enter_context(lock)


class DirectoryLocks(ProcessLocks):
    """The Locks port between threads and processes that write to one directory.

    The system frees the lock file of a process that dies. Raises Misconfigured,
    Retryable: the disk refuses a lock file.
    """

    def __init__(self, root: Path) -> None:
        super().__init__(str(root.absolute()))
        self._store = root
        self._folder = root / ".locks"

    def _acquire(self, share: str, held: ExitStack) -> None:
        super()._acquire(
            share, held
        )  # so that threads do not poll for each other
        path = f"{self._folder}/{share}"
        try:
            held.enter_context(_lock_file(path))
        except OSError as error:
            where = f"store {self._store} cannot be written"
            raise disk_error(where, error) or Retryable(
                f"{where}: {error.strerror}"
            ) from error


@lru_cache(SLOTS)
def _lock_file(path: str) -> FileLock:
    """Return the lock file at the path; its thread holds the process's lock of that name.

    The folder is made with it.
    """
    return FileLock(path, poll_interval=POLL_SECONDS, thread_local=False)


def _lock_name(area: str, name: str) -> str:
    return f"{area}-{slot_of(name):03x}"
