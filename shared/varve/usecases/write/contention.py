"""Repeat what lost a race against another process, so that no caller has to."""

import random
from collections.abc import Callable
from time import sleep
from typing import TypeVar

from varve.domain.errors import Contended
from varve.ports.objects import Objects

MAX_TRIES = 12
FIRST_WAIT_SECONDS = 0.02
LONGEST_WAIT_SECONDS = 1.0
MAX_RACES = 20

T = TypeVar("T")


def until_uncontended(attempt: Callable[[], T]) -> T:
    """Call `attempt` until it loses no race, with random growing waits between.

    Raises Contended: all `MAX_TRIES` attempts lost.
    """
    longest = FIRST_WAIT_SECONDS
    for _ in range(MAX_TRIES - 1):
        try:
            return attempt()
        except Contended:
            sleep(random.uniform(0, longest))
            longest = min(2 * longest, LONGEST_WAIT_SECONDS)
    return attempt()


def change_object(
    key: str,
    read: Callable[[], tuple[T, str | None]],
    change: Callable[[T], T],
    encode: Callable[[T], bytes],
    *,
    objects: Objects,
) -> T:
    """Apply `change` to the object's content; return the result.

    `read` returns the content and the version it has. If another process changes the
    object meanwhile, `change` is applied again to the new content. Raises Contended: it
    lost `MAX_RACES` races.
    """
    for _ in range(MAX_RACES):
        known, etag = read()
        changed = change(known)
        if changed == known:
            return known
        if objects.put_if(key, encode(changed), etag):
            return changed
    raise Contended(f"{key}: lost {MAX_RACES} races")
