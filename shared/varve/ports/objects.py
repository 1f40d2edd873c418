"""Objects under the store root."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object's bytes and the tag that changes whenever they do."""

    data: bytes
    etag: str


@dataclass(frozen=True, slots=True)
class ObjectInfo:
    """What a listing tells of an object; `size` in bytes."""

    key: str
    size: int
    last_modified: datetime


class Objects(Protocol):
    """Objects under the store root, by key (`a/b/c`, no leading slash)."""

    def get(self, key: str) -> StoredObject | None:
        """The object, or None where there is none."""

    def part(self, key: str, start: int, length: int) -> bytes | None:
        """So many of the object's bytes from a place within it on; None where there is no object."""

    def put(self, key: str, data: bytes) -> None:
        """Write it, whatever was there."""

    def put_if(self, key: str, data: bytes, etag: str | None) -> bool:
        """Write it only over that very version (None: only where nothing is). False: lost the race."""

    def delete(self, keys: Iterable[str]) -> None:
        """Remove the objects; those that are not there count as removed."""

    def exchange(self, fresh: Iterable[str], doomed: Iterable[str]) -> None:
        """Put the first, empty, and remove the others: at once, in no order. Raises Retryable: half done."""

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        """Every object whose key begins with `prefix + "/"`, in order of keys."""

    def folders(self, prefix: str) -> Sequence[str]:
        """The names right below the prefix that have objects below them, in order."""
