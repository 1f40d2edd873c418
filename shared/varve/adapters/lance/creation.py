"""Creation of a table by one writer alone."""

from collections.abc import Callable
from time import sleep
from typing import TypeVar
from uuid import uuid4

from varve.domain.errors import Contended
from varve.ports.objects import Objects

CLAIM_WAITS = 50
CLAIM_WAIT_SECONDS = 0.1

T = TypeVar("T")


def create_once(
    key: str,
    objects: Objects,
    open_newest: Callable[[], T | None],
    create: Callable[[], T],
) -> T:
    """Create a table under a claim, the object `key`, so that only one writer does.

    LanceDB lets a second creator overwrite the first one's table. A claim whose table
    does not appear belongs to a writer that died, and is taken over.
    Raises Contended: another writer is creating the table; Retryable.
    """
    if objects.put_if(key, uuid4().bytes, None):
        return create()
    table = _await_table(open_newest)
    if table is not None:
        return table
    claim = objects.get(key)
    etag = claim.etag if claim else None
    if not objects.put_if(key, uuid4().bytes, etag):
        raise Contended(f"{key}: another writer is making the table")
    table = open_newest()
    return create() if table is None else table


def _await_table(open_newest: Callable[[], T | None]) -> T | None:
    """Wait up to 5 seconds for the table that another writer is creating."""
    for _ in range(CLAIM_WAITS):
        table = open_newest()
        if table is not None:
            return table
        sleep(CLAIM_WAIT_SECONDS)
    return None
