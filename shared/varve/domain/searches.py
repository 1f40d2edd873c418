"""Logged questions: one row of the log of searches, with a hash of the question or its words.

The hash is an HMAC-SHA-256, cut to 96 bits, of the folded question under a key of the
agent, as those of tombstones are. It tells which questions are alike, not their words.
"""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from varve.domain.calendar import iso, parse_instant
from varve.domain.erasure import Tombstones
from varve.domain.text import casefold_words

_LENGTH = 24


@dataclass(frozen=True, slots=True)
class AskedSearch:
    """A question with the figures of its answer; `best_score` None: nothing was found."""

    id: str
    at: datetime
    user_id: str | None
    text: str
    results: int
    best_score: float | None
    fallback: bool


@dataclass(frozen=True, slots=True)
class SearchRow:
    """One row of the log; `words` is None where only hashes are logged."""

    id: str
    at: datetime
    user_id: str | None
    question: str
    words: str | None
    results: int
    best_score: float | None
    fallback: bool

    def is_barred_by(self, tombs: Tombstones) -> bool:
        """Return whether the user who asked was forgotten since."""
        if self.user_id is None:
            return False
        return tombs.bars_message(("", ""), [self.user_id], self.at)

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON values; the inverse of `search_row_from_json`."""
        return {
            "id": self.id,
            "at": iso(self.at),
            "userId": self.user_id,
            "question": self.question,
            "words": self.words,
            "results": self.results,
            "bestScore": self.best_score,
            "fallback": self.fallback,
        }


def search_row_from_json(value: Mapping[str, Any]) -> SearchRow:
    """Return the row of JSON values. Raises KeyError, TypeError, ValueError."""
    return SearchRow(
        id=str(value["id"]),
        at=parse_instant(value["at"]),
        user_id=value["userId"],
        question=str(value["question"]),
        words=value["words"],
        results=int(value["results"]),
        best_score=value["bestScore"],
        fallback=bool(value["fallback"]),
    )


def build_search_row(
    asked: AskedSearch, key: str, *, keep_words: bool
) -> SearchRow:
    """Return the row of a question; case and white space do not change its hash."""
    folded = casefold_words(asked.text)
    digest = hmac.new(key.encode(), folded.encode(), "sha256").hexdigest()
    return SearchRow(
        id=asked.id,
        at=asked.at,
        user_id=asked.user_id,
        question=digest[:_LENGTH],
        words=asked.text if keep_words else None,
        results=asked.results,
        best_score=asked.best_score,
        fallback=asked.fallback,
    )
