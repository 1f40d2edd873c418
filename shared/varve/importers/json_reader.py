"""Read JSON of any size piece by piece, with the standard library's parser.

The parser tries the text that is in memory. If a value goes on beyond it, the text is
doubled, so that reading takes time in proportion to the file.
"""

import codecs
import json
from collections.abc import Iterator
from typing import IO, Any

from varve.domain.errors import Rejected
from varve.domain.strict_json import NotJson, build_decoder

FIRST_READ = 65_536
_SPACE = " \t\r\n"
_NEAR_END = 16
"""Characters before the end of the text in which a fault may be a value that goes on."""


class JsonReader:
    """The text of one JSON file, of which only the current value is in memory."""

    def __init__(self, source: IO[bytes]) -> None:
        self._source = source
        self._decode = codecs.getincrementaldecoder("utf-8-sig")()
        self._parser = build_decoder()
        self._text = ""
        self._position = 0
        self._lines = 0
        self._is_at_end = False

    def peek(self) -> str:
        """Return the next character that is no white space; empty at the end."""
        while True:
            while self._position < len(self._text):
                character = self._text[self._position]
                if character not in _SPACE:
                    return character
                self._position += 1
            if self._is_at_end:
                return ""
            self._read_more()

    def take(self, expected: str) -> None:
        """Consume one character. Raises Rejected: another one follows."""
        if self.peek() != expected:
            raise self._refuse(f"Expecting {expected!r}", self._position)
        self._position += 1

    def read_value(self) -> Any:
        """Return the next value. Raises Rejected: not valid JSON or UTF-8."""
        if not self.peek():
            raise self._refuse("Expecting value", self._position)
        while True:
            parsed = self._try_value()
            if parsed is not None:
                value, self._position = parsed
                return value
            self._read_more()

    def _try_value(self) -> tuple[Any, int] | None:
        """Return the value in memory and its end; None: it may go on in the file."""
        try:
            value, end = self._parser.raw_decode(self._text, self._position)
        except json.JSONDecodeError as error:
            if self._may_go_on(error):
                return None
            raise self._refuse(error.msg, error.pos) from error
        except NotJson as error:
            raise self._refuse(str(error), self._position) from error
        except RecursionError as error:
            raise self._refuse("nested too deeply", self._position) from error
        except (
            ValueError
        ) as error:  # Python's limit on the digits of an integer
            reason = "holds a number of too many digits"
            raise self._refuse(reason, self._position) from error
        # A number at the end of the text may have more digits.
        is_whole = end < len(self._text) or self._is_at_end
        return (value, end) if is_whole else None

    def read_elements(self) -> Iterator[Any]:
        """Yield the elements of the array that follows, one in memory at a time."""
        self.take("[")
        if self.peek() == "]":
            self.take("]")
            return
        while True:
            yield self.read_value()
            if self.peek() == "]":
                self.take("]")
                return
            self.take(",")

    def read_members(self) -> Iterator[tuple[str, Any]]:
        """Yield each member of the object that follows; of an array each element."""
        self.take("{")
        if self.peek() == "}":
            self.take("}")
            return
        while True:
            key = self.read_value()
            self.take(":")
            if self.peek() == "[":
                for element in self.read_elements():
                    yield str(key), element
            else:
                yield str(key), self.read_value()
            if self.peek() == "}":
                self.take("}")
                return
            self.take(",")

    def require_end(self) -> None:
        """Raise Rejected if something follows."""
        if self.peek():
            raise self._refuse("Extra data", self._position)

    def _may_go_on(self, error: json.JSONDecodeError) -> bool:
        """Return whether the value may be valid with the text that is not read yet."""
        if self._is_at_end:
            return False
        is_cut = error.msg.startswith("Unterminated string")
        return is_cut or error.pos >= len(self._text) - _NEAR_END

    def _read_more(self) -> None:
        """Drop the text that is read, and double the rest. Raises Rejected: not valid UTF-8."""
        self._lines += self._text.count("\n", 0, self._position)
        rest = self._text[self._position :]
        data = self._source.read(max(FIRST_READ, len(rest)))
        self._is_at_end = not data
        try:
            self._text = rest + self._decode.decode(
                data, final=self._is_at_end
            )
        except UnicodeDecodeError as error:
            at = self._source.tell() - len(data) + error.start
            raise Rejected("", f"is not valid UTF-8 (at byte {at})") from error
        self._position = 0

    def _refuse(self, reason: str, position: int) -> Rejected:
        line = 1 + self._lines + self._text.count("\n", 0, position)
        column = position - self._text.rfind("\n", 0, position)
        return Rejected(
            "", f"is not valid JSON (line {line}, column {column}: {reason})"
        )
