"""Claude's memory tool: its files are notes in an agent's memory.

Needs the extra `anthropic-memory`. Shapes: anthropic 2.12, `anthropic.tools.memory`; the answers
are those of its `BetaLocalFilesystemMemoryTool`, which Claude knows.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from anthropic.tools import ToolError
from anthropic.tools.memory import (
    BetaAbstractMemoryTool,
    BetaAsyncAbstractMemoryTool,
)
from anthropic.types.beta import (
    BetaCacheControlEphemeralParam,
    BetaMemoryTool20250818CreateCommand,
    BetaMemoryTool20250818DeleteCommand,
    BetaMemoryTool20250818InsertCommand,
    BetaMemoryTool20250818RenameCommand,
    BetaMemoryTool20250818StrReplaceCommand,
    BetaMemoryTool20250818ViewCommand,
)

from varve.api.memory import Memory
from varve.domain.errors import VarveError
from varve.domain.notes import Note, NoteConflict

ROOT = "/memories"
MAX_DEPTH = 2
"""Levels of directories that a view shows."""
MAX_TRIES = 8
"""How often an edit is made again because another writer was first."""
_NUMBER_WIDTH = 6
_CONTEXT_LINES = 2

Edit = Callable[[str], tuple[str, str]]
"""Returns the new content and the answer. Raises ToolError: the edit does not fit."""


class VarveMemoryTool(BetaAbstractMemoryTool):
    """The memory tool over one user's notes; `user_id` None: the agent's own.

    `/memories/a.md` is the note `memories/a.md`. A directory exists while it has files.
    Errors of memory are answers that the model reads.
    """

    def __init__(
        self,
        memory: Memory,
        *,
        user_id: str | None,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._notes = memory.notes
        self._user_id = user_id

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Return a file's lines with their numbers, or what a directory holds."""
        with _as_tool_errors():
            path = _note_path(command.path)
            note = self._get(path)
            if note is not None:
                return _show_file(command.path, note, command.view_range)
            found = self._below(path)
        if not found and path != _note_path(ROOT):
            raise _missing(command.path)
        return _show_directory(command.path, path, found)

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Create a file; directories come with it."""
        with _as_tool_errors():
            path = _note_path(command.path)
            self._require_free(path, f"File {command.path} already exists")
            self._require_folders(path)
            self._put(path, command.file_text)
        return f"File created successfully at: {command.path}"

    def str_replace(
        self, command: BetaMemoryTool20250818StrReplaceCommand
    ) -> str:
        """Replace a text that stands in the file exactly once."""

        def replace(content: str) -> tuple[str, str]:
            at = _find_once(content, command.old_str, command.path)
            new = content.replace(command.old_str, command.new_str)
            return new, _show_change(new, content[:at].count("\n"))

        return self._edit(command.path, replace)

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Insert a text after a line; 0 is the beginning."""

        def insert(content: str) -> tuple[str, str]:
            lines = content.split("\n")
            if lines[-1] == "":
                lines.pop()
            if not 0 <= command.insert_line <= len(lines):
                raise ToolError(
                    f"Invalid `insert_line` parameter: {command.insert_line}. "
                    f"It should be within the range [0, {len(lines)}]."
                )
            text = command.insert_text.rstrip("\n")
            lines.insert(command.insert_line, text)
            new = "\n".join(lines)
            if not new.endswith("\n"):
                new += "\n"
            return new, f"The file {command.path} has been edited."

        return self._edit(command.path, insert)

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Delete a file, or a directory with all its files."""
        with _as_tool_errors():
            path = _require_inside(command.path, "delete")
            doomed = self._tree(path)
            for note in doomed:
                self._notes.delete(note.path, user_id=self._user_id)
        if not doomed:
            raise ToolError(f"The path {command.path} does not exist")
        return f"Successfully deleted {command.path}"

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Move a file or a directory; its earlier versions do not come along."""
        with _as_tool_errors():
            old = _require_inside(command.old_path, "rename")
            new = _note_path(command.new_path)
            taken = f"The destination {command.new_path} already exists"
            self._require_free(new, taken)
            self._require_folders(new)
            moved = self._tree(old)
            if not moved:
                raise ToolError(f"The path {command.old_path} does not exist")
            if new.startswith(f"{old}/"):
                raise ToolError(f"Cannot move {command.old_path} into itself")
            for note in moved:
                self._put(new + note.path.removeprefix(old), note.content)
                self._notes.delete(note.path, user_id=self._user_id)
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    def clear_all_memory(self) -> str:
        """Delete all files."""
        with _as_tool_errors():
            for note in self._below(_note_path(ROOT)):
                self._notes.delete(note.path, user_id=self._user_id)
        return "All memory cleared"

    def _edit(self, path: str, change: Edit) -> str:
        """Change a file; again, if another writer was first."""
        with _as_tool_errors():
            for _ in range(MAX_TRIES):
                note = self._require_file(path)
                content, answer = change(note.content)
                try:
                    self._put(note.path, content, note.version)
                except NoteConflict:
                    continue
                return answer
        raise ToolError(f"The file {path} is being changed by others.")

    def _require_file(self, path: str) -> Note:
        name = _note_path(path)
        note = self._get(name)
        if note is not None:
            return note
        if self._below(name) or name == _note_path(ROOT):
            raise ToolError(f"The path {path} is not a file.")
        raise _missing(path)

    def _require_free(self, path: str, taken: str) -> None:
        if self._tree(path) or path == _note_path(ROOT):
            raise ToolError(taken)

    def _require_folders(self, path: str) -> None:
        """Raise ToolError if a directory above the path is a file."""
        folders = path.split("/")[1:-1]
        for depth in range(1, len(folders) + 1):
            folder = "/".join(folders[:depth])
            if self._get(f"{_note_path(ROOT)}/{folder}") is not None:
                raise ToolError(f"The path {ROOT}/{folder} is a file.")

    def _tree(self, path: str) -> list[Note]:
        """Return the file, or the files of the directory."""
        note = self._get(path)
        return self._below(path) if note is None else [note]

    def _below(self, path: str) -> list[Note]:
        return self._notes.list(f"{path}/", user_id=self._user_id)

    def _get(self, path: str) -> Note | None:
        return self._notes.get(path, user_id=self._user_id)

    def _put(
        self, path: str, content: str, version: str | None = None
    ) -> None:
        self._notes.put(path, content, version=version, user_id=self._user_id)


class VarveAsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """`VarveMemoryTool` for the asynchronous client; memory works in threads."""

    def __init__(
        self,
        memory: Memory,
        *,
        user_id: str | None,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._tool = VarveMemoryTool(memory, user_id=user_id)

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Return a file's lines with their numbers, or what a directory holds."""
        return await asyncio.to_thread(self._tool.view, command)

    async def create(
        self, command: BetaMemoryTool20250818CreateCommand
    ) -> str:
        """Create a file; directories come with it."""
        return await asyncio.to_thread(self._tool.create, command)

    async def str_replace(
        self, command: BetaMemoryTool20250818StrReplaceCommand
    ) -> str:
        """Replace a text that stands in the file exactly once."""
        return await asyncio.to_thread(self._tool.str_replace, command)

    async def insert(
        self, command: BetaMemoryTool20250818InsertCommand
    ) -> str:
        """Insert a text after a line; 0 is the beginning."""
        return await asyncio.to_thread(self._tool.insert, command)

    async def delete(
        self, command: BetaMemoryTool20250818DeleteCommand
    ) -> str:
        """Delete a file, or a directory with all its files."""
        return await asyncio.to_thread(self._tool.delete, command)

    async def rename(
        self, command: BetaMemoryTool20250818RenameCommand
    ) -> str:
        """Move a file or a directory; its earlier versions do not come along."""
        return await asyncio.to_thread(self._tool.rename, command)

    async def clear_all_memory(self) -> str:
        """Delete all files."""
        return await asyncio.to_thread(self._tool.clear_all_memory)


@contextmanager
def _as_tool_errors() -> Iterator[None]:
    """Turn errors of memory into answers; a conflict's is that of the caller."""
    try:
        yield
    except VarveError as error:
        raise ToolError(str(error)) from error


def _note_path(path: str) -> str:
    """Return the note's path; slashes are taken as a file system takes them."""
    if path != ROOT and not path.startswith(f"{ROOT}/"):
        raise ToolError(f"Path must start with {ROOT}, got: {path}")
    segments = [segment for segment in path.split("/") if segment]
    if ".." in segments:
        raise ToolError(f"Path {path} would escape {ROOT} directory")
    return "/".join(segments)


def _require_inside(path: str, verb: str) -> str:
    name = _note_path(path)
    if name == _note_path(ROOT):
        raise ToolError(f"Cannot {verb} the {ROOT} directory itself")
    return name


def _missing(path: str) -> ToolError:
    return ToolError(
        f"The path {path} does not exist. Please provide a valid path."
    )


def _show_file(path: str, note: Note, view_range: Sequence[int] | None) -> str:
    lines = note.content.split("\n")
    start = 0
    if view_range and len(view_range) == 2:
        start = max(1, view_range[0]) - 1
        end = len(lines) if view_range[1] == -1 else view_range[1]
        lines = lines[start:end]
    header = f"Here's the content of {path} with line numbers:\n"
    return header + _number(lines, start + 1)


def _number(lines: Sequence[str], first: int) -> str:
    numbered: list[str] = []
    for number, line in enumerate(lines, first):
        numbered.append(f"{number:>{_NUMBER_WIDTH}}\t{line}")
    return "\n".join(numbered)


def _show_change(content: str, at: int) -> str:
    """Return the changed line with those around it."""
    first = max(0, at - _CONTEXT_LINES)
    lines = content.split("\n")[first : at + _CONTEXT_LINES + 1]
    return (
        "The memory file has been edited. Here is the snippet showing the change "
        f"(with line numbers):\n{_number(lines, first + 1)}"
    )


def _find_once(content: str, old: str, path: str) -> int:
    """Return where the text stands. Raises ToolError: nowhere, or several times."""
    count = content.count(old)
    if count == 0:
        raise ToolError(
            f"No replacement was performed, old_str `{old}` did not appear verbatim "
            f"in {path}."
        )
    if count > 1:
        lines = ", ".join(map(str, _list_lines(content, old)))
        raise ToolError(
            f"No replacement was performed. Multiple occurrences of old_str `{old}` in "
            f"lines: {lines}. Please ensure it is unique"
        )
    return content.find(old)


def _list_lines(content: str, old: str) -> Iterator[int]:
    """Yield the number of the line of each occurrence."""
    at = content.find(old)
    while at >= 0:
        yield content[:at].count("\n") + 1
        at = content.find(old, at + 1)


def _show_directory(path: str, folder: str, notes: Sequence[Note]) -> str:
    sizes: dict[str, int] = {}
    total = 0
    for note in notes:
        total += note.size
        for shown in _entries_of(note.path.removeprefix(f"{folder}/")):
            sizes[shown] = sizes.get(shown, 0) + note.size
    lines = [f"{_format_size(total)}\t{path}"]
    for shown in sorted(sizes, key=_tree_order):
        lines.append(f"{_format_size(sizes[shown])}\t{path}/{shown}")
    header = (
        f"Here're the files and directories up to {MAX_DEPTH} levels deep in {path}, "
        "excluding hidden items:\n"
    )
    return header + "\n".join(lines)


def _entries_of(path: str) -> Iterator[str]:
    """Yield the directories above a file, then the file, down to the deepest level shown."""
    segments = path.split("/")
    for depth, segment in enumerate(segments[:MAX_DEPTH], 1):
        if segment.startswith("."):
            return
        name = "/".join(segments[:depth])
        yield name if depth == len(segments) else f"{name}/"


def _tree_order(shown: str) -> list[str]:
    return shown.rstrip("/").split("/")


def _format_size(size: int) -> str:
    unit = 0
    units = "BKMG"
    shown = float(size)
    while shown >= 1024 and unit < len(units) - 1:
        shown /= 1024
        unit += 1
    if shown == int(shown):
        return f"{int(shown)}{units[unit]}"
    return f"{shown:.1f}{units[unit]}"
