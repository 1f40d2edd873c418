"""Which of a summary's lines differ in their figures, and which in names and figures alone."""

import re
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from varve.domain.language.tokens import bare_words
from varve.domain.source_lines import SourceLine

LEAST_OF_PATTERN = 3
"""The least words, without names and figures, by which lines are alike."""
_FIGURE = re.compile(r"\d+")

Integers = npt.NDArray[np.int64]


def number_figures(lines: Sequence[SourceLine]) -> Integers:
    """Return a number for each line, equal for lines that hold the same figures.

    Two lines that differ only in a figure say two things.
    """
    return _number(tuple(_FIGURE.findall(line.sentence)) for line in lines)


def number_patterns(lines: Sequence[SourceLine]) -> Integers:
    """Return a number for each line, equal for lines that differ in names and figures alone.

    "Ana and I ordered 5 kilos" is like "Bo and I ordered 9 kilos". A line of fewer words
    than a pattern has is like no other.
    """
    patterns: list[tuple[str, ...]] = []
    for index, line in enumerate(lines):
        words = bare_words(line.sentence)
        plain = tuple(word for word in words if word.islower())
        is_pattern = len(plain) >= LEAST_OF_PATTERN
        patterns.append(plain if is_pattern else (str(index),))
    return _number(patterns)


def _number(keys: Iterable[tuple[str, ...]]) -> Integers:
    """Return a number for each key, equal for equal keys."""
    seen: dict[tuple[str, ...], int] = {}
    return np.array([seen.setdefault(key, len(seen)) for key in keys])
