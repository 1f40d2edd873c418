"""Texts before they are stored: cut into passages, weighed, and counted in tokens."""

from collections.abc import Iterator

MAX_PASSAGE_CHARACTERS = 2_000
Span = tuple[int, int]
"""The first index of a passage and the index behind its last one, in characters."""

_BREAKS = ("\n\n", "\n", ". ", "? ", "! ", " ")


def passages(text: str, limit: int = MAX_PASSAGE_CHARACTERS) -> Iterator[str]:
    """Yield the text in pieces of at most `limit` characters.

    A piece ends with a paragraph, else a line, a sentence or a word.
    """
    rest = text.strip()
    while len(rest) > limit:
        cut = _cut(rest, limit)
        yield rest[:cut].rstrip()
        rest = rest[cut:].lstrip()
    if rest:
        yield rest


def _cut(text: str, limit: int) -> int:
    """Return where to cut: after the last strongest break in the second half, else at `limit`."""
    for mark in _BREAKS:
        at = text.rfind(mark, limit // 2, limit)
        if at >= 0:
            return at + len(mark)
    return limit


def casefold_words(text: str) -> str:
    """Return a text in lower case with single spaces, for comparison."""
    return " ".join(text.casefold().split())


def salience(text: str) -> float:
    """Return how much a turn is likely to matter, in [0.05, 0.5]: whole sentences more than greetings.

    It grows with the words, up to twenty. The importance of an extracted fact starts at 0.5.
    """
    words = len(text.split())
    share = min(1.0, words / 20)
    return max(0.05, 0.5 * share)


def estimated_tokens(text: str) -> int:
    """Return the estimated number of a text's tokens: four UTF-8 bytes each, rounded up.

    The usual rule of thumb for byte-pair vocabularies on English (OpenAI's tokenizer documentation);
    it overstates scripts of several bytes a character, which keeps a budget on the safe side.
    """
    return -(-len(text.encode()) // 4)
