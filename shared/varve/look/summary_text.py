"""A summary's text as parts to lay out: lines with their days, and key facts."""

import re
from dataclasses import dataclass

from varve.domain.record import Record

SHOWN_LINES = 6
"""Lines of a summary that are shown before it is unfolded."""
EXCERPT = 200
"""Characters of a summary in a list."""
_KEY_FACTS = "Key facts:"
_DATED = re.compile(r"(?:- )?([0-9]{4}-[0-9]{2}-[0-9]{2}): (.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class SummaryLine:
    """One line; `day` is the label of the day it begins with, or empty."""

    day: str
    text: str


@dataclass(frozen=True, slots=True)
class SummaryText:
    """The first lines, those to unfold, and the key facts."""

    first: tuple[SummaryLine, ...]
    rest: tuple[SummaryLine, ...]
    facts: tuple[SummaryLine, ...]


def split_summary(content: str) -> SummaryText:
    """Split a summary into lines and key facts."""
    said, _, facts = content.partition(_KEY_FACTS)
    lines = _split_lines(said)
    return SummaryText(
        first=lines[:SHOWN_LINES],
        rest=lines[SHOWN_LINES:],
        facts=_split_lines(facts),
    )


def excerpt(record: Record) -> str:
    """Return the beginning of a summary, cut at a word."""
    said, _, _ = record.content.partition(_KEY_FACTS)
    text = " ".join(line.text for line in _split_lines(said))
    if len(text) <= EXCERPT:
        return text
    return text[:EXCERPT].rsplit(" ", 1)[0] + " …"


def _split_lines(text: str) -> tuple[SummaryLine, ...]:
    lines: list[SummaryLine] = []
    for line in text.splitlines():
        stripped = line.strip()
        if stripped:
            lines.append(_read_line(stripped))
    return tuple(lines)


def _read_line(line: str) -> SummaryLine:
    dated = _DATED.fullmatch(line)
    if dated is None:
        return SummaryLine("", line.removeprefix("- "))
    return SummaryLine(dated[1], dated[2])
