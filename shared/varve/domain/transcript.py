"""Transcripts: messages without a name of their own whose text says who speaks, as in `Dana: I moved.`"""

import re
from collections.abc import Iterable

SHARE = 0.8
"""Of the texts so many must be introduced by a name, for it might be a heading of the writer's."""
_INTRODUCED = re.compile(r"\s*((?:[^\W_][\w.'’-]*)(?: [^\W_][\w.'’-]*){0,2}):\s+(?=\S)")


def introduction(text: str) -> tuple[str, str]:
    """The name that a text begins with, and the rest; the name is empty where there is none.

    A name has one to three words, none of which begins with a small letter.
    """
    found = _INTRODUCED.match(text)
    if found is None or any(word[0].islower() for word in found[1].split()):
        return "", text
    return found[1], text[found.end() :]


def speakers(texts: Iterable[str]) -> frozenset[str]:
    """The names that introduce the texts of a conversation; none where it is no transcript.

    It is one where nearly all of at least two texts are introduced, by two names at most or by no more than
    half as many names as there are texts: a list of headings has a new one on each line.
    """
    every = list(texts)
    named = [name for name, _ in map(introduction, every) if name]
    names = frozenset(named)
    if len(named) < max(2, SHARE * len(every)) or len(names) > max(2, len(named) / 2):
        return frozenset()
    return names
