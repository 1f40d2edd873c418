"""How likely a statement answers, or a later one supersedes it, as a cross-encoder reads them.

A small transformer (Devlin et al. 2019, "BERT") reads the question and a statement, or the
question, a statement and a later one, as one text. Its layers are the first of
multilingual-e5-small (Wang et al. 2024, MIT licence), fine-tuned by
`benchmarks/updates_fit_encoder.py`, which writes `cross_encoder.npz`. It reads English and
Spanish.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import as_file, files

import numpy as np
from numpy.typing import NDArray

from varve.domain.statements.encoder.pieces import BEGIN, END, Pieces

WEIGHTS = "cross_encoder.npz"
HEADS = 12
EPSILON = 1e-12
MAX_QUESTION, MAX_STATEMENT = 24, 44
"""So many pieces of a question and of each statement are read."""
MAX_CACHED = 8_192
BLOCK_BYTES = 16
SUPERSEDES, ANSWERS = range(2)
"""The places of what is read among the outputs."""
LANGUAGES = frozenset({"en", "es"})

Floats = NDArray[np.float32]


@lru_cache(maxsize=MAX_CACHED)
def read_pair(question: str, earlier: str, later: str) -> float:
    """Return how likely the later text supersedes the earlier one, as a logit."""
    return float(_read_encoder().read(question, earlier, later)[SUPERSEDES])


@lru_cache(maxsize=MAX_CACHED)
def read_statement(question: str, text: str) -> float:
    """Return how likely a text answered the question when it was told, as a logit."""
    return float(_read_encoder().read(question, text)[ANSWERS])


@dataclass(frozen=True, slots=True)
class Linear:
    """A linear layer: the transposed weights and the bias."""

    weights: Floats
    bias: Floats

    def apply(self, rows: Floats) -> Floats:
        """Return the layer's values of each row."""
        return rows @ self.weights + self.bias


@dataclass(frozen=True, slots=True)
class Norm:
    """A layer normalization (Ba et al. 2016): its gain and its bias."""

    gain: Floats
    bias: Floats

    def apply(self, rows: Floats) -> Floats:
        """Return each row with the mean 0 and the variance 1, by gain and bias."""
        centred = rows - rows.mean(axis=1, keepdims=True)
        variance = (centred * centred).mean(axis=1, keepdims=True)
        normed: Floats = centred / np.sqrt(variance + EPSILON)
        return normed * self.gain + self.bias


@dataclass(frozen=True, slots=True)
class EncoderLayer:
    """One layer of the transformer."""

    attending: Linear
    attended: Linear
    attended_norm: Norm
    widening: Linear
    narrowing: Linear
    norm: Norm

    def apply(self, rows: Floats) -> Floats:
        """Return the layer's values of the pieces of one text, one row each."""
        rows = self.attended_norm.apply(rows + self._attend(rows))
        wide = _gelu(self.widening.apply(rows))
        return self.norm.apply(rows + self.narrowing.apply(wide))

    def _attend(self, rows: Floats) -> Floats:
        """Return what each piece takes from the others (Vaswani et al. 2017)."""
        count, width = rows.shape
        heads = self.attending.apply(rows).reshape(count, 3, HEADS, -1)
        asking, asked, values = heads.transpose(1, 2, 0, 3)
        scores = asking @ asked.transpose(0, 2, 1)
        scores /= np.sqrt(np.float32(width // HEADS))
        scores -= scores.max(axis=2, keepdims=True)
        shares = np.exp(scores)
        shares /= shares.sum(axis=2, keepdims=True)
        taken = (shares @ values).transpose(1, 0, 2).reshape(count, width)
        return self.attended.apply(taken)


class CrossEncoder:
    """The transformer, of the arrays of its file."""

    def __init__(self, arrays: Mapping[str, np.ndarray]) -> None:
        pieces = bytes(arrays["pieces"]).decode("utf-8").split("\n")
        self._pieces = Pieces(pieces, arrays["scores"].tolist())
        self._words = arrays["words"]
        self._words_scale = arrays["words scale"]
        self._places = arrays["places"].astype(np.float32)
        self._norm = _read_norm(arrays, "norm")
        self._head = arrays["head"].astype(np.float32)
        self._layers = [
            _read_layer(arrays, f"{number} ")
            for number in range(int(arrays["layers"]))
        ]

    def read(self, question: str, *statements: str) -> Floats:
        """Return the outputs for a question with one statement, or with two, earlier first."""
        ids = [BEGIN, *self._pieces.split(question)[:MAX_QUESTION], END]
        for text in statements:
            ids += [*self._pieces.split(text)[:MAX_STATEMENT], END]
        rows = self._norm.apply(self._embed(ids) + self._places[: len(ids)])
        for layer in self._layers:
            rows = layer.apply(rows)
        outputs: Floats = rows.mean(axis=0) @ self._head[:-1] + self._head[-1]
        return outputs

    def _embed(self, ids: list[int]) -> Floats:
        """Return the vectors of pieces."""
        packed = self._words[ids].reshape(len(ids), -1, BLOCK_BYTES)
        return unpack(packed, self._words_scale[ids]).reshape(len(ids), -1)


def unpack(packed: np.ndarray, scale: np.ndarray) -> Floats:
    """Return the numbers of blocks, each of 32 with a scale: two of 4 bits a byte."""
    blocks = np.concatenate([packed & 15, packed >> 4], axis=-1)
    numbers: Floats = blocks.astype(np.float32) - 8
    return numbers * scale.astype(np.float32)[..., None]


def _gelu(rows: Floats) -> Floats:
    """Return the Gaussian error linear unit by its tanh form (Hendrycks and Gimpel 2016)."""
    inner = rows * (0.7978845608 + 0.0356774081 * rows * rows)
    unit: Floats = 0.5 * rows * (1 + np.tanh(inner))
    return unit


def _read_layer(arrays: Mapping[str, np.ndarray], name: str) -> EncoderLayer:
    return EncoderLayer(
        _read_linear(arrays, f"{name}attending"),
        _read_linear(arrays, f"{name}attended"),
        _read_norm(arrays, f"{name}attended norm"),
        _read_linear(arrays, f"{name}widening"),
        _read_linear(arrays, f"{name}narrowing"),
        _read_norm(arrays, f"{name}norm"),
    )


def _read_linear(arrays: Mapping[str, np.ndarray], name: str) -> Linear:
    """Return a linear layer, whose weights are of 8 bits with a scale for each output."""
    weights = arrays[name].astype(np.float32) * arrays[f"{name} scale"]
    return Linear(weights, arrays[f"{name} bias"].astype(np.float32))


def _read_norm(arrays: Mapping[str, np.ndarray], name: str) -> Norm:
    gain, bias = arrays[name].astype(np.float32)
    return Norm(gain, bias)


@cache
def _read_encoder() -> CrossEncoder:
    """Return the encoder of the package's weights."""
    path = files("varve.domain.statements.encoder") / WEIGHTS
    with as_file(path) as file, np.load(file) as arrays:
        return CrossEncoder({name: arrays[name] for name in arrays.files})
