"""Which model a store's vectors come from; vectors of two models cannot be compared."""

from varve.domain.errors import Misconfigured


class EmbeddingMismatch(Misconfigured):
    """A store holds vectors of one model, the caller brings those of another."""


def require_same_model(store: str, recorded: str, given: str) -> None:
    """Raises EmbeddingMismatch, naming both, unless store and caller use one model (`name:dimensions`)."""
    if recorded != given:
        raise EmbeddingMismatch(
            f"store {store}: was written with embedding model {recorded!r}, but {given!r} is configured"
        )


def dimensions_of(model: str) -> int:
    """The dimensions in a model's name, `name:256`. Raises Misconfigured: there are none."""
    _, _, number = model.rpartition(":")
    if not number.isdecimal() or int(number) < 1:
        raise Misconfigured(f"embedding model {model!r}: must end in ':' and its dimensions")
    return int(number)
