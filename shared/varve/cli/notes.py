"""`varve note`: small versioned texts at paths."""

import argparse
import sys
from collections.abc import Callable

from varve.api.memory import Memory
from varve.api.notes import Notes
from varve.cli.output import format_count, print_result
from varve.domain.calendar import iso
from varve.domain.errors import Rejected


def add_note(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `varve note`."""
    command.add_argument(
        "action",
        choices=list(_ACTIONS),
        help="write TEXT at PATH (put), print the note (show), list the notes whose "
        "paths begin with PATH (list), or delete the note with its versions (delete)",
    )
    command.add_argument(
        "path",
        nargs="?",
        metavar="PATH",
        help="path of the note, such as projects/lisbon.md",
    )
    command.add_argument(
        "text",
        nargs="?",
        metavar="TEXT",
        help="content of the note, - for standard input (put)",
    )
    command.add_argument(
        "--version",
        metavar="V",
        help="only if the note is still at this version (put, delete); without it put "
        "only creates",
    )
    command.add_argument(
        "--overwrite",
        action="store_true",
        help="replace whatever version is there (put)",
    )
    command.add_argument(
        "--versions",
        action="store_true",
        help="print all versions that the note keeps (show)",
    )
    command.add_argument(
        "--user", metavar="U", help="user whose note it is; default: the agent"
    )


def note(options: argparse.Namespace, memory: Memory) -> None:
    """Put, show, list or delete notes. Raises Rejected."""
    _ACTIONS[options.action](options, memory.notes)


def _put(options: argparse.Namespace, notes: Notes) -> None:
    text = options.text
    if text is None:
        raise Rejected("note put", "needs PATH and TEXT")
    put = notes.put(
        _require_path(options),
        sys.stdin.read() if text == "-" else text,
        version=options.version,
        overwrite=options.overwrite,
        user_id=options.user,
    )
    print_result(
        options, put.to_dict(), [f"{put.path} is at version {put.version}"]
    )


def _show(options: argparse.Namespace, notes: Notes) -> None:
    path = _require_path(options)
    found = notes.get(path, user_id=options.user)
    if found is None:
        raise Rejected("note show", f"there is no note {path!r}")
    if not options.versions:
        print_result(options, found.to_dict(), [found.content])
        return
    lines: list[str] = []
    for one in found.kept:
        lines += [f"{one.version}  {iso(one.at)}", one.content]
    print_result(options, [one.to_dict() for one in found.kept], lines)


def _list(options: argparse.Namespace, notes: Notes) -> None:
    found = notes.list(options.path or "", user_id=options.user)
    lines: list[str] = []
    for one in found:
        size = format_count(one.size, "byte")
        lines.append(
            f"{one.path}  {one.version}  {iso(one.updated_at)}  {size}"
        )
    print_result(
        options, [one.to_dict() for one in found], lines or ["no notes yet"]
    )


def _delete(options: argparse.Namespace, notes: Notes) -> None:
    path = _require_path(options)
    gone = notes.delete(path, version=options.version, user_id=options.user)
    said = f"{path} deleted" if gone else f"there was no note {path!r}"
    print_result(options, {"deleted": gone}, [said])


_ACTIONS: dict[str, Callable[[argparse.Namespace, Notes], None]] = {
    "put": _put,
    "show": _show,
    "list": _list,
    "delete": _delete,
}


def _require_path(options: argparse.Namespace) -> str:
    if not options.path:
        raise Rejected(f"note {options.action}", "needs PATH")
    path: str = options.path
    return path
