"""Printing: JSON for programs, lines for people, remarks on standard error."""

import argparse
import json
import os
import sys
from collections.abc import Iterable, Sequence
from textwrap import shorten
from typing import Any, TextIO

from varve.domain.errors import Rejected

MAX_LINE = 300
"""Characters of a text that is printed on one line."""


_FAINT = "\x1b[2m"
_NORMAL = "\x1b[0m"


def print_result(
    options: argparse.Namespace, value: Any, lines: Iterable[str]
) -> None:
    """Print the value as indented JSON with `--json`, else the lines."""
    if options.json:
        print(json.dumps(value, ensure_ascii=False, indent=2))
        return
    for line in lines:
        print(line)


def say(line: str) -> None:
    """Print progress or a remark on standard error."""
    print(line, file=sys.stderr, flush=True)


def confirm(
    options: argparse.Namespace, lines: Iterable[str], question: str
) -> bool:
    """Print the lines and ask on standard error; return whether the answer is yes.

    Raises Rejected: `--json` is given, or there is no terminal to ask at.
    """
    if options.json or not sys.stdin.isatty():
        raise Rejected(
            "--yes", "is required with --json or without a terminal"
        )
    for line in lines:
        say(line)
    return _ask(question)


def ask_person(question: str) -> bool:
    """Ask on standard error; return whether the answer is yes. Without a terminal: no."""
    return sys.stdin.isatty() and sys.stdout.isatty() and _ask(question)


def _ask(question: str) -> bool:
    say(f"{question} [y/N] ")
    answer = sys.stdin.readline().strip().lower()
    return answer in ("y", "yes")


def format_count(number: int, singular: str, plural: str | None = None) -> str:
    """Return `1 record` or `2 records`."""
    if number == 1:
        return f"1 {singular}"
    return f"{number} {plural or singular + 's'}"


def list_some(names: Sequence[str], most: int) -> str:
    """Return the first `most` names with commas between, and how many more there are."""
    shown = ", ".join(names[:most])
    more = len(names) - most
    return f"{shown} and {more} more" if more > 0 else shown


def is_screen(stream: TextIO) -> bool:
    """Return whether a person reads the stream on a terminal that moves its cursor."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def make_faint(text: str) -> str:
    """Return the text in faint letters on a terminal, unless NO_COLOR is set.

    NO_COLOR: https://no-color.org.
    """
    if os.environ.get("NO_COLOR") or not is_screen(sys.stdout):
        return text
    return f"{_FAINT}{text}{_NORMAL}"


def fit_line(text: str) -> str:
    """Return the text on one line, cut to MAX_LINE characters."""
    return shorten(text, MAX_LINE, placeholder=" …")
