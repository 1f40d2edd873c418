"""The shapes of providers' tokens, read from `token_shapes.toml`."""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from varve.domain.text import Span


@dataclass(frozen=True, slots=True)
class TokenShape:
    """A provider's token: a text with `keyword` is searched with `pattern`.

    The token is the pattern's group `value`, or the whole match if it has none.
    """

    keyword: str
    pattern: re.Pattern[str]

    def spans(self, text: str) -> Iterator[Span]:
        """Yield where such tokens are in the text."""
        if self.keyword not in text:
            return
        group = "value" if "value" in self.pattern.groupindex else 0
        for match in self.pattern.finditer(text):
            yield match.span(group)


@cache
def token_shapes() -> tuple[TokenShape, ...]:
    """Return the shapes of the data file."""
    path = files("varve.adapters.detectors") / "token_shapes.toml"
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    return tuple(
        TokenShape(each["keyword"], _compile(each["pattern"]))
        for each in data["shape"]
    )


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z0-9])(?:{pattern})(?![A-Za-z0-9])")
