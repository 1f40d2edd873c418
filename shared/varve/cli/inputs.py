"""Conversations from files: a JSON object, a JSON array or JSON Lines, with faults named by place."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from varve.domain.conversation import Conversation, parse_conversation
from varve.domain.errors import Rejected, prefix_field

AT_ONCE = 20
"""Conversations that are handed to memory together, and so may share commits, before progress is told."""

Accept = Callable[[Conversation], Conversation]


def read_conversations(
    names: list[str], accept: Accept = lambda conversation: conversation
) -> list[Conversation]:
    """All conversations of all files, validated and accepted.

    Raises Rejected: names file, field and reason, also where it was `accept` that refused.
    """
    return [conversation for name in names for conversation in _read_file(name, accept)]


def _read_file(name: str, accept: Accept) -> Iterator[Conversation]:
    shown = "standard input" if name == "-" else name
    values = list(_values(_text(name, shown), shown))
    if not values:
        raise Rejected(shown, "holds no conversation")
    for place, value in values:
        with prefix_field(f"{shown}: {place}"):
            conversation = accept(parse_conversation(value))
        yield conversation


def _text(name: str, shown: str) -> str:
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Rejected(shown, f"is not valid UTF-8 (at byte {error.start})") from error
    except IsADirectoryError as error:
        raise Rejected(shown, "is a directory, not a file") from error
    except FileNotFoundError as error:
        raise Rejected(shown, "does not exist") from error
    except (OSError, ValueError) as error:
        raise Rejected(shown, f"cannot be read ({type(error).__name__})") from error


def _values(text: str, shown: str) -> Iterator[tuple[str, Any]]:
    """Each value with its place in the file: nothing, `[2].` or `line 3: `."""
    if not text.strip():
        return
    try:
        whole = _decoded(text)
    except json.JSONDecodeError as error:
        if error.msg != "Extra data" or "\n" not in text.strip():
            raise _not_json(
                shown, f"line {error.lineno}, column {error.colno}: {error.msg}"
            ) from error
        yield from _lines(text, shown)
        return
    if isinstance(whole, list):
        yield from ((f"[{index}].", value) for index, value in enumerate(whole))
    else:
        yield "", whole


def _lines(text: str, shown: str) -> Iterator[tuple[str, Any]]:
    # Not splitlines(): a JSON string may hold U+2028 and its like as they are.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield f"line {number}: ", _decoded(line)
            except json.JSONDecodeError as error:
                raise _not_json(
                    shown, f"line {number}, column {error.colno}: {error.msg}"
                ) from error


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise
    except RecursionError as error:
        raise json.JSONDecodeError("nested too deeply", text[:1], 0) from error
    except ValueError as error:  # Python's limit on the digits of a whole number
        raise json.JSONDecodeError(
            "holds a number of too many digits", text[:1], 0
        ) from error


def _not_json(shown: str, where: str) -> Rejected:
    return Rejected(shown, f"is not valid JSON ({where})")
