"""Translation of LanceDB's errors into Varve's."""

from collections.abc import Iterator
from contextlib import contextmanager

from varve.adapters.disk_errors import disk_error
from varve.domain.errors import Contended, Retryable

FOREIGN = (
    ArithmeticError,
    LookupError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""What LanceDB, or code that reads its rows, raises when it meets damaged files."""


@contextmanager
def translate_errors(store: str) -> Iterator[None]:
    """Raise Retryable in place of any LanceDB error, which may succeed on retry.

    A fault of the disk is named as such.
    """
    try:
        yield
    except FOREIGN as error:
        fault = disk_error(f"store vectordb/{store}", error)
        raise fault or to_retryable(store, error) from error


@contextmanager
def translate_commit_errors(store: str) -> Iterator[None]:
    """Raise Contended for a lost commit, and Retryable for any other LanceDB error.

    LanceDB raises RuntimeError for a commit that lost to another writer's, and also
    ValueError if a purge has deleted what it was reading; it has no finer types.
    """
    try:
        yield
    except FOREIGN as error:
        fault = disk_error(f"store vectordb/{store}", error)
        if fault is None and isinstance(error, (RuntimeError, ValueError)):
            fault = Contended(f"store {store}: a commit failed in LanceDB")
        raise fault or to_retryable(store, error) from error


def to_retryable(store: str, error: Exception) -> Retryable:
    """Build the Retryable that replaces a LanceDB error of this store."""
    return Retryable(f"store {store}: {type(error).__name__} in LanceDB")
