"""Lines of a text that say something only together: short items of a list, and code.

An item such as "passport" is too short to tell anything by itself, and so is "try:".
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

MAX_ITEM_WORDS = 6
"""A longer item is a statement of its own."""
MAX_JOINED_CHARACTERS = 280
_ITEM = re.compile(r"\s*(?:[-–—*•·]|\d{1,2}[.)])\s+(?=\S)")
_INDENTED = re.compile(r"(?: {2,}|\t)\s*\S")
_FENCE = re.compile(r"\s*```")
_FINAL_MARKS = " .,;"
_SENTENCE_END = re.compile(r"[.!?…]\s")


@dataclass(slots=True)
class _Listed:
    """A heading with the items behind it; without a heading it is empty."""

    heading: str
    items: list[str] = field(default_factory=list)

    def takes(self, item: str) -> bool:
        """Return whether an item fits behind a heading or items of this line."""
        if not self.items and not self.heading.rstrip().endswith(":"):
            return False
        length = len(self.heading) + sum(len(one) + 2 for one in self.items)
        return length + len(item) <= MAX_JOINED_CHARACTERS

    def __str__(self) -> str:
        if not self.items:
            return self.heading
        told = "; ".join(one.rstrip(_FINAL_MARKS) for one in self.items)
        return f"{self.heading} {told}".strip()


def join_lines(text: str) -> str:
    """Return the text with a list's short items on the line of its heading, and code on one line.

    The items are parted by semicolons: "Packing list: passport; sunscreen; 2 shirts".
    """
    if "\n" not in text:
        return text
    return "\n".join(map(str, _list_lines(_join_code(text.split("\n")))))


def _join_code(lines: Iterable[str]) -> list[str]:
    """Return the lines, those of a fenced block as one, and indented ones with the line before."""
    joined: list[str] = []
    is_code = False
    for line in lines:
        if _FENCE.match(line):
            is_code = not is_code
            joined.append("")
        elif joined and line.strip() and (is_code or _goes_on(line)):
            joined[-1] = f"{joined[-1]} {line.strip()}".strip()
        else:
            joined.append(line)
    return joined


def _goes_on(line: str) -> bool:
    """Return whether a line is indented and no item of a list."""
    return bool(_INDENTED.match(line)) and not _ITEM.match(line)


def _list_lines(lines: Iterable[str]) -> list[_Listed]:
    """Return the lines, short items with their heading or with the items before them."""
    found: list[_Listed] = []
    for line in lines:
        item = _read_item(line)
        if item is None:
            found.append(_Listed(line))
        elif found and found[-1].takes(item):
            found[-1].items.append(item)
        else:
            found.append(_Listed("", [item]))
    return found


def _read_item(line: str) -> str | None:
    """Return a short item of a list without its bullet or number; None: it is none."""
    found = _ITEM.match(line)
    if found is None:
        return None
    item = line[found.end() :].strip()
    is_short = len(item.split()) <= MAX_ITEM_WORDS
    return item if is_short and not _SENTENCE_END.search(item) else None
