"""Checks that all vectors of a store come from one model, because others do not compare."""

from collections.abc import Iterable

from varve.domain.errors import Misconfigured, Rejected
from varve.domain.model_names import MAX_DIMENSIONS, parse_dimensions
from varve.domain.record import EmbeddedRecord


class EmbeddingMismatch(Misconfigured):
    """The store's vectors are of the model `recorded`, the caller's of the model `given`."""

    def __init__(self, store: str, recorded: str, given: str) -> None:
        super().__init__(
            f"store {store}: was written with embedding model {recorded!r}, "
            f"but {given!r} is configured"
        )
        self.recorded = recorded
        self.given = given


def require_same_model(store: str, recorded: str, given: str) -> None:
    """Check that store and caller use the same model, `name:dimensions`.

    Raises EmbeddingMismatch: names both models.
    """
    if recorded != given:
        raise EmbeddingMismatch(store, recorded, given)


def dimensions_of(model: str) -> int:
    """Return the dimensions in a model's name, such as 256 in `name:256`.

    Raises Misconfigured: the name does not end in a number of dimensions.
    """
    dimensions = parse_dimensions(model.rpartition(":")[2])
    if dimensions is None:
        raise Misconfigured(
            f"embedding model {model!r}: must end in ':' and its dimensions, "
            f"1 to {MAX_DIMENSIONS}"
        )
    return dimensions


def require_vectors(records: Iterable[EmbeddedRecord], model: str) -> None:
    """Check that every vector has the model's dimensions and only finite numbers.

    Raises Rejected: a vector does not.
    """
    import numpy as np  # here, because functions without vectors load this module too

    dimensions = dimensions_of(model)
    for embedded in records:
        vector = embedded.vector
        if vector.shape != (dimensions,) or not np.isfinite(vector).all():
            raise Rejected(
                "vector",
                f"must have the {dimensions} finite numbers of {model!r}",
            )
