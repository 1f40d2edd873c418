"""Pydantic AI Harness: a store for its `Memory` whose files are notes.

Needs the extra `pydantic-harness`. Shapes: pydantic-ai-harness 0.62,
`pydantic_ai_harness.memory`.
"""

import asyncio
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from pydantic_ai import ModelRetry
from pydantic_ai_harness.memory import (
    MemoryConflictError,
    MemoryFile,
    MemoryMutation,
    MemoryOperation,
    MemoryOperationConflictError,
    MemorySearchMatch,
    MemorySearchResult,
)

from varve.api.memory import Memory
from varve.domain.errors import Rejected
from varve.domain.note_operations import (
    NoteChange,
    NoteOperation,
    OperationReused,
)
from varve.domain.notes import Note, NoteConflict
from varve.usecases.search.notes import MAX_FOUND

ROOT = "harness"
"""The first segment of the files' paths."""
_SEGMENT = re.compile(r"[A-Za-z0-9_.-]{1,200}")


class VarveNotebookStore:
    """The files of one user as notes; `user_id` None: the agent's own.

    `main/MEMORY.md` is the note `harness/main/MEMORY.md`. A search ranks as Varve does. A
    file that memory refuses (too long, for instance) is an answer that the model reads.

    >>> Memory(store_resolver=lambda run: VarveNotebookStore(memory, user_id=run.deps.user))
    """

    def __init__(self, memory: Memory, *, user_id: str | None) -> None:
        self._notes = memory.notes
        self._user_id = user_id

    async def read(self, path: str, *, max_chars: int) -> MemoryFile | None:
        """Return the file at `path` up to `max_chars`, or None."""
        return await asyncio.to_thread(self._read, path, max_chars)

    async def get_operation(
        self, operation: MemoryOperation
    ) -> MemoryMutation | None:
        """Return the outcome of an operation that is known, or None.

        Raises MemoryOperationConflictError: its id is known with another fingerprint.
        """
        return await asyncio.to_thread(self._get_operation, operation)

    async def write(
        self,
        path: str,
        content: str,
        *,
        expected_version: str | None,
        operation: MemoryOperation | None = None,
    ) -> MemoryMutation:
        """Create the file, or replace it if its version is the expected one.

        Raises MemoryConflictError: it is not; MemoryOperationConflictError.
        """
        return await asyncio.to_thread(
            self._change, path, content, expected_version, operation
        )

    async def delete(
        self,
        path: str,
        *,
        expected_version: str | None,
        operation: MemoryOperation | None = None,
    ) -> MemoryMutation:
        """Delete the file if its version is the expected one; None: there is none.

        Raises MemoryConflictError: it is not; MemoryOperationConflictError.
        """
        return await asyncio.to_thread(
            self._change, path, None, expected_version, operation
        )

    async def list_paths(self, prefix: str = "", *, limit: int) -> list[str]:
        """Return the first `limit` paths that begin with the prefix, in order."""
        return await asyncio.to_thread(self._list_paths, prefix, limit)

    async def search(
        self,
        prefix: str,
        query: str,
        *,
        limit: int,
        max_files: int,
        max_chars: int,
        max_file_chars: int,
    ) -> MemorySearchResult:
        """Return the files directly below the prefix that bear on the query, best first.

        `max_chars` limits names and snippets together; a snippet is taken from the first
        `max_file_chars` of its file.
        """
        _require_prefix(prefix)
        bounds = (limit, max_files, max_chars, max_file_chars)
        if not query.strip() or min(bounds) <= 0:
            return MemorySearchResult(matches=[], scanned=0, truncated=False)
        names, found = await asyncio.to_thread(self._search, prefix, query)
        scanned = frozenset(names[:max_files])
        shown = _Excerpts(query, max_chars, max_file_chars)
        for note, score in found:
            name = _path_of(note).removeprefix(prefix)
            if name in scanned and len(shown.matches) < limit:
                shown.add(prefix, name, note.content, score)
            elif name in scanned:
                shown.truncated = True
        truncated = shown.truncated or len(names) > max_files
        return MemorySearchResult(shown.matches, len(scanned), truncated)

    def _read(self, path: str, max_chars: int) -> MemoryFile | None:
        _require_path(path)
        _require_positive("max_chars", max_chars)
        with _as_harness_errors(path):
            note = self._notes.get(f"{ROOT}/{path}", user_id=self._user_id)
        if note is None:
            return None
        return MemoryFile(
            content=note.content[:max_chars],
            version=note.version,
            operation_id=note.current.operation,
            truncated=len(note.content) > max_chars,
        )

    def _get_operation(
        self, operation: MemoryOperation
    ) -> MemoryMutation | None:
        with _as_harness_errors("of an operation"):
            known = self._notes.find_change(
                NoteOperation(operation.id, operation.fingerprint),
                user_id=self._user_id,
            )
        return None if known is None else _as_mutation(known)

    def _change(
        self,
        path: str,
        content: str | None,
        version: str | None,
        operation: MemoryOperation | None,
    ) -> MemoryMutation:
        _require_path(path)
        with _as_harness_errors(path):
            named = None
            if operation is not None:
                named = NoteOperation(operation.id, operation.fingerprint)
            changed = self._notes.change(
                f"{ROOT}/{path}",
                content,
                version=version,
                operation=named,
                user_id=self._user_id,
            )
        return _as_mutation(changed)

    def _list_paths(self, prefix: str, limit: int) -> list[str]:
        _require_prefix(prefix)
        _require_positive("limit", limit)
        found = self._notes.paths(f"{ROOT}/{prefix}", user_id=self._user_id)
        return [path.removeprefix(f"{ROOT}/") for path in found[:limit]]

    def _search(
        self, prefix: str, query: str
    ) -> tuple[list[str], list[tuple[Note, float]]]:
        """Return the names directly below the prefix, and the notes found, best first."""
        folder = f"{ROOT}/{prefix}"
        names: list[str] = []
        for path in self._notes.paths(folder, user_id=self._user_id):
            name = path.removeprefix(folder)
            if "/" not in name:
                names.append(name)
        with _as_harness_errors(prefix):
            found = self._notes.search(
                query, folder, user_id=self._user_id, max_results=MAX_FOUND
            )
        return names, [(one.note, one.score) for one in found]


class _Excerpts:
    """The matches of a search, within its limits of characters."""

    def __init__(
        self, query: str, max_chars: int, max_file_chars: int
    ) -> None:
        self.matches: list[MemorySearchMatch] = []
        self.truncated = False
        self._terms = query.lower().split()
        self._left = max_chars
        self._max_file_chars = max_file_chars

    def add(self, prefix: str, name: str, content: str, score: float) -> None:
        """Add a match with what room there is for its snippet."""
        room = self._left - len(name)
        if room <= 0:
            self.truncated = True
            return
        readable = content[: self._max_file_chars]
        self.truncated |= len(readable) < len(content)
        snippet = _excerpt(readable, self._terms, room)
        self._left = room - len(snippet)
        self.matches.append(MemorySearchMatch(prefix + name, snippet, score))


def _excerpt(content: str, terms: Sequence[str], room: int) -> str:
    """Return the part of a text around the first of the terms in it."""
    lower = content.lower()
    places = [lower.find(term) for term in terms if term in lower]
    start = max(0, min(places, default=0) - room // 3)
    start = max(0, min(start, len(content) - room))
    return content[start : start + room]


@contextmanager
def _as_harness_errors(path: str) -> Iterator[None]:
    """Turn what memory refuses into the harness's errors, or an answer to the model."""
    try:
        yield
    except NoteConflict as error:
        raise MemoryConflictError(
            f"memory path {path!r} has changed"
        ) from error
    except OperationReused as error:
        raise MemoryOperationConflictError(str(error)) from error
    except Rejected as error:
        raise ModelRetry(f"memory refuses this: {error}") from error


def _as_mutation(change: NoteChange) -> MemoryMutation:
    return MemoryMutation(change.version, change.replayed, change.existed)


def _path_of(note: Note) -> str:
    return note.path.removeprefix(f"{ROOT}/")


def _require_path(path: str) -> None:
    """Raise ValueError if the harness's own stores would refuse the path."""
    for segment in path.split("/"):
        is_plain = _SEGMENT.fullmatch(segment) and segment != "."
        if not is_plain or ".." in segment:
            raise ValueError(f"invalid memory path: {path!r}")


def _require_prefix(prefix: str) -> None:
    if prefix:
        _require_path(prefix.removesuffix("/"))


def _require_positive(name: str, value: int) -> None:
    if value <= 0:
        raise ValueError(f"{name} must be positive")
