"""Text for drawings: its width as an upper estimate, and pieces filled into lines.

A server does not know the reader's fonts, so the estimates are generous.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from unicodedata import combining, east_asian_width

MAX_LINES = 12
"""Lines of one text; what exceeds them is cut, with an ellipsis."""
_WIDE = 1.1
_NARROW = 0.62
_UPPER = 0.86
_LETTERS = {
    "m": 0.98,
    "w": 0.9,
    "M": 1.0,
    "W": 1.1,
    "@": 1.1,
    "%": 1.0,
    "…": 1.0,
}


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text with its style."""

    style: str
    text: str


Line = tuple[Piece, ...]


def measure(text: str, size: float) -> float:
    """Return the most that a text is wide in a sans-serif font of `size` pixels."""
    return size * sum(_measure_letter(letter) for letter in text)


def fill_lines(
    pieces: Sequence[Piece], width: float, size: float
) -> list[Line]:
    """Fill the pieces into lines of at most `width` pixels; break words that are longer."""
    lines: list[list[Piece]] = [[]]
    left = width
    for piece in pieces:
        for word in _split_words(piece.text, width, size):
            taken = measure(f"{word} ", size)
            if taken > left and lines[-1]:
                lines.append([])
                left = width
            lines[-1].append(Piece(piece.style, word))
            left -= taken
    joined = [_join(line) for line in lines]
    if len(joined) > MAX_LINES:
        return [*joined[: MAX_LINES - 1], (Piece("of", "…"),)]
    return joined


def _measure_letter(letter: str) -> float:
    if combining(letter):
        return 0.0
    if east_asian_width(letter) in ("W", "F"):
        return _WIDE
    if letter in _LETTERS:
        return _LETTERS[letter]
    if letter.isascii():
        return _UPPER if letter.isupper() else _NARROW
    return _UPPER


def _split_words(text: str, width: float, size: float) -> Iterator[str]:
    for word in text.split():
        start = 0
        taken = 0.0
        for place, letter in enumerate(f"{word} "):
            taken += measure(letter, size)
            if taken > width and place > start:
                yield word[start:place]
                start = place
                taken = measure(letter, size)
        yield word[start:]


def _join(words: Sequence[Piece]) -> Line:
    """Join neighbouring words of one style."""
    joined: list[Piece] = []
    for word in words:
        if joined and joined[-1].style == word.style:
            before = joined.pop()
            joined.append(Piece(word.style, f"{before.text} {word.text}"))
        else:
            joined.append(word)
    return tuple(joined)
