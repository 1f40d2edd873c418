"""Many objects at once, each in a request of its own: a round trip for all of them."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

from varve.domain.errors import Retryable
from varve.ports import Objects

PARALLEL = 128
"""Enough for the files of all grains of an agent between two compactions in one or two round trips."""
T = TypeVar("T")


class Vanished(Exception):
    """A file that was listed is gone: whoever listed has to look again."""


class Transfers:
    """Objects to files and back, as many at a time as there are threads."""

    def __init__(self, objects: Objects) -> None:
        self.objects = objects
        self._pool = ThreadPoolExecutor(PARALLEL, thread_name_prefix="varve-transfer")
        self._behind: deque[Future[None]] = deque()

    def start(self, task: Callable[[], T]) -> "Future[T]":
        """Do it beside whatever comes next."""
        return self._pool.submit(task)

    def get(self, keys: Sequence[str]) -> list[bytes | None]:
        """The objects' bytes; None where there is none. Raises Retryable."""
        return list(self._pool.map(self._bytes, keys))

    def download(self, wanted: Mapping[str, Path]) -> None:
        """Each object into its file, which appears whole or not at all. Raises Vanished, Retryable."""
        gone = [path for path in self._pool.map(self._download, wanted.items()) if path is not None]
        if gone:
            raise Vanished

    def upload(self, files: Mapping[str, Path]) -> None:
        """Each file into its object. Raises Retryable: some may be there, some not."""
        for _ in self._pool.map(self._upload, files.items()):
            pass

    def put_behind(self, key: str, data: bytes) -> None:
        """Put an object that nothing depends on, beside whatever comes next."""
        self._behind.append(self.start(partial(self.objects.put, key, data)))

    def finish(self) -> None:
        """Wait for what was put behind; what failed of it is as if it had never been asked for."""
        while self._behind:
            with suppress(Retryable, IndexError):  # another thread may have taken the last one
                self._behind.popleft().result()

    def delete(self, keys: Iterable[str]) -> None:
        """Remove the objects. Raises Retryable."""
        if doomed := list(keys):
            self.objects.delete(doomed)

    def _bytes(self, key: str) -> bytes | None:
        stored = self.objects.get(key)
        return stored.data if stored else None

    def _download(self, item: tuple[str, Path]) -> str | None:
        key, path = item
        data = self._bytes(key)
        if data is None:
            return key
        save(path, data)
        return None

    def _upload(self, item: tuple[str, Path]) -> None:
        key, path = item
        self.objects.put(key, path.read_bytes())


def save(path: Path, data: bytes) -> None:
    """Write a file that is there whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.part")
    partial.write_bytes(data)
    partial.replace(path)
