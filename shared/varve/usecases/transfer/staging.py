"""Staged vectors: of a store's next model, kept under `payloads/` until it has moved."""

import base64
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import Any

from varve.domain.identity import Scope, digest
from varve.domain.record import Record, Vector
from varve.ports.models import Embedder
from varve.ports.objects import Objects
from varve.usecases.ingest.checkpoints import once

STAGED_BATCH = 256
"""The most records of one staged object."""
_NAME = "vectors-"


class Staging:
    """The vectors of one agent's records, embedded once even if a move is repeated.

    A batch holds records of one period, so that new records change few batches.
    """

    def __init__(
        self, scope: Scope, embedder: Embedder, objects: Objects
    ) -> None:
        self._folder = f"payloads/{scope}"
        self._embedder = embedder
        self._objects = objects
        self._used: set[str] = set()

    def vectors(self, records: Sequence[Record]) -> list[Vector]:
        """Return a vector for each record, in order.

        Raises Retryable, Rejected, Misconfigured.
        """
        found: dict[str, Vector] = {}
        for batch in batches(records):
            for record, vector in zip(batch, self.batch(batch), strict=True):
                found[record.id] = vector
        return [found[record.id] for record in records]

    def batch(self, records: Sequence[Record]) -> list[Vector]:
        """Return the staged vectors of one batch, embedding and staging it on first use."""
        said: list[str] = []
        for record in records:
            said += [record.id, record.content]
        name = digest(self._embedder.model, *said, length=32)
        key = f"{self._folder}/{_NAME}{name}.json"
        self._used.add(key)
        texts = [record.content for record in records]
        return once(
            key,
            partial(self._embedder.embed, texts),
            encode=_encode_vectors,
            decode=partial(_decode_vectors, rows=len(texts)),
            objects=self._objects,
        )

    def clear(self) -> None:
        """Delete the staged vectors used here, after the store has moved."""
        self._objects.delete(sorted(self._used))
        self._used.clear()


def batches(records: Sequence[Record]) -> Iterator[list[Record]]:
    """Yield the records of each period in order of their ids, at most `STAGED_BATCH` at a time."""
    ordered = sorted(records, key=lambda record: (record.period, record.id))
    for _, group in groupby(ordered, key=lambda record: record.period):
        period = list(group)
        for start in range(0, len(period), STAGED_BATCH):
            yield period[start : start + STAGED_BATCH]


def sweep(scope: Scope, *, objects: Objects) -> None:
    """Delete all staged vectors of an agent, after its move."""
    keys = [info.key for info in objects.list(f"payloads/{scope}")]
    staged: list[str] = []
    for key in keys:
        _, _, name = key.rpartition("/")
        if name.startswith(_NAME):
            staged.append(key)
    objects.delete(staged)


def _encode_vectors(vectors: Sequence[Vector]) -> dict[str, object]:
    import numpy as np  # the writer only sweeps

    matrix = np.asarray(vectors, dtype="<f2")
    return {
        "type": "vectors",
        "rows": len(matrix),
        "float16": base64.b64encode(matrix.tobytes()).decode(),
    }


def _decode_vectors(value: Any, *, rows: int) -> list[Vector]:
    import numpy as np

    data = base64.b64decode(value["float16"], validate=True)
    flat = np.frombuffer(data, dtype="<f2").astype(np.float32)
    if value["rows"] != rows:
        raise ValueError("vectors of other records")
    return list(flat.reshape(rows, -1))
