"""The values of a list that a person sets by hand in one line: "bees, kiwi and nuts"."""

import re
from collections.abc import Iterator

from varve.domain.names import normalized
from varve.domain.profile import LIST_KEYS
from varve.domain.rules import LANGUAGE_READERS
from varve.domain.rules.values import PAIRS, drop_article

_FREE_KEYS = frozenset({"preferences"})
"""Lists whose values are phrases: an "and" or an article is part of a value."""
_OUTSIDE_BRACKETS = r"(?![^(]*\))"
_COMMA = re.compile(rf"\s*[;,](?!\d)\s*{_OUTSIDE_BRACKETS}")
_JOINS = "|".join(one.language.joins.pattern for one in LANGUAGE_READERS)
_AND = re.compile(f"(?:{_JOINS}){_OUTSIDE_BRACKETS}", re.IGNORECASE)


def split_values(key: str, value: str) -> list[str]:
    """Return the values that a line sets: several only if the key is that of a list.

    Commas and semicolons part them, and an "and" where the rules part what a conversation
    tells. What stands in brackets is never parted.
    """
    if key not in LIST_KEYS:
        return [value]
    parts: dict[str, str] = {}
    for part in _COMMA.split(value):
        named = [part] if key in _FREE_KEYS else _split_and(part, bool(parts))
        for one in named:
            if one:
                parts.setdefault(normalized(one), one)
    return list(parts.values()) or [value]


def _split_and(part: str, is_further: bool) -> Iterator[str]:
    """Yield what stands around each "and"; a further part may begin with one."""
    if part.casefold() in PAIRS:
        yield part
        return
    text = f" {part}" if is_further else part
    for one in _AND.split(text):
        yield drop_article(one.strip())
