"""The `embedded` default: static token vectors that come with a package and never touch the network."""

import importlib
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from varve.domain.errors import Misconfigured
from varve.domain.record import Vector
from varve.domain.search.lexical import Floats

CONFIG, DIMENSIONS = "l2_supercat", 256
MODEL = "wordllama-l2-supercat:256"
MAX_TEXT_CHARACTERS = 8_000
MAX_WORD_CHARACTERS = 40


class WordLlamaEmbedder:
    """The Embedder port over WordLlama: the mean of the vectors of a text's tokens.

    A text is cut to its first 8,000 characters. The model, 16 MB, is loaded on first use.
    """

    def __init__(self) -> None:
        self._loaded: Any = None
        self._lock = Lock()

    @property
    def model(self) -> str:
        """The model's name and dimensions."""
        return MODEL

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """A vector for each text, float32, unit length.

        Raises ValueError: a text is blank. Raises Misconfigured: the model's package is not complete.
        """
        if not all(text.strip() for text in texts):
            raise ValueError("blank texts have no vector")
        if not texts:
            return []
        model = self._model()
        # One at a time: a batch is padded to its longest text, which costs memory without saving time,
        # and a vector must not depend on what else was asked for.
        return [_unit(model.embed([text[:MAX_TEXT_CHARACTERS]])[0]) for text in texts]

    def embed_words(self, words: Sequence[str]) -> Floats:
        """A row for each word, float32, unit length. Raises Misconfigured."""
        # In batches: words have one to a few tokens each, so there is next to nothing to pad.
        vectors = self._model().embed([word[:MAX_WORD_CHARACTERS] for word in words])
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit: Floats = (vectors / np.maximum(lengths, 1e-9)).astype(np.float32)
        return unit

    def _model(self) -> Any:
        with self._lock:
            if self._loaded is None:
                self._loaded = _load()
            return self._loaded


def _load() -> Any:
    """The model from the files inside the installed package.

    With the cache folder there (where it finds its tokenizer) and downloads disabled, a missing file is an
    error before any network code is reached, so the environment needs no offline switch.
    """
    try:
        with _root_logger_kept():
            package = importlib.import_module("wordllama")
        folder = Path(str(package.__file__)).parent
        return package.WordLlama.load(
            CONFIG, cache_dir=folder, dim=DIMENSIONS, disable_download=True
        )
    except (ImportError, FileNotFoundError) as error:
        raise Misconfigured(
            f"VARVE_EMBEDDER: the embedded model cannot be loaded: {error}"
        ) from error


@contextmanager
def _root_logger_kept() -> Iterator[None]:
    """The package configures the root logger when imported, which is for the application to do."""
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    try:
        yield
    finally:
        root.setLevel(level)
        root.handlers[:] = handlers


def _unit(vector: Vector) -> Vector:
    """At unit length; a text without a direction of its own gets a fixed one, so that it can be stored."""
    length = float(np.linalg.norm(vector))
    unit: Vector = (
        vector / np.float32(length)
        if length > 0.0
        else np.eye(1, DIMENSIONS, dtype=np.float32)[0]
    )
    return unit
