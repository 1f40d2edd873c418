"""Abbreviations, whose full stop ends no sentence."""

import re
from collections.abc import Iterator

_COMMON = "dr|mr|mrs|ms|prof|sr|sra|srta|st|ste|av|avda|vs|approx|no|núm|nr|fig|art|tel|ext"
_INITIAL = r"[^\W\d_]"
LONGEST = 12
"""How many characters before a full stop decide whether it ends an abbreviation."""


def build_abbreviation(others: str) -> re.Pattern[str]:
    """Return the pattern of a text that ends with an abbreviation or an initial.

    `others` are patterns of further abbreviations, separated by "|".
    """
    abbreviation = rf"(?i:{_COMMON}|{others})"
    return re.compile(rf"(?:^|[\s(])(?:{abbreviation}|{_INITIAL})\.$")


def split_at(
    text: str, breaks: re.Pattern[str], abbreviation: re.Pattern[str]
) -> Iterator[str]:
    """Yield what lies between the breaks of a text; one behind an abbreviation is none."""
    start = 0
    for found in breaks.finditer(text):
        end = found.start()
        nearby = max(start, end - LONGEST)
        if abbreviation.search(text[nearby:end]):
            continue
        yield text[start:end]
        start = found.end()
    yield text[start:]
