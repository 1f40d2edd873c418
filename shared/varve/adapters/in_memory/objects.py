"""The Objects port over a dictionary."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from threading import Lock

from varve.domain.calendar import EARLIEST
from varve.ports.objects import ObjectInfo, StoredObject


class InMemoryObjects:
    """Objects in a dictionary; every object's modification time is the year 1."""

    def __init__(self) -> None:
        self._data: dict[str, bytes] = {}
        self._lock = Lock()

    def get(self, key: str) -> StoredObject | None:
        data = self._data.get(key)
        if data is None:
            return None
        etag = hashlib.sha256(data).hexdigest()
        return StoredObject(data, etag)

    def part(self, key: str, start: int, length: int) -> bytes | None:
        data = self._data.get(key)
        if data is None:
            return None
        end = start + length
        return data[start:end]

    def put(self, key: str, data: bytes) -> None:
        self._data[key] = data

    def put_if(self, key: str, data: bytes, etag: str | None) -> bool:
        with self._lock:
            current = self.get(key)
            current_etag = current.etag if current else None
            if current_etag != etag:
                return current is not None and current.data == data
            self._data[key] = data
            return True

    def delete(self, keys: Iterable[str]) -> None:
        for key in keys:
            self._data.pop(key, None)

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        for key in sorted(self._data):
            if key.startswith(prefix + "/"):
                size = len(self._data[key])
                yield ObjectInfo(key, size, EARLIEST)

    def exchange(self, fresh: Iterable[str], doomed: Iterable[str]) -> None:
        for key in fresh:
            self.put(key, b"")
        keys = list(doomed)
        if keys:
            self.delete(keys)

    def folders(self, prefix: str) -> Sequence[str]:
        start = prefix and prefix + "/"
        names = set()
        for key in self._data:
            if key.startswith(start):
                name, slash, _ = key.removeprefix(start).partition("/")
                if slash:
                    names.add(name)
        return sorted(names)
