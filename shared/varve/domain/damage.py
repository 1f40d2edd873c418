"""Damaged objects in the store: half-written, cut off or changed by hand."""

from collections.abc import Iterator
from contextlib import contextmanager

from varve.domain.errors import Misconfigured, Rejected


class Damaged(Misconfigured):
    """An object in the store cannot be decoded; the operator must restore or remove it."""

    def __init__(self, key: str, cause: str) -> None:
        super().__init__(
            f"store: {key} is damaged ({cause}); restore or remove it"
        )


@contextmanager
def intact(key: str) -> Iterator[None]:
    """Turn the errors of decoding the object at `key` into Damaged.

    The cause is only the error's type, because a decoder's message may quote content.
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
