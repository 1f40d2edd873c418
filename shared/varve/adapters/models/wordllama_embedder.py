"""The `embedded` default: static token vectors from a package, without network access."""

import importlib
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from varve.domain.errors import Misconfigured
from varve.domain.record import Vector
from varve.domain.search.lexical import Floats

CONFIG = "l2_supercat"
DIMENSIONS = 256
MODEL = "wordllama-l2-supercat:256"
MAX_TEXT_CHARACTERS = 8_000
MAX_WORD_CHARACTERS = 40
_LOADING = Lock()
"""Held while the model is loaded: a cache alone would let two threads load it."""


class WordLlamaEmbedder:
    """The Embedder and KnowsWords ports over WordLlama.

    A text's vector is the mean of its tokens' vectors. A text is cut to its first 8,000
    characters. The model (16 MB) is loaded on first use, once a process.
    """

    def __init__(self) -> None:
        self._loaded: Any = None

    @property
    def model(self) -> str:
        """The model's name and dimensions."""
        return MODEL

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return a vector for each text, float32, unit length.

        Raises ValueError: a text is blank; Misconfigured: the package is incomplete.
        """
        if not all(text.strip() for text in texts):
            raise ValueError("blank texts have no vector")
        if not texts:
            return []
        model = self._load()
        vectors = []
        # One by one: a batch is padded to its longest text, which costs memory and saves
        # no time. A vector must not depend on the other texts of a call either.
        for text in texts:
            vectors.append(_to_unit(_mean(model, text[:MAX_TEXT_CHARACTERS])))
        return vectors

    def embed_words(self, words: Sequence[str]) -> Floats:
        """Return a row for each word, float32, unit length. Raises Misconfigured."""
        # In one batch: words have one to a few tokens each, so padding costs little.
        cut = [word[:MAX_WORD_CHARACTERS] for word in words]
        vectors = self._load().embed(cut)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit: Floats = (vectors / np.maximum(lengths, 1e-9)).astype(np.float32)
        return unit

    def _load(self) -> Any:
        if self._loaded is None:
            with _LOADING:
                self._loaded = _load_model()
        return self._loaded


@cache
def _load_model() -> Any:
    """Load the model from the installed package's own files.

    The cache folder is the package's, where the tokenizer is, and downloads are disabled.
    So a missing file fails before any network code runs.
    """
    try:
        with _restore_root_logger():
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
def _restore_root_logger() -> Iterator[None]:
    """Undo the package's configuration of the root logger, which it makes on import."""
    root = logging.getLogger()
    level = root.level
    handlers = list(root.handlers)
    try:
        yield
    finally:
        root.setLevel(level)
        root.handlers[:] = handlers


def _mean(model: Any, text: str) -> Vector:
    """Return the mean of a text's tokens, as the model's own `embed` does for a batch of one.

    Without its padding, mask and threads it takes half the time.
    """
    encoded = model.tokenizer.encode(text, add_special_tokens=False)
    if not encoded.ids:
        return np.zeros(DIMENSIONS, np.float32)
    rows = model.embedding.take(encoded.ids, axis=0, mode="clip")
    total: Vector = rows.sum(axis=0)
    return total / np.float32(len(encoded.ids))


def _to_unit(vector: Vector) -> Vector:
    """Scale to unit length; a zero vector becomes a fixed one, so it can be stored."""
    length = float(np.linalg.norm(vector))
    if length == 0.0:
        fixed: Vector = np.eye(1, DIMENSIONS, dtype=np.float32)[0]
        return fixed
    unit: Vector = vector / np.float32(length)
    return unit
