"""Transcripts: messages whose text names the speaker, as in `Dana: I moved.`"""

import re
from collections.abc import Iterable

SHARE = 0.8
"""The share of the texts that must begin with a name; fewer may be headings."""
_INTRODUCED = re.compile(
    r"\s*((?:[^\W_][\w.'’-]*)(?: [^\W_][\w.'’-]*){0,2}):\s+(?=\S)"
)


def introduction(text: str) -> tuple[str, str]:
    """Return the name that a text begins with, and the rest; without a name "" and the text.

    A name has one to three words. None of them begins with a small letter.
    """
    found = _INTRODUCED.match(text)
    if found is None:
        return "", text
    name = found[1]
    if any(word[0].islower() for word in name.split()):
        return "", text
    rest = text[found.end() :]
    return name, rest


def speakers(texts: Iterable[str]) -> frozenset[str]:
    """Return the names that begin the texts of a conversation; none if it is no transcript.

    In a transcript at least two texts, and `SHARE` of all, begin with a name. There are at most two
    names, or half as many as such texts: a list of headings has a new one on each line.
    """
    every = list(texts)
    named: list[str] = []
    for text in every:
        name, _ = introduction(text)
        if name:
            named.append(name)
    names = frozenset(named)
    least_named = max(2, SHARE * len(every))
    most_names = max(2, len(named) / 2)
    if len(named) < least_named or len(names) > most_names:
        return frozenset()
    return names
