"""Choose the embedder of the model that a store has at this moment."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from varve.domain.embedding import EmbeddingMismatch
from varve.domain.record import EmbeddedRecord, Record, Vector
from varve.ports.models import Embedder

T = TypeVar("T")


class MovingEmbedder:
    """The Embedder of a workspace whose stores are moving to another model.

    It embeds with the new model. `before` build the embedders of the models that some
    stores may still have; each is built when it is needed.
    """

    def __init__(
        self, current: Embedder, before: Sequence[Callable[[], Embedder]]
    ) -> None:
        self.current = current
        self._before = before

    @property
    def model(self) -> str:
        """The new model's name and dimensions."""
        return self.current.model

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return a vector of the new model for each text. Raises as its embedder does."""
        return self.current.embed(texts)

    def of(self, model: str) -> Embedder | None:
        """Return the embedder of the new model or of one before it; None: of neither.

        Raises Misconfigured: an embedder of an earlier model cannot be built.
        """
        if model == self.current.model:
            return self.current
        for build in self._before:
            embedder = build()
            if embedder.model == model:
                return embedder
        return None


def as_stored(embedder: Embedder, ask: Callable[[Embedder], T]) -> T:
    """Return what `ask` returns for the embedder of the store's model.

    Raises EmbeddingMismatch: the workspace has no embedder of that model, or the store
    moved to another model meanwhile.
    """
    current = (
        embedder.current if isinstance(embedder, MovingEmbedder) else embedder
    )
    try:
        return ask(current)
    except EmbeddingMismatch as mismatch:
        return ask(embedder_for(mismatch, embedder))


def embedder_for(mismatch: EmbeddingMismatch, embedder: Embedder) -> Embedder:
    """Return the embedder of the model that a moving store still has.

    Raises the mismatch: the workspace has no embedder of that model.
    """
    if isinstance(embedder, MovingEmbedder):
        found = embedder.of(mismatch.recorded)
        if found is not None:
            return found
    raise mismatch


def embed_records(
    records: Sequence[Record], embedder: Embedder
) -> tuple[EmbeddedRecord, ...]:
    """Return the records with their vectors. Raises as the embedder does."""
    if not records:
        return ()
    vectors = embedder.embed([record.content for record in records])
    pairs = zip(records, vectors, strict=True)
    return tuple(EmbeddedRecord(record, vector) for record, vector in pairs)
