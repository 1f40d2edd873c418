"""Remembers the vectors of recent texts, so that a text seen again costs nothing."""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from threading import Lock

import numpy as np

from varve.domain.identity import digest
from varve.domain.record import Vector
from varve.domain.search.lexical import Floats
from varve.ports.models import Embedder
from varve.ports.search import KnowsWords

MOST_WORDS = 16_384
"""Words whose vectors are kept: 16 MB of 256 dimensions."""


class CachedEmbedder:
    """An Embedder that asks the inner one only for texts it has not seen lately, and for each only once.

    Keeps the `capacity` most recently used vectors in process, by the hash of their text: 4,096 of 768
    dimensions are 12 MB. Vectors are read-only, because callers share them.
    """

    def __init__(self, inner: Embedder, capacity: int = 4096) -> None:
        self._inner = inner
        self._capacity = capacity
        self._vectors: OrderedDict[str, Vector] = OrderedDict()
        self._lock = Lock()

    @property
    def model(self) -> str:
        """The inner embedder's."""
        return self._inner.model

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """A vector for each text, in the texts' order. Raises what the inner embedder does."""
        keys = [digest(text) for text in texts]
        vectors = self._known(keys)
        missing = {
            key: text
            for key, text in zip(keys, texts, strict=True)
            if key not in vectors
        }
        if missing:
            fresh = dict(
                zip(missing, self._inner.embed(list(missing.values())), strict=True)
            )
            self._keep(fresh)
            vectors |= fresh
        return [vectors[key] for key in keys]

    def _known(self, keys: Iterable[str]) -> dict[str, Vector]:
        with self._lock:
            known = {key: self._vectors[key] for key in keys if key in self._vectors}
            for key in known:
                self._vectors.move_to_end(key)
        return known

    def _keep(self, fresh: dict[str, Vector]) -> None:
        with self._lock:
            for key, vector in fresh.items():
                vector.setflags(write=False)
                self._vectors[key] = vector
                self._vectors.move_to_end(key)
            while len(self._vectors) > self._capacity:
                self._vectors.popitem(last=False)


class CachedWordEmbedder(CachedEmbedder):
    """The same over an embedder that knows single words, whose vectors are kept as well.

    Candidates of a large store are read anew for each question, and share most of their words.
    """

    def __init__(
        self, inner: Embedder, words: KnowsWords, capacity: int = 4096
    ) -> None:
        super().__init__(inner, capacity)
        self._words = words
        self._numbers: dict[str, int] = {}
        self._rows: Floats = np.empty((0, 0), np.float32)

    def embed_words(self, words: Sequence[str]) -> Floats:
        """A row for each word. Raises Misconfigured."""
        with self._lock:
            new = [word for word in dict.fromkeys(words) if word not in self._numbers]
            if len(self._numbers) + len(new) > MOST_WORDS:
                self._numbers.clear()
                new = list(dict.fromkeys(words))
            if len(new) > MOST_WORDS:
                return self._words.embed_words(words)
            if new:
                self._keep_words(new, self._words.embed_words(new))
            return self._rows[[*map(self._numbers.__getitem__, words)]]

    def _keep_words(self, words: Sequence[str], vectors: Floats) -> None:
        if not self._rows.size:
            self._rows = np.empty(
                (MOST_WORDS, vectors.shape[1]), np.float32
            )  # takes memory as it is filled
        first = len(self._numbers)
        self._rows[first : first + len(words)] = vectors
        self._numbers.update(zip(words, range(first, first + len(words)), strict=True))
