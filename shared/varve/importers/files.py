"""Open the files that a command names; standard input is `-`."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import copyfileobj
from tempfile import SpooledTemporaryFile
from typing import IO, cast

from varve.domain.errors import Rejected
from varve.importers.items import Source

MAX_IN_MEMORY = 16 * 2**20
"""Bytes of standard input that are kept in memory; more goes to a temporary file."""


@contextmanager
def open_source(name: str) -> Iterator[Source]:
    """Open a file that can be read twice. Raises Rejected: names the file and why."""
    try:
        source = _open_path(name)
    except IsADirectoryError as error:
        raise Rejected(
            show_name(name), "is a directory, not a file"
        ) from error
    except FileNotFoundError as error:
        raise Rejected(show_name(name), "does not exist") from error
    except (OSError, ValueError) as error:
        reason = f"cannot be read ({type(error).__name__})"
        raise Rejected(show_name(name), reason) from error
    with source:
        yield source


def show_name(name: str) -> str:
    """Return how messages name a file."""
    return "standard input" if name == "-" else name


def _open_path(name: str) -> Source:
    """Return the open file; the caller closes it."""
    if name == "-":
        return _copy_standard_input()
    return Path(name).open("rb")


def _copy_standard_input() -> Source:
    copy = SpooledTemporaryFile(max_size=MAX_IN_MEMORY)  # noqa: SIM115 - the caller closes it
    copyfileobj(sys.stdin.buffer, copy)
    copy.seek(0)
    return cast("IO[bytes]", copy)
