"""The turn of a purge: an object by which writers of a store on S3 let a purge go first.

A purge takes two commits that no other commit may separate. Beside busy writers it would
lose every race. So from its second attempt on it asks for its turn. Writers see the
request in the listing that they read anyway, and wait until it is gone.
"""

from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from time import monotonic, sleep
from uuid import uuid4

from varve.adapters.records.replica import Listing
from varve.adapters.records.upkeep import list_store
from varve.ports.objects import Objects

TURN = "memories.purge"
LONGEST_TURN_SECONDS = 60.0
"""A writer waits no longer: the process that asked for the turn has probably died."""
PAUSE_SECONDS = 0.1


class PurgeTurn:
    """The turn of one store, as one write of this process sees it."""

    def __init__(self, prefix: str, objects: Objects) -> None:
        self._prefix = prefix
        self._key = f"{prefix}/{TURN}"
        self._objects = objects
        self._asked = False

    def ask(self, listing: Listing) -> None:
        """Ask for the turn, unless the listing shows the request. Raises Retryable."""
        self._asked = True
        if TURN not in listing.beside:
            self._objects.put(self._key, uuid4().bytes)

    @contextmanager
    def ending(self) -> Iterator[None]:
        """Let the writers go on when the block ends. Raises Retryable."""
        try:
            yield
        finally:
            if self._asked:
                self._objects.delete([self._key])

    def await_turn(self, expected: Future[Listing] | None, *, purge: bool) -> Listing:
        """Return the store's listing, once no other purge asks for its turn.

        `expected` is a listing that was requested before. A purge does not wait. Raises
        Retryable.
        """
        listing = self._list() if expected is None else expected.result()
        if purge or TURN not in listing.beside:
            return listing
        ends = monotonic() + LONGEST_TURN_SECONDS
        while TURN in listing.beside:
            if monotonic() >= ends:
                self._objects.delete([self._key])
                break
            sleep(PAUSE_SECONDS)
            listing = self._list()
        return listing

    def _list(self) -> Listing:
        return list_store(self._objects, self._prefix)
