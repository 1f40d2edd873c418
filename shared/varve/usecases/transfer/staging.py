"""Vectors of the model that a store moves to, kept under `payloads/` until it has moved."""

import base64
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import Any

from varve.domain.identity import Scope, digest
from varve.domain.record import Record, Vector
from varve.ports.models import Embedder
from varve.ports.objects import Objects
from varve.usecases.checkpoints import once

BATCH = 256
"""Records that are embedded, and kept, at a time."""
_NAME = "vectors-"


class Staging:
    """The vectors of one agent's records, asked for once however often a move begins anew.

    A batch is records of one period, so that what is written meanwhile changes few batches.
    """

    def __init__(self, scope: Scope, embedder: Embedder, objects: Objects) -> None:
        self._folder = f"payloads/{scope}"
        self._embedder, self._objects = embedder, objects
        self._used: set[str] = set()

    def vectors(self, records: Sequence[Record]) -> list[Vector]:
        """A vector for each record, in their order. Raises Retryable, Rejected, Misconfigured."""
        found: dict[str, Vector] = {}
        for batch in batches(records):
            found |= zip(
                (record.id for record in batch), self.batch(batch), strict=True
            )
        return [found[record.id] for record in records]

    def batch(self, records: Sequence[Record]) -> list[Vector]:
        """The vectors of one batch: those that are kept, or else the embedder's, which then are."""
        said = (part for record in records for part in (record.id, record.content))
        key = f"{self._folder}/{_NAME}{digest(self._embedder.model, *said, length=32)}.json"
        self._used.add(key)
        texts = [record.content for record in records]
        return once(
            key,
            partial(self._embedder.embed, texts),
            encode=_as_json,
            decode=partial(_from_json, rows=len(texts)),
            objects=self._objects,
        )

    def clear(self) -> None:
        """Remove what was used here: the store has it."""
        self._objects.delete(sorted(self._used))
        self._used.clear()


def batches(records: Sequence[Record]) -> Iterator[list[Record]]:
    """The records period by period, in order of their ids, so many at a time."""
    ordered = sorted(records, key=lambda record: (record.period, record.id))
    for _, group in groupby(ordered, key=lambda record: record.period):
        period = list(group)
        yield from (
            period[start : start + BATCH] for start in range(0, len(period), BATCH)
        )


def sweep(scope: Scope, *, objects: Objects) -> None:
    """Remove all vectors that are kept for an agent's move: it is over."""
    keys = [info.key for info in objects.list(f"payloads/{scope}")]
    objects.delete([key for key in keys if key.rpartition("/")[2].startswith(_NAME)])


def _as_json(vectors: Sequence[Vector]) -> dict[str, object]:
    import numpy as np  # the writer only sweeps

    matrix = np.asarray(vectors, dtype="<f2")
    return {
        "type": "vectors",
        "rows": len(matrix),
        "float16": base64.b64encode(matrix.tobytes()).decode(),
    }


def _from_json(value: Any, *, rows: int) -> list[Vector]:
    import numpy as np

    flat = np.frombuffer(
        base64.b64decode(value["float16"], validate=True), dtype="<f2"
    ).astype(np.float32)
    if value["rows"] != rows:
        raise ValueError("vectors of other records")
    return list(flat.reshape(rows, -1))
