"""LanceDB's errors in our words."""

from collections.abc import Iterator
from contextlib import contextmanager

from varve.domain.errors import Retryable

FOREIGN = (ArithmeticError, LookupError, OSError, RuntimeError, TypeError, ValueError)
"""At files that are damaged LanceDB raises nearly anything, and so does who reads their rows."""


@contextmanager
def translated(store: str) -> Iterator[None]:
    """Whatever LanceDB could not read or commit of this store may succeed later: raises Retryable."""
    try:
        yield
    except FOREIGN as error:
        raise failed(store, error) from error


def failed(store: str, error: Exception) -> Retryable:
    """What is raised in place of such an error."""
    return Retryable(f"store {store}: {type(error).__name__} in LanceDB")
