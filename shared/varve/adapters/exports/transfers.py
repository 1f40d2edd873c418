"""Concurrent transfers of many objects, so that all of them take one round trip."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from varve.ports.meter import MeteredThreads
from varve.ports.objects import Objects

PARALLEL = 128
"""Threads. The files of an agent between two compactions need one or two round trips."""
PART_BYTES = 8 * 1024 * 1024


class Vanished(Exception):
    """A listed file is gone: the caller must list again."""


@dataclass(frozen=True, slots=True)
class LocalFile:
    """Where to download an object, and the size in bytes that it must have."""

    path: Path
    size: int


@dataclass(frozen=True, slots=True)
class _Part:
    """A range of an object, and the file to copy it into."""

    key: str
    path: Path
    start: int
    length: int


class Transfers:
    """Copies objects to files and back."""

    def __init__(self, objects: Objects) -> None:
        self.objects = objects
        self._pool = MeteredThreads(
            PARALLEL, thread_name_prefix="varve-transfer"
        )

    def download(self, wanted: Mapping[str, LocalFile]) -> None:
        """Copy each object, by key, into its file.

        Large objects are copied in parts. If it fails, the files may be incomplete.
        Raises Vanished: an object is missing or has another size; Retryable.
        """
        parts = []
        for key, target in wanted.items():
            target.path.parent.mkdir(parents=True, exist_ok=True)
            with target.path.open("wb") as file:
                file.truncate(target.size)
            for start in range(0, target.size, PART_BYTES):
                length = min(PART_BYTES, target.size - start)
                parts.append(_Part(key, target.path, start, length))
        complete = list(self._pool.map(self._download, parts))
        if not all(complete):
            raise Vanished

    def upload(self, files: Mapping[str, Path]) -> None:
        """Copy each file into its object. Raises Retryable: some may be copied."""
        for _ in self._pool.map(self._upload, files.items()):
            pass

    def delete(self, keys: Iterable[str]) -> None:
        """Delete the objects. Raises Retryable."""
        doomed = list(keys)
        if doomed:
            self.objects.delete(doomed)

    def _bytes(self, key: str) -> bytes | None:
        stored = self.objects.get(key)
        return stored.data if stored else None

    def _download(self, part: "_Part") -> bool:
        """Copy one part; return False if the object is missing or shorter."""
        if part.start == 0 and part.length < PART_BYTES:
            data = self._bytes(part.key)
        else:
            data = self.objects.part(part.key, part.start, part.length)
        if data is None or len(data) != part.length:
            return False
        with part.path.open("r+b") as file:
            file.seek(part.start)
            file.write(data)
        return True

    def _upload(self, item: tuple[str, Path]) -> None:
        key, path = item
        self.objects.put(key, path.read_bytes())
