"""The port to the locks that give each store and each conversation one writer at a time."""

from collections.abc import Iterable
from contextlib import AbstractContextManager
from hashlib import sha256
from typing import Protocol

SLOTS = 4_096
"""The locks of an area; this bounds the number of lock files."""


def slot_of(name: str) -> int:
    """Return which lock of its area a name stands for. Two names may share one."""
    return int(sha256(name.encode()).hexdigest()[:3], base=16)


class Locks(Protocol):
    """Locks of one store root, by name. They are not reentrant."""

    def hold(
        self, area: str, names: Iterable[str]
    ) -> AbstractContextManager[None]:
        """Hold these names of an area until the block ends.

        Wait while another thread holds one of them, or, where the root is a directory,
        another process. All callers take the names of an area in one order, so two
        callers never wait for each other. A caller that holds a store's lock must not
        take a conversation's.
        """
