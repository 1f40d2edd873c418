"""Abbreviations, whose full stop ends no sentence."""

import re

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
