"""Transcripts: messages whose text names the speaker, as in `Dana: I moved.`"""

import re
from collections.abc import Iterable

SHARE = 0.8
"""The share of the texts that must begin with a name; fewer may be headings."""
_INTRODUCED = re.compile(r"\s*((?:[^\W_][\w.'’-]*)(?: [^\W_][\w.'’-]*){0,2}):\s+(?=\S)")


def introduction(text: str) -> tuple[str, str]:
    """Return the name that a text begins with, and the rest; without a name "" and the text.

    A name has one to three words. None of them begins with a small letter.
    """
    found = _INTRODUCED.match(text)
    if found is None or any(word[0].islower() for word in found[1].split()):
        return "", text
    return found[1], text[found.end() :]


def speakers(texts: Iterable[str]) -> frozenset[str]:
    """Return the names that begin the texts of a conversation; none if it is no transcript.

    In a transcript at least two texts, and `SHARE` of all, begin with a name. There are at most two
    names, or half as many as such texts: a list of headings has another one on each line.
    """
    every = list(texts)
    named = [name for name, _ in map(introduction, every) if name]
    names = frozenset(named)
    if len(named) < max(2, SHARE * len(every)) or len(names) > max(2, len(named) / 2):
        return frozenset()
    return names
