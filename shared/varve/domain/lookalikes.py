"""Characters that look like ASCII ones, or like nothing.

A mark that a reader or a model would take for ours is found however it is spelled.
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from varve.domain.text import Span

FindSpans = Callable[[str], Iterable[Span]]

_BREAK = re.compile(
    r"(?:<|&(?:amp;){0,9}lt;)br\s{0,3}/?(?:>|&(?:amp;){0,9}gt;)\r?\n?", re.I
)
"""A line's end in HTML, also escaped."""


def fold(text: str) -> str:
    """Return the text with look-alikes as ASCII and without characters that are not shown."""
    return text if text.isascii() else text.translate(_plain())


def read_lines(text: str) -> str:
    """Return the folded text with a line's end for each of HTML's `<br>`."""
    return fold(_BREAK.sub("\n", text))


def is_ignorable(character: str) -> bool:
    """Tell whether a character is not shown (Unicode's Default_Ignorable_Code_Point)."""
    return _plain().get(ord(character), "") is None


def replace_alike(
    text: str, replacements: Sequence[tuple[re.Pattern[str], str]]
) -> str:
    """Return the text with each passage replaced whose folded form matches a pattern."""
    for pattern, template in replacements:
        folded = fold(text)
        if pattern.search(folded):
            text = _replace(text, pattern, template, folded)
    return text


def cut_alike(text: str, finders: Sequence[FindSpans]) -> str:
    """Return the text without the spans that each of `finders` returns for its folded form.

    In the folded form, HTML's `<br>` is a line's end. The spans of one finder are in order
    and do not overlap.
    """
    readable, breaks = _with_line_ends(text)
    folded = fold(readable)
    for place, find in enumerate(finders):
        spans = [*find(folded)]
        if spans:
            places = _places(readable, folded, breaks)
            return cut_alike(_cut(text, spans, places), finders[place + 1 :])
    return text


def _cut(text: str, spans: Sequence[Span], places: Sequence[int]) -> str:
    kept: list[str] = []
    at = 0
    for start, end in spans:
        kept.append(text[at : places[start]])
        at = places[end]
    return "".join([*kept, text[at:]])


def _replace(
    text: str, pattern: re.Pattern[str], template: str, folded: str
) -> str:
    places = _places(text, folded, [])
    parts: list[str] = []
    at = 0
    for match in pattern.finditer(folded):
        parts += [text[at : places[match.start()]], match.expand(template)]
        at = places[match.end()]
    return "".join([*parts, text[at:]])


def _with_line_ends(text: str) -> tuple[str, list[Span]]:
    """Return the text with "\\n" for each HTML line end, and where these were."""
    breaks = [match.span() for match in _BREAK.finditer(text)]
    return (_BREAK.sub("\n", text) if breaks else text), breaks


def _places(
    readable: str, folded: str, breaks: Sequence[Span]
) -> Sequence[int]:
    """Return for each folded character, and for the end, its index in the original text.

    `readable` is the text in which each of `breaks` became one character.
    """
    if not breaks and len(folded) == len(readable):
        return range(len(folded) + 1)
    places: list[int] = []
    widths = {start: end - start for start, end in breaks}
    plain = _plain()
    at = 0
    for character in readable:
        if plain.get(ord(character), "") is not None:
            places.append(at)
        at += widths.get(at, 1)
    return [*places, at]


@cache
def _plain() -> Mapping[int, str | None]:
    """Return the ASCII form of each look-alike; None for characters that are not shown."""
    table: dict[int, str | None] = {}
    data = _read_table()
    for plain, others in data["alike"].items():
        table.update(dict.fromkeys(map(ord, others), plain))
    for first, last in data["ignorable"]:
        table.update(dict.fromkeys(range(first, last + 1)))
    return table


def _read_table() -> dict[str, Any]:
    path = files("varve.domain") / "lookalikes.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))
