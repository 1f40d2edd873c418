"""The word pieces of a text, as a SentencePiece unigram model splits it.

Each word is split into the pieces whose scores have the greatest sum (Kudo 2018, "Subword
Regularization", section 3.1). A sign without a piece is `UNKNOWN`.
"""

import unicodedata
from collections.abc import Sequence
from functools import lru_cache

BEGIN, PAD, END, UNKNOWN = range(4)
"""The ids of the marks; pieces have the ids behind them."""
FIRST_PIECE = UNKNOWN + 1
WORD_BEGINNING = "\u2581"
MAX_CACHED_WORDS = 16_384
UNKNOWN_COST = 10.0
"""An unknown sign scores so much less than the least piece."""


class Pieces:
    """The pieces that a model knows, with their scores.

    The id of a piece is its place in `pieces`, from `FIRST_PIECE` on.
    """

    def __init__(self, pieces: Sequence[str], scores: Sequence[float]) -> None:
        self._ids = {
            piece: number
            for number, piece in enumerate(pieces, start=FIRST_PIECE)
        }
        self._scores = scores
        self._longest = max(map(len, pieces))
        self._unknown_score = min(scores) - UNKNOWN_COST
        self._split_word = lru_cache(maxsize=MAX_CACHED_WORDS)(
            self._find_best_pieces
        )

    def split(self, text: str) -> list[int]:
        """Return the ids of the pieces of a text."""
        words = unicodedata.normalize("NFKC", text).split()
        return [
            id_
            for word in words
            for id_ in self._split_word(WORD_BEGINNING + word)
        ]

    def _find_best_pieces(self, word: str) -> tuple[int, ...]:
        """Return the ids of the pieces of a word, by the Viterbi algorithm."""
        best: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
        for end in range(1, len(word) + 1):
            beginnings = range(max(0, end - self._longest), end)
            best.append(
                max(self._extend(best[at], word[at:end]) for at in beginnings)
            )
        return best[-1][1]

    def _extend(
        self, before: tuple[float, tuple[int, ...]], piece: str
    ) -> tuple[float, tuple[int, ...]]:
        """Return a score and ids with those of one more piece."""
        score, ids = before
        id_ = self._ids.get(piece)
        if id_ is not None:
            return score + self._scores[id_ - FIRST_PIECE], (*ids, id_)
        cost = self._unknown_score if len(piece) == 1 else -float("inf")
        return score + cost, (*ids, UNKNOWN)
