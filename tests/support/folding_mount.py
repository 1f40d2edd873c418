"""A file system through FUSE that ignores case and Unicode normalization, as macOS's do.

`with folding_mount(directory) as folder:` serves another directory under `folder`, with
names as they were created. It needs the right to mount and Debian's package:

    apt-get install --no-install-recommends fuse3 python3-fusepy

This file is also the program that serves the mount; the system's interpreter runs it,
because the package belongs to that one.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SYSTEM_PYTHON = "/usr/bin/python3"
PATIENCE_SECONDS = 60


def missing() -> str | None:
    """Return why no such file system can be mounted here; None if it can."""
    if sys.platform != "linux" or os.geteuid():
        return "only root may mount"
    if not os.access("/dev/fuse", os.W_OK):
        return "there is no /dev/fuse"
    asked = subprocess.run(
        [SYSTEM_PYTHON, "-c", "import fusepy"], capture_output=True, env={}
    )
    return "python3-fusepy is not installed" if asked.returncode else None


@contextmanager
def folding_mount(directory: Path) -> Iterator[Path]:
    """Mount the file system below the directory, and unmount it at the end."""
    behind, mounted = directory / "behind", directory / "mounted"
    behind.mkdir()
    mounted.mkdir()
    server = subprocess.Popen(
        [SYSTEM_PYTHON, __file__, str(behind), str(mounted)],
        env={},
        stderr=subprocess.PIPE,
    )
    try:
        _await_mount(mounted, server)
        yield mounted
    finally:
        subprocess.run(["umount", "--lazy", str(mounted)], check=False)
        server.communicate(timeout=PATIENCE_SECONDS)


def _await_mount(mounted: Path, server: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not mounted.is_mount():
        if server.poll() is not None or time.monotonic() > end:
            raise RuntimeError("the file system is not mounted")
        time.sleep(0.05)


def fold(name: str) -> str:
    """Return the form in which two names are one."""
    return unicodedata.normalize("NFD", name).casefold()


def resolve(root: str, path: str) -> str:
    """Return the real path of a path below the root, whatever its case."""
    real = root
    for name in path.strip("/").split("/"):
        if not name:
            continue
        try:
            there = {fold(one): one for one in os.listdir(real)}  # noqa: PTH208
        except (FileNotFoundError, NotADirectoryError):
            there = {}
        real = f"{real}/{there.get(fold(name), name)}"
    return real


def build_operations(root: str, base: type[Any]) -> Any:
    """Return fusepy's operations over a directory."""

    class Folding(base):  # type: ignore[misc]
        def getattr(self, path: str, fh: Any = None) -> dict[str, Any]:
            status = os.lstat(resolve(root, path))
            return {
                name: getattr(status, name)
                for name in dir(status)
                if name.startswith("st_")
            }

        def readdir(self, path: str, fh: Any) -> list[str]:
            return [".", "..", *os.listdir(resolve(root, path))]  # noqa: PTH208

        def mkdir(self, path: str, mode: int) -> None:
            Path(resolve(root, path)).mkdir(mode)

        def rmdir(self, path: str) -> None:
            Path(resolve(root, path)).rmdir()

        def unlink(self, path: str) -> None:
            Path(resolve(root, path)).unlink()

        def rename(self, old: str, new: str) -> None:
            Path(resolve(root, old)).rename(resolve(root, new))

        def link(self, target: str, source: str) -> None:
            os.link(resolve(root, source), resolve(root, target))

        def chmod(self, path: str, mode: int) -> None:
            Path(resolve(root, path)).chmod(mode)

        def truncate(self, path: str, length: int, fh: Any = None) -> None:
            os.truncate(resolve(root, path), length)

        def utimens(self, path: str, times: Any = None) -> None:
            os.utime(resolve(root, path), times)

        def open(self, path: str, flags: int) -> int:
            return os.open(resolve(root, path), flags)

        def create(self, path: str, mode: int, fi: Any = None) -> int:
            flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC
            return os.open(resolve(root, path), flags, mode)

        def read(self, path: str, size: int, offset: int, fh: int) -> bytes:
            return os.pread(fh, size, offset)

        def write(self, path: str, data: bytes, offset: int, fh: int) -> int:
            return os.pwrite(fh, data, offset)

        def release(self, path: str, fh: int) -> None:
            os.close(fh)

        def fsync(self, path: str, datasync: int, fh: int) -> None:
            os.fsync(fh)

    return Folding()


if __name__ == "__main__":
    import fusepy

    fusepy.FUSE(
        build_operations(sys.argv[1], fusepy.Operations),
        sys.argv[2],
        foreground=True,
        nothreads=True,
        attr_timeout=0,
        entry_timeout=0,
    )
