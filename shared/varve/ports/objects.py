"""The port to the objects under the store root."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object's bytes, and an ETag that changes whenever the bytes change."""

    data: bytes
    etag: str


@dataclass(frozen=True, slots=True)
class ObjectInfo:
    """One object in a listing; `size` is in bytes."""

    key: str
    size: int
    last_modified: datetime


class Objects(Protocol):
    """The objects under the store root, by key (`a/b/c`, no leading slash)."""

    def get(self, key: str) -> StoredObject | None:
        """Return the object, or None if it does not exist."""

    def part(self, key: str, start: int, length: int) -> bytes | None:
        """Return up to `length` bytes from offset `start`; None if there is no object."""

    def put(self, key: str, data: bytes) -> None:
        """Write the object, replacing any that exists."""

    def put_if(self, key: str, data: bytes, etag: str | None) -> bool:
        """Write the object if its ETag is still `etag`; None: if it does not exist yet.

        Returns False, and writes nothing, if another writer was first.
        """

    def delete(self, keys: Iterable[str]) -> None:
        """Delete the objects; keys that do not exist are ignored."""

    def exchange(self, fresh: Iterable[str], doomed: Iterable[str]) -> None:
        """Create the empty objects `fresh` and delete `doomed`, concurrently, in any order.

        Raises Retryable: a part may be done.
        """

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        """Yield every object whose key begins with `prefix + "/"`, ordered by key."""

    def folders(self, prefix: str) -> Sequence[str]:
        """Return the sorted names of the folders directly below the prefix."""
