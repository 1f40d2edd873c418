"""Traces: keyed hashes of forgotten words, by which they can be found but not read.

A text is cut into runs of `RUN` words that do not overlap. Overlapping runs would let a
reader of the store guess a text word by word. An id is hashed as it is written.
"""

import hmac
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

RUN = 4
"""The words of a run; a shorter text is one run."""
SHORTEST = 6
"""The characters of the shortest run that does not occur by chance."""
MAX_TRACES = 5_000
_LENGTH = 24
_LONGEST_ID = 512
_WORD = re.compile(r"[^\W_]+")

Hashes = Mapping[int, frozenset[str]]
"""Hashes by the number of words that each stands for."""


@dataclass(frozen=True, slots=True)
class Traces:
    """Hashes of runs of words and of ids, under a key of their own."""

    key: str = ""
    words: Hashes = field(default_factory=dict)
    ids: Hashes = field(default_factory=dict)

    def __len__(self) -> int:
        counts = [len(hashes) for hashes in self.words.values()]
        counts += [len(hashes) for hashes in self.ids.values()]
        return sum(counts)

    def stand_in(self, text: str) -> bool:
        """Return whether one of them stands in the text."""
        return next(self._find(text), None) is not None

    def without(self, texts: Iterable[str]) -> "Traces":
        """Return the traces that stand in none of the texts."""
        excused: set[str] = set()
        for text in texts:
            excused.update(self._find(text))
        return Traces(
            self.key, _minus(self.words, excused), _minus(self.ids, excused)
        )

    def union(self, other: "Traces") -> "Traces":
        """Return both; `other` has the same key."""
        return Traces(
            self.key,
            _union(self.words, other.words),
            _union(self.ids, other.ids),
        )

    def _find(self, text: str) -> Iterator[str]:
        """Yield the hashes of runs of the text that are among the traces."""
        folded = text.casefold()
        for kind, known, split in (
            ("words", self.words, _word_runs),
            ("id", self.ids, _id_runs),
        ):
            for length, hashes in known.items():
                for run in set(split(folded, length)):
                    found = _hash(self.key, kind, run)
                    if found in hashes:
                        yield found

    def as_json(self) -> dict[str, Any]:
        """Return the traces as JSON values; the inverse of `traces_from_json`."""
        return {
            "key": self.key,
            "words": {
                str(n): sorted(hashes) for n, hashes in self.words.items()
            },
            "ids": {str(n): sorted(hashes) for n, hashes in self.ids.items()},
        }


def traces_from_json(value: Mapping[str, Any]) -> Traces:
    """Return traces from JSON values. Raises KeyError, ValueError, AttributeError."""
    return Traces(
        key=value["key"],
        words={
            int(n): frozenset(hashes) for n, hashes in value["words"].items()
        },
        ids={int(n): frozenset(hashes) for n, hashes in value["ids"].items()},
    )


def build_traces(
    key: str,
    ids: Iterable[str],
    texts: Iterable[str],
    others: Iterable[str] = (),
) -> Traces:
    """Return the traces of ids and texts that stand in none of the `others`' texts.

    At most `MAX_TRACES` of the runs of words are kept.
    """
    runs: set[str] = set()
    for text in texts:
        runs.update(cut(text))
    longest_first = sorted(runs, key=lambda run: (-len(run), run))
    words: dict[int, set[str]] = {}
    for run in longest_first[:MAX_TRACES]:
        words.setdefault(_count(run), set()).add(_hash(key, "words", run))
    named: dict[int, set[str]] = {}
    for id_ in ids:
        folded = id_.casefold()
        if _count(folded):
            named.setdefault(_count(folded), set()).add(
                _hash(key, "id", folded)
            )
    found = Traces(key, _freeze(words), _freeze(named))
    return found.without(others)


def cut(text: str) -> list[str]:
    """Return the runs of a text that are too long to occur by chance."""
    words = _WORD.findall(text.casefold())
    ends = (
        range(RUN, len(words) + 1, RUN) if len(words) >= RUN else [len(words)]
    )
    runs: list[str] = []
    for end in ends:
        run = " ".join(words[max(0, end - RUN) : end])
        if len(run) >= SHORTEST and not run.replace(" ", "").isdecimal():
            runs.append(run)
    return runs


def _word_runs(folded: str, length: int) -> Iterator[str]:
    words = _WORD.findall(folded)
    for start in range(len(words) - length + 1):
        yield " ".join(words[start : start + length])


def _id_runs(folded: str, length: int) -> Iterator[str]:
    """Yield each run of words with the characters between them."""
    spans = [match.span() for match in _WORD.finditer(folded)]
    for (start, _), (_, end) in zip(spans, spans[length - 1 :], strict=False):
        if end - start <= _LONGEST_ID:
            yield folded[start:end]


def _count(run: str) -> int:
    return len(_WORD.findall(run))


def _freeze(hashes: Mapping[int, set[str]]) -> Hashes:
    return {length: frozenset(some) for length, some in hashes.items()}


def _minus(hashes: Hashes, excused: set[str]) -> Hashes:
    left: dict[int, frozenset[str]] = {}
    for length, some in hashes.items():
        if some - excused:
            left[length] = some - excused
    return left


def _union(one: Hashes, other: Hashes) -> Hashes:
    both = dict(one)
    for length, some in other.items():
        both[length] = both.get(length, frozenset()) | some
    return both


def _hash(key: str, kind: str, run: str) -> str:
    message = f"{kind}\0{run}".encode()
    return hmac.digest(key.encode(), message, "sha256").hex()[:_LENGTH]
