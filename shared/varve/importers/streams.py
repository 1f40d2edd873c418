"""Read files of any size: the elements of a JSON array one by one, or lines."""

import json
from collections.abc import Iterator, Mapping
from typing import IO, Any

from varve.domain.errors import Rejected
from varve.domain.strict_json import NotJson, parse_json
from varve.importers.items import Faulty
from varve.importers.json_reader import JsonReader

SPACE = b" \t\r\n"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
HEAD_BYTES = 65_536
"""The beginning of a file, from which its format is recognized."""
MAX_WHOLE_BYTES = 16 * 2**20
"""A larger object is recognized by its members before its first list alone."""


def read_head(source: IO[bytes]) -> bytes:
    """Return the beginning of a file without a byte order mark; go back to its start."""
    source.seek(0)
    head = source.read(HEAD_BYTES)
    source.seek(
        len(BYTE_ORDER_MARK) if head.startswith(BYTE_ORDER_MARK) else 0
    )
    return head.removeprefix(BYTE_ORDER_MARK)


def is_list(source: IO[bytes]) -> bool:
    """Return whether a file is a JSON list; go back to its start."""
    return read_head(source).lstrip(SPACE).startswith(b"[")


def read_objects(source: IO[bytes]) -> Iterator[Any]:
    """Yield the values of a file: an array's elements, lines, or one value.

    Raises Rejected: not valid JSON or UTF-8.
    """
    for _, value in read_places(source):
        if isinstance(value, Faulty):
            raise Rejected(value.place, value.reason)
        yield value


def read_places(source: IO[bytes]) -> Iterator[tuple[str, Any]]:
    """Yield the values of a file as `read_objects`, each with its place.

    A place is `[2].`, `line 3: ` or empty. A faulty line is as `read_lines` yields it.
    """
    head = read_head(source)
    if not head.strip(SPACE):
        return
    if not head.lstrip(SPACE).startswith(b"[") and is_lines(head):
        for number, value in read_lines(source):
            yield f"line {number}: ", value
        return
    reader = JsonReader(source)
    if reader.peek() == "[":
        for index, value in enumerate(reader.read_elements()):
            yield f"[{index}].", value
    else:
        yield "", reader.read_value()
    reader.require_end()


def read_members(source: IO[bytes]) -> Iterator[tuple[str, Any]]:
    """Yield each member of a file's one object; of a list each element.

    Raises Rejected: not valid JSON or UTF-8.
    """
    read_head(source)
    reader = JsonReader(source)
    yield from reader.read_members()
    reader.require_end()


def read_whole(source: IO[bytes]) -> Any:
    """Return a file's one JSON value. Raises Rejected: not valid JSON or UTF-8."""
    read_head(source)
    reader = JsonReader(source)
    value = reader.read_value()
    reader.require_end()
    return value


def read_lines(source: IO[bytes]) -> Iterator[tuple[int, Any]]:
    """Yield each line's number and JSON value; empty lines are left out.

    The value of a line that is not valid JSON or UTF-8 is a `Faulty`.
    """
    read_head(source)
    for number, line in enumerate(source, start=1):
        if line.strip():
            yield number, _parse_line(number, line)


def _parse_line(number: int, line: bytes) -> Any:
    place = f"line {number}"
    try:
        return parse_json(_decode_line(number, line))
    except Rejected as error:
        return Faulty("", error.reason)
    except json.JSONDecodeError as error:
        place += f", column {error.colno}: {error.msg}"
    except NotJson as error:
        place += f": {error}"
    except (RecursionError, ValueError):
        place += ": nested too deeply or a number too long"
    return Faulty("", f"is not valid JSON ({place})")


def read_text_lines(source: IO[bytes]) -> Iterator[tuple[int, str]]:
    """Yield each line's number and text. Raises Rejected: not valid UTF-8."""
    read_head(source)
    for number, line in enumerate(source, start=1):
        yield number, _decode_line(number, line)


def _decode_line(number: int, line: bytes) -> str:
    """Return a line's text. Raises Rejected: not valid UTF-8."""
    try:
        return line.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        at = f"at byte {error.start} of line {number}"
        raise Rejected("", f"is not valid UTF-8 ({at})") from error


def is_lines(head: bytes) -> bool:
    """Return whether a file begins with one whole JSON object on its first line."""
    first, newline, rest = head.lstrip(SPACE).partition(b"\n")
    if not newline or not rest.strip(SPACE):
        return False
    try:
        return isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        return False


def read_first_object(source: IO[bytes]) -> Mapping[str, Any] | None:
    """Return the first object of a file, of its array or of its first line.

    Of a large object only the members up to its first list are read, and of that list
    the first element. None: the file is no JSON, or holds something else.
    """
    head = read_head(source)
    try:
        if head.lstrip(SPACE).startswith(b"{") and not is_lines(head):
            return _read_sample(source)
        first = next(read_objects(source), None)
    except Rejected:
        return None
    return first if isinstance(first, Mapping) else None


def _read_sample(source: IO[bytes]) -> Mapping[str, Any]:
    if source.seek(0, 2) <= MAX_WHOLE_BYTES:
        whole: Mapping[str, Any] = read_whole(source)
        return whole
    read_head(source)
    sample: dict[str, Any] = {}
    reader = JsonReader(source)
    reader.take("{")
    while True:
        key = reader.read_value()
        reader.take(":")
        if reader.peek() == "[":
            return {**sample, key: [next(reader.read_elements(), None)]}
        sample[key] = reader.read_value()
        if reader.peek() != ",":
            return sample
        reader.take(",")
