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
def translate_errors(store: str, *, commits: bool = False) -> Iterator[None]:
    """Raise Retryable in place of any LanceDB error, which may succeed on retry.

    A fault of the disk is named as such. If the block `commits`, a lost commit raises
    Contended. LanceDB raises RuntimeError for a commit that lost to another writer's,
    and ValueError if a purge has deleted what it was reading; it has no finer types.
    """
    try:
        yield
    except FOREIGN as error:
        fault = disk_error(f"store vectordb/{store}", error)
        if fault is not None:
            raise fault from error
        if commits and isinstance(error, (RuntimeError, ValueError)):
            raise Contended(
                f"store {store}: a commit failed in LanceDB"
            ) from error
        raise Retryable(
            f"store {store}: {type(error).__name__} in LanceDB"
        ) from error
