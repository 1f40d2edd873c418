"""Errors, named by what the caller must do.

VarveError
├── Retryable       try again later: the outside world failed, nothing is wrong with the request
│   └── Outdated    try again at once: a store was written to while it was read
├── Rejected        this input can never succeed: names the field and the reason
└── Misconfigured   an operator must change something: names the setting
"""

from collections.abc import Iterator
from contextlib import contextmanager


class VarveError(Exception):
    """Base of everything this library raises on purpose."""


class Retryable(VarveError):
    """The outside world failed; the same call may succeed later."""


class Outdated(Retryable):
    """What was looked up in a store is there no longer, for somebody wrote to it: look again."""


class Rejected(VarveError):
    """The input can never succeed.

    `field` is the path to the faulty value as the caller wrote it (`messages[0].role`),
    `reason` says what is wrong with it.
    """

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason


@contextmanager
def within(place: str) -> Iterator[None]:
    """Rejected out of here names its field after the place: `[2].` and `messages[0].role`, for instance."""
    try:
        yield
    except Rejected as error:
        raise Rejected(place + error.field, error.reason) from error


class Misconfigured(VarveError):
    """A setting, a workspace configuration or an endpoint must be changed by its operator."""
