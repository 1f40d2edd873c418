"""Conversations from files: a JSON object, a JSON array or JSON Lines."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from varve.domain.conversation import Conversation, parse_conversation
from varve.domain.errors import Rejected, prefix_field
from varve.domain.strict_json import NotJson, parse_json

Accept = Callable[[Conversation], Conversation]


def read_conversations(
    names: list[str], accept: Accept | None = None
) -> list[Conversation]:
    """Return the conversations of all files, each passed through `accept`.

    The file name `-` is standard input.
    Raises Rejected: names file, field and reason, for a refusal by `accept` too.
    """
    conversations: list[Conversation] = []
    for name in names:
        conversations += _read_file(name, accept)
    return conversations


def _read_file(name: str, accept: Accept | None) -> list[Conversation]:
    file = "standard input" if name == "-" else name
    values = list(_parse_values(_read_text(name, file), file))
    if not values:
        raise Rejected(file, "holds no conversation")
    conversations = []
    for place, value in values:
        with prefix_field(f"{file}: {place}"):
            conversation = parse_conversation(value)
            if accept is not None:
                conversation = accept(conversation)
        conversations.append(conversation)
    return conversations


def _read_text(name: str, file: str) -> str:
    """Return a file's text. Raises Rejected: names the file as `file` and the reason."""
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        reason = f"is not valid UTF-8 (at byte {error.start})"
        raise Rejected(file, reason) from error
    except IsADirectoryError as error:
        raise Rejected(file, "is a directory, not a file") from error
    except FileNotFoundError as error:
        raise Rejected(file, "does not exist") from error
    except (OSError, ValueError) as error:
        raise Rejected(file, f"cannot be read ({type(error).__name__})") from error


def _parse_values(text: str, file: str) -> Iterator[tuple[str, Any]]:
    """Yield each value with its place in the file: empty, `[2].` or `line 3: `."""
    if not text.strip():
        return
    try:
        whole = _parse_json(text)
    except json.JSONDecodeError as error:
        if not _may_be_lines(text, error):
            place = f"line {error.lineno}, column {error.colno}: {error.msg}"
            raise _not_json(file, place) from error
        yield from _parse_lines(text, file)
        return
    if isinstance(whole, list):
        for index, value in enumerate(whole):
            yield f"[{index}].", value
    else:
        yield "", whole


def _may_be_lines(text: str, error: json.JSONDecodeError) -> bool:
    """Tell whether the text is a JSON value with more lines after it."""
    return error.msg == "Extra data" and "\n" in text.strip()


def _parse_lines(text: str, file: str) -> Iterator[tuple[str, Any]]:
    # splitlines() would also split at U+2028 and others, which JSON strings may hold.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            value = _parse_json(line)
        except json.JSONDecodeError as error:
            place = f"line {number}, column {error.colno}: {error.msg}"
            raise _not_json(file, place) from error
        yield f"line {number}: ", value


def _parse_json(text: str) -> Any:
    """Parse JSON. Raises JSONDecodeError, also for Python's limits on depth and digits."""
    try:
        return parse_json(text)
    except json.JSONDecodeError:
        raise
    except NotJson as error:
        raise json.JSONDecodeError(str(error), text[:1], 0) from error
    except RecursionError as error:
        raise json.JSONDecodeError("nested too deeply", text[:1], 0) from error
    except ValueError as error:  # Python's limit on the digits of an integer
        reason = "holds a number of too many digits"
        raise json.JSONDecodeError(reason, text[:1], 0) from error


def _not_json(file: str, place: str) -> Rejected:
    return Rejected(file, f"is not valid JSON ({place})")
