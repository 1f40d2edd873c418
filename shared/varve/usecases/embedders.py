"""Which embedder a question or a record needs: that of the model which its store is of at this moment."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from varve.domain.embedding import EmbeddingMismatch
from varve.domain.record import Vector
from varve.ports.models import Embedder

T = TypeVar("T")


class MovingEmbedder:
    """The Embedder of a workspace whose stores move to another model: the new one, which knows the old ones.

    `before` build the embedders of the models that stores may still be of, when one is needed.
    """

    def __init__(
        self, current: Embedder, before: Sequence[Callable[[], Embedder]]
    ) -> None:
        self.current, self._before = current, before

    @property
    def model(self) -> str:
        """The new model's name and dimensions."""
        return self.current.model

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """A vector of the new model for each text. Raises what its embedder does."""
        return self.current.embed(texts)

    def of(self, model: str) -> Embedder | None:
        """The embedder of the new model or of one before it; None: it is none of these.

        Raises Misconfigured: one of those before it cannot be built.
        """
        if model == self.current.model:
            return self.current
        return next(
            (
                embedder
                for build in self._before
                if (embedder := build()).model == model
            ),
            None,
        )


def as_stored(embedder: Embedder, ask: Callable[[Embedder], T]) -> T:
    """What one store answers, asked with the embedder of the model that it is of.

    Raises EmbeddingMismatch: that is none of the workspace's, or another one since.
    """
    try:
        return ask(
            embedder.current if isinstance(embedder, MovingEmbedder) else embedder
        )
    except EmbeddingMismatch as mismatch:
        return ask(embedder_for(mismatch, embedder))


def embedder_for(mismatch: EmbeddingMismatch, embedder: Embedder) -> Embedder:
    """The embedder of a store that is on its way to another model. Raises the mismatch: it is not."""
    found = (
        embedder.of(mismatch.recorded) if isinstance(embedder, MovingEmbedder) else None
    )
    if found is None:
        raise mismatch
    return found
