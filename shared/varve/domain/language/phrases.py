"""Lists of phrases, searched in a text in one pass.

A phrase is a pattern of folded text between the borders of words. Each word of a text is
compared once with all patterns of one word, and the answer is cached. A longer pattern is
tried only where its first word stands.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from varve.domain.language.spelling import restore_apostrophes
from varve.domain.language.tokens import fold

MAX_CACHED_WORDS = 16_384
MAX_CACHED_TEXTS = 8_192
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_FIRST_WORD = re.compile(r"([a-z][a-z']*)(?=[ ,])(?!,\?)")
_POSSESSIVE = "'s"
"""Behind a word it leaves the word what it is: "my dog's name" is of a dog."""
_SINGLE = re.compile(r"[^\s^\"]+")

Tried = tuple[str, re.Pattern[str]]
"""The name of a list, and one of its patterns."""


class Phrases:
    """Named lists of phrases."""

    def __init__(self, lists: Mapping[str, Iterable[str]]) -> None:
        self._words: dict[str, re.Pattern[str]] = {}
        self._by_first_word = defaultdict[str, list[Tried]](list)
        self._anywhere: list[Tried] = []
        for name, patterns in lists.items():
            self._add(name, list(patterns))
        self._find_word = lru_cache(maxsize=MAX_CACHED_WORDS)(self._look_up)

    def _add(self, name: str, patterns: Sequence[str]) -> None:
        single = [one for one in patterns if _is_word(one)]
        if single:
            self._words[name] = re.compile("|".join(single))
        for pattern in patterns:
            if _is_word(pattern):
                continue
            bounded = re.compile(rf"(?<!\w)(?:{pattern})(?!\w)")
            first = _FIRST_WORD.match(pattern)
            if first:
                self._by_first_word[first[1]].append((name, bounded))
            else:
                self._anywhere.append((name, bounded))

    def find(self, text: str) -> frozenset[str]:
        """Return the names of the lists of which the text has a phrase."""
        folded = fold_apostrophes(text)
        found: set[str] = set()
        for word in _WORD.finditer(folded):
            found |= self._find_word(word[0])
            for name, pattern in self._by_first_word.get(word[0], ()):
                if name not in found and pattern.match(folded, word.start()):
                    found.add(name)
        for name, pattern in self._anywhere:
            if name not in found and pattern.search(folded):
                found.add(name)
        return frozenset(found)

    def _look_up(self, word: str) -> frozenset[str]:
        forms = {word, word.removesuffix(_POSSESSIVE)}
        found: set[str] = set()
        for name, pattern in self._words.items():
            if any(pattern.fullmatch(form) for form in forms):
                found.add(name)
        return frozenset(found)


@lru_cache(maxsize=MAX_CACHED_TEXTS)
def fold_apostrophes(text: str) -> str:
    """Return the folded text with straight apostrophes, with those that words lack."""
    return restore_apostrophes(fold(text).replace("’", "'"))


def any_of(patterns: Iterable[str]) -> str:
    """Return a pattern that matches one of the patterns."""
    return f"(?:{'|'.join(patterns)})"


def _is_word(pattern: str) -> bool:
    """Return whether a pattern matches single words only."""
    if _SINGLE.fullmatch(pattern) is None:
        return False
    return not any(
        mark in pattern for mark in ("\\d", "$", "@", ":\\", "[\\w", "€")
    )
