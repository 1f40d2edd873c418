"""The pages as files: every page that another one links to, from the timeline on."""

import shutil
from collections import deque
from dataclasses import dataclass
from pathlib import Path

from varve.api.memory import Memory
from varve.domain.errors import Rejected
from varve.look.links import HOME, Target, file_name
from varve.look.rendering import STATIC
from varve.look.site import FAILED, Site
from varve.usecases.progress import Progress, no_progress

MARKER = "look.css"
"""A file that tells a directory of pages from any other."""


@dataclass(frozen=True, slots=True)
class WrittenPages:
    """How many pages were written, and the file to open."""

    pages: int
    index: Path


def write_pages(
    memory: Memory,
    store: str,
    directory: Path,
    progress: Progress = no_progress,
) -> WrittenPages:
    """Write all pages of a memory into a directory, in place of earlier pages.

    `progress` is called with the pages written and those known so far. Raises Rejected:
    the directory has other files, or cannot be written.
    """
    try:
        _prepare(directory)
        with memory.sessions.read_once():
            return _Writer(memory, store, directory).write_all(progress)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise Rejected(
            "--out", f"{directory}: cannot be written ({reason})"
        ) from error


def _prepare(directory: Path) -> None:
    """Make the directory, and delete the pages of an earlier call."""
    directory.mkdir(parents=True, exist_ok=True)
    there = list(directory.iterdir())
    if there and not (directory / MARKER).is_file():
        raise Rejected(
            "--out", f"{directory} is not empty and holds no pages of varve"
        )
    for path in there:
        if path.suffix == ".html" or (STATIC / path.name).is_file():
            path.unlink()
    for path in STATIC.iterdir():
        shutil.copyfile(path, directory / path.name)


class _Writer:
    """Renders pages in the order in which they are first linked to."""

    def __init__(self, memory: Memory, store: str, directory: Path) -> None:
        self._directory = directory
        self._known: set[Target] = set()
        self._waiting: deque[Target] = deque()
        self._site = Site(memory, store, self._link, assets="", is_static=True)

    def write_all(self, progress: Progress) -> WrittenPages:
        """Write the timeline and all that it leads to."""
        index = self._directory / self._link(Target(HOME))
        written = 0
        while self._waiting:
            where = self._waiting.popleft()
            page = self._site.page(where)
            if page.status == FAILED:
                raise Rejected("--out", "memory could not be read; try again")
            path = self._directory / file_name(where)
            path.write_text(page.html, "utf-8", errors="replace")
            written += 1
            progress("pages", written, len(self._known))
        return WrittenPages(written, index)

    def _link(self, where: Target) -> str:
        if where not in self._known:
            self._known.add(where)
            self._waiting.append(where)
        return file_name(where)
