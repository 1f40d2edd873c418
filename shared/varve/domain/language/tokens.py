"""The tokenizer: words as they are compared, without case and accents."""

import re
from itertools import filterfalse
from unicodedata import combining, normalize

_JOINT = r"[-_./:#@+\\]"
_WORD = re.compile(rf"[^\W_]++(?:{_JOINT}[^\W_]++)*+")
_ASCII_WORD = re.compile(rf"[a-z0-9]++(?:{_JOINT}[a-z0-9]++)*+")
"""The same in folded text of ASCII alone, in half the time."""
_PART = re.compile(r"[^\W_]+")


def fold(text: str) -> str:
    """Return the text without case and accents."""
    if text.isascii():
        return text.lower()
    decomposed = normalize("NFKD", text)
    plain = "".join(filterfalse(combining, decomposed))
    return plain.casefold()


def without_accents(text: str) -> str:
    """Return the text in ASCII, without case, accents and all other characters."""
    decomposed = normalize("NFKD", text.casefold())
    return decomposed.encode("ascii", "ignore").decode()


def words(text: str) -> list[str]:
    """Return the folded words of a text in order; one with joints, such as a path, is kept whole."""
    folded = fold(text)
    pattern = _ASCII_WORD if folded.isascii() else _WORD
    return pattern.findall(folded)


def written_words(text: str) -> list[str]:
    """Return the words of a text in order, as they are written."""
    return _WORD.findall(text)


def bare_words(text: str) -> list[str]:
    """Return the runs of letters and digits of a text, as they are written; "Dana's" has two."""
    return _PART.findall(text)


def spaced_words(text: str) -> str:
    """Return the folded words between spaces, so that whole words are compared."""
    return f" {' '.join(bare_words(fold(text)))} "


def parts(word: str) -> list[str]:
    """Return what stands between a word's joints, if it has any: `e-4711` has `e` and `4711`."""
    return [] if word.isalnum() else bare_words(word)
