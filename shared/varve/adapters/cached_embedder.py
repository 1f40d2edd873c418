"""Remembers the vectors of recent texts, so that a text seen again costs nothing."""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from threading import Lock

from varve.domain.identity import digest
from varve.domain.lexical import Floats
from varve.domain.record import Vector
from varve.ports import Embedder
from varve.search_ports import KnowsWords


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
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in vectors}
        if missing:
            fresh = dict(zip(missing, self._inner.embed(list(missing.values())), strict=True))
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
    """The same over an embedder that knows single words, which are passed through."""

    def __init__(self, inner: Embedder, words: KnowsWords, capacity: int = 4096) -> None:
        super().__init__(inner, capacity)
        self._words = words

    def embed_words(self, words: Sequence[str]) -> Floats:
        """A row for each word. Raises Misconfigured."""
        return self._words.embed_words(words)
