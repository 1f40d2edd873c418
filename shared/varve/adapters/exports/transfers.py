"""Many objects at once, each in a request of its own: a round trip for all of them."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

from varve.domain.errors import Retryable
from varve.ports.objects import Objects

PARALLEL = 128
"""Enough for the files of all grains of an agent between two compactions in one or two round trips."""
PART_BYTES = 8 * 1024 * 1024
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

    def download(self, wanted: Mapping[str, tuple[Path, int]]) -> None:
        """Each object of that size into its file, large ones in parts. Raises Vanished, Retryable.

        Whether the files are there and whole is known only after it has returned.
        """
        parts = []
        for key, (path, size) in wanted.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as file:
                file.truncate(size)
            parts += [
                (key, path, start, min(PART_BYTES, size - start))
                for start in range(0, size, PART_BYTES)
            ]
        if not all(list(self._pool.map(self._download, parts))):
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
            with suppress(
                Retryable, IndexError
            ):  # another thread may have taken the last one
                self._behind.popleft().result()

    def delete(self, keys: Iterable[str]) -> None:
        """Remove the objects. Raises Retryable."""
        if doomed := list(keys):
            self.objects.delete(doomed)

    def _bytes(self, key: str) -> bytes | None:
        stored = self.objects.get(key)
        return stored.data if stored else None

    def _download(self, part: tuple[str, Path, int, int]) -> bool:
        key, path, start, length = part
        data = (
            self._bytes(key)
            if length < PART_BYTES and not start
            else self.objects.part(key, start, length)
        )
        if data is None or len(data) != length:
            return False
        with path.open("r+b") as file:
            file.seek(start)
            file.write(data)
        return True

    def _upload(self, item: tuple[str, Path]) -> None:
        key, path = item
        self.objects.put(key, path.read_bytes())
