"""In-process caches of vectors, so that a repeated text is not embedded again."""

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
"""Capacity of the word cache: 16 MB at 256 dimensions."""


class CachedEmbedder:
    """An Embedder that passes only uncached texts to the inner one, each once.

    Keeps the `capacity` most recently used vectors, keyed by the hash of their text.
    4,096 vectors of 768 dimensions take 12 MB. Vectors are read-only: callers share them.
    """

    def __init__(self, inner: Embedder, capacity: int = 4096) -> None:
        self._inner = inner
        self._capacity = capacity
        self._vectors: OrderedDict[str, Vector] = OrderedDict()
        self._lock = Lock()

    @property
    def model(self) -> str:
        """The inner embedder's model."""
        return self._inner.model

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return a vector for each text, in order. Raises the inner embedder's errors."""
        keys = [digest(text) for text in texts]
        vectors = self._get_cached(keys)
        missing = {}
        for key, text in zip(keys, texts, strict=True):
            if key not in vectors:
                missing[key] = text
        if missing:
            embedded = self._inner.embed(list(missing.values()))
            fresh = dict(zip(missing, embedded, strict=True))
            self._cache(fresh)
            vectors |= fresh
        return [vectors[key] for key in keys]

    def _get_cached(self, keys: Iterable[str]) -> dict[str, Vector]:
        with self._lock:
            cached = {
                key: self._vectors[key] for key in keys if key in self._vectors
            }
            for key in cached:
                self._vectors.move_to_end(key)
        return cached

    def _cache(self, fresh: dict[str, Vector]) -> None:
        with self._lock:
            for key, vector in fresh.items():
                vector.setflags(write=False)
                self._vectors[key] = vector
                self._vectors.move_to_end(key)
            while len(self._vectors) > self._capacity:
                self._vectors.popitem(last=False)


class CachedWordEmbedder(CachedEmbedder):
    """A CachedEmbedder that also caches the vectors of single words.

    Each question to a large store reads new candidates, which share most of their words.
    """

    def __init__(
        self, inner: Embedder, words: KnowsWords, capacity: int = 4096
    ) -> None:
        super().__init__(inner, capacity)
        self._words = words
        self._numbers: dict[str, int] = {}
        self._rows: Floats = np.empty((0, 0), np.float32)

    def embed_words(self, words: Sequence[str]) -> Floats:
        """Return a row for each word. Raises Misconfigured."""
        with self._lock:
            distinct = dict.fromkeys(words)
            new = [word for word in distinct if word not in self._numbers]
            if len(self._numbers) + len(new) > MOST_WORDS:
                self._numbers.clear()
                new = list(distinct)
            if len(new) > MOST_WORDS:
                return self._words.embed_words(words)
            if new:
                self._cache_words(new, self._words.embed_words(new))
            numbers = [self._numbers[word] for word in words]
            return self._rows[numbers]

    def _cache_words(self, words: Sequence[str], vectors: Floats) -> None:
        if not self._rows.size:
            # An empty array takes physical memory only as rows are filled.
            self._rows = np.empty((MOST_WORDS, vectors.shape[1]), np.float32)
        first = len(self._numbers)
        end = first + len(words)
        self._rows[first:end] = vectors
        self._numbers.update(zip(words, range(first, end), strict=True))
