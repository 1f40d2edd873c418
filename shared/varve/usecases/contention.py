"""Repeat what lost a race against another process, so that no caller has to."""

import random
from collections.abc import Callable
from time import sleep
from typing import TypeVar

from varve.domain.errors import Contended

MAX_TRIES = 12
FIRST_WAIT_SECONDS = 0.02
LONGEST_WAIT_SECONDS = 1.0

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
