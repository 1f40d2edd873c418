"""What ranking in memory needs from the outside: stores held whole, and vectors of single words."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from varve.domain.calendar import Grain
from varve.domain.identity import Scope
from varve.domain.record import Vector
from varve.domain.search.query import Filter

if TYPE_CHECKING:  # whoever only takes a conversation in need not load what ranks
    from varve.domain.search.columns import Columns
    from varve.domain.search.lexical import Floats
    from varve.domain.search.outline import Outline


class CandidatesReader(Protocol):
    """Records of one agent's grain to be ranked, as committed at the moment of the call."""

    def columns(self, scope: Scope, grain: Grain, *, model: str) -> "Outline":
        """All records at once as Columns, to be searched in memory; their outline where there are too many.

        `model` names the model behind the question's vector. Raises Misconfigured: the store's is another.
        """

    def candidates(
        self, scope: Scope, grain: Grain, *, text: str, vector: Vector, model: str, where: Filter, limit: int,
        reach: int,
    ) -> "Columns":  # fmt: skip
        """The `limit` nearest by vector, the `limit` best by keyword, and what was said around them.

        That is, those of its conversation at most `reach` places away that the filter lets through; where it
        lets few through, it may be all of them. `model` names the model behind the vector.
        Raises Misconfigured: the store's is another; Retryable.
        """


class KnowsWords(Protocol):
    """An Embedder that has vectors of single words at hand, without asking anybody."""

    def embed_words(self, words: Sequence[str]) -> "Floats":
        """A row for each word, float32, unit length. No word is blank. Raises Misconfigured."""


def word_embedding(embedder: object) -> "Callable[[Sequence[str]], Floats] | None":
    """The embedder's way to embed single words, where it has them at hand."""
    return getattr(embedder, "embed_words", None)
