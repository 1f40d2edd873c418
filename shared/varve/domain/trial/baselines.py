"""Simple memories that a trial compares with: none, majority, nearest, BM25, vectors."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from varve.domain.experience.alike import Embed, cosines
from varve.domain.experience.words import content_words
from varve.domain.search.lexical import idf, weigh_counts
from varve.domain.trial.rounds import (
    Asked,
    Played,
    Returned,
    Shown,
    precedent_text,
)


class NoMemory:
    """Nothing is kept."""

    def recall(self, _: Asked) -> Returned:
        """Return nothing."""
        return Returned()

    def learn(self, _: Played) -> None:
        """Forget the round."""


class MajorityMemory:
    """The answers so far, each with its share of the rounds, whatever the situation."""

    def __init__(self) -> None:
        self._answers: Counter[str] = Counter()

    def recall(self, _: Asked) -> Returned:
        """Return every answer with its share."""
        total = self._answers.total()
        shown = [
            Shown(answer, answer, count / total)
            for answer, count in self._answers.most_common()
        ]
        return Returned(shown)

    def learn(self, played: Played) -> None:
        """Count the round's answer."""
        self._answers[played.round.truth] += 1


class NearestSituation:
    """The one past situation nearest by cosine, with its answer; no corrections."""

    def __init__(self, embed: Embed) -> None:
        self._embed = embed
        self._situations: list[str] = []
        self._answers: list[str] = []

    def recall(self, asked: Asked) -> Returned:
        """Return the nearest situation's answer with the cosine."""
        if not self._situations:
            return Returned()
        likeness = cosines(asked.situation, self._situations, self._embed)
        best = int(np.argmax(likeness))
        return Returned(
            [Shown(str(best), self._answers[best], max(0.0, likeness[best]))]
        )

    def learn(self, played: Played) -> None:
        """Store the round's situation and answer."""
        self._situations.append(played.round.situation)
        self._answers.append(played.round.truth)


class _TextMemory:
    """Texts of past rounds, of which the best are shown."""

    def __init__(self, limit: int = 5) -> None:
        self._limit = limit
        self._texts: list[str] = []

    def learn(self, played: Played) -> None:
        """Store the text of a round."""
        round_ = played.round
        text = precedent_text(
            round_.situation, round_.correction, round_.truth
        )
        self._texts.append(text)

    def _show(self, scores: Sequence[float]) -> Returned:
        """Return the texts of the highest scores, of equal ones the newest first."""
        texts: list[Shown] = []
        scored = zip(self._texts, scores, strict=True)
        for index, (text, score) in enumerate(scored):
            texts.append(Shown(str(index), text, max(0.0, score)))
        texts.sort(
            key=lambda shown: (shown.score, int(shown.id)), reverse=True
        )
        return Returned(texts[: self._limit])


class FlatMemory(_TextMemory):
    """A memory of texts and vectors that returns the nearest by cosine."""

    def __init__(self, embed: Embed, limit: int = 5) -> None:
        super().__init__(limit)
        self._embed = embed

    def recall(self, asked: Asked) -> Returned:
        """Return the nearest texts with their cosines."""
        if not self._texts:
            return Returned()
        return self._show(cosines(asked.situation, self._texts, self._embed))


class KeywordMemory(_TextMemory):
    """A memory of texts that returns the best by BM25, with the constants of search."""

    def recall(self, asked: Asked) -> Returned:
        """Return the best texts; a score is the share of what all words could give."""
        if not self._texts:
            return Returned()
        said = [content_words(text) for text in self._texts]
        lengths = np.array(
            [max(1, len(stems)) for stems in said], dtype=np.float32
        )
        weights = weigh_counts(
            np.ones_like(lengths), lengths, float(lengths.mean())
        )
        scores = np.zeros(len(said), dtype=np.float32)
        most = 0.0
        for stem in sorted(content_words(asked.situation)):
            having = np.array([stem in stems for stems in said])
            value = idf(int(having.sum()), len(said))
            scores += np.where(having, value * weights, 0.0).astype(np.float32)
            most += value * float(weights.max())
        shares = scores / max(most, 1e-9)
        return self._show([float(share) for share in shares])
