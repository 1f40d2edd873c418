"""Which model a store's vectors come from; vectors of two models cannot be compared."""

from collections.abc import Iterable

from varve.domain.errors import Misconfigured, Rejected
from varve.domain.record import EmbeddedRecord


class EmbeddingMismatch(Misconfigured):
    """A store holds vectors of one model (`recorded`), the caller brings those of another (`given`)."""

    def __init__(self, store: str, recorded: str, given: str) -> None:
        super().__init__(
            f"store {store}: was written with embedding model {recorded!r}, but {given!r} is configured"
        )
        self.recorded, self.given = recorded, given


def require_same_model(store: str, recorded: str, given: str) -> None:
    """Raises EmbeddingMismatch, naming both, unless store and caller use one model (`name:dimensions`)."""
    if recorded != given:
        raise EmbeddingMismatch(store, recorded, given)


def dimensions_of(model: str) -> int:
    """The dimensions in a model's name, `name:256`. Raises Misconfigured: there are none."""
    _, _, number = model.rpartition(":")
    if not number.isdecimal() or int(number) < 1:
        raise Misconfigured(
            f"embedding model {model!r}: must end in ':' and its dimensions"
        )
    return int(number)


def require_vectors(records: Iterable[EmbeddedRecord], model: str) -> None:
    """Raises Rejected unless every vector is of as many finite numbers as the model's name says."""
    import numpy as np  # all functions load the rest of this

    width = dimensions_of(model)
    for embedded in records:
        if embedded.vector.shape != (width,) or not np.isfinite(embedded.vector).all():
            raise Rejected("vector", f"has not the {width} finite numbers of {model!r}")
