"""Terminals for commands: in this process, or at the other end of one."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

PATIENCE_SECONDS = 120
"""How long a program may be silent before a test gives it up."""


@dataclass
class Screen:
    """What a program has written to its terminal."""

    written: list[bytes] = field(default_factory=list)

    @property
    def text(self) -> str:
        return b"".join(self.written).decode()

    @property
    def lines(self) -> list[str]:
        """Return what stays on the screen: of each line the last that was drawn."""
        stay = []
        for line in self.text.replace("\r\n", "\n").split("\n"):
            stay.append(line.rpartition("\r")[2])
        return stay


@contextmanager
def open_screen(
    monkeypatch: pytest.MonkeyPatch, *, columns: int = 100
) -> Iterator[Screen]:
    """Give standard output and error to a terminal; it is read when the block ends."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(
        theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0)
    )
    screen = Screen()
    reader = threading.Thread(target=_read, args=(ours, screen))
    reader.start()
    monkeypatch.setenv("TERM", "xterm")
    with (
        os.fdopen(theirs, "w", encoding="utf-8") as stream,
        monkeypatch.context() as patched,
    ):
        patched.setattr("sys.stdout", stream)
        patched.setattr("sys.stderr", stream)
        yield screen
    reader.join()
    os.close(ours)


def _read(ours: int, screen: Screen) -> None:
    """Read until the other end is closed."""
    while True:
        try:
            data = os.read(ours, 65_536)
        except OSError:  # Linux: the other end is closed
            return
        if not data:
            return
        screen.written.append(data)


def read_until(terminal: int, wanted: bytes) -> bytes:
    """Return what a program writes to a terminal, up to the wanted words and after."""
    said = b""
    while wanted not in said:
        ready, _, _ = select.select([terminal], [], [], PATIENCE_SECONDS)
        assert ready, said
        said += os.read(terminal, 65_536)
    return said
