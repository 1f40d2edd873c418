"""Stored objects that are not what was once written: half-written, cut off, changed by hand."""

from collections.abc import Iterator
from contextlib import contextmanager

from varve.domain.errors import Misconfigured, Rejected


class Damaged(Misconfigured):
    """An object in the store cannot be read; its operator has to restore or remove it."""

    def __init__(self, key: str, cause: str) -> None:
        super().__init__(
            f"store: {key} is damaged ({cause}); restore it, or remove it to begin anew"
        )


@contextmanager
def intact(key: str) -> Iterator[None]:
    """Decode within it what the object at `key` holds. Raises Damaged: it is not of the form it should be.

    The cause is a type's name, for the decoders' own words quote what they read.
    """
    try:
        yield
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        RecursionError,
        Rejected,
        TypeError,
        ValueError,
    ) as error:
        raise Damaged(key, type(error).__name__) from error
