"""Errors, named by what the caller must do.

VarveError
├── Retryable       try again later: the outside world failed, nothing is wrong with the request
│   └── Contended   repeat now: another writer changed the same object first
├── Rejected        this input can never succeed: names the field and the reason
│   └── NoteConflict (domain.notes) read the note again and decide: it has another version
└── Misconfigured   an operator must change something: names the setting
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager


class VarveError(Exception):
    """The base class of all errors that this library raises."""

    retryable = False
    """Whether the same call may succeed later."""


class Retryable(VarveError):
    """The outside world failed; the same call may succeed later."""

    retryable = True


class Contended(Retryable):
    """Another writer changed the same object first; the same call may succeed now."""


class Rejected(VarveError):
    """The input can never succeed.

    `field` is the path to the faulty value as the caller wrote it (`messages[0].role`);
    `reason` describes the fault.
    """

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason


@contextmanager
def prefix_field(place: str) -> Iterator[None]:
    """Put `place` before the field of a Rejected: `[2].` before `messages[0].role`."""
    try:
        yield
    except Rejected as error:
        raise Rejected(place + error.field, error.reason) from error


@contextmanager
def rename_field(names: Mapping[str, str]) -> Iterator[None]:
    """Put the caller's own name in the place of the field of a Rejected, if it has one."""
    try:
        yield
    except Rejected as error:
        # "memory_types[0]" is a part of the field "memory_types".
        name = error.field.partition("[")[0]
        if name not in names:
            raise
        raise Rejected(names[name], error.reason) from error


class Misconfigured(VarveError):
    """The operator must change a setting, a workspace configuration or an endpoint."""
