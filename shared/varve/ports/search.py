"""What ranking in memory needs from the outside: stores held whole, and vectors of single words."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from varve.domain.calendar import Grain
from varve.domain.identity import Scope
from varve.domain.record import Candidate, StoreName, Vector
from varve.domain.search.query import Filter

if TYPE_CHECKING:  # whoever only takes a conversation in need not load what ranks
    from varve.domain.search.columns import Columns
    from varve.domain.search.lexical import Floats


class CandidatesReader(Protocol):
    """Records of one agent's grain to be ranked, as committed at the moment of the call."""

    def search(
        self, scope: Scope, grain: StoreName, *, text: str, vector: Vector, model: str, where: Filter,
        limit: int,
    ) -> list[Candidate]:  # fmt: skip
        """The union of the `limit` nearest by vector and the `limit` best by keyword, unordered.

        `model` names the model behind the vector. Raises Misconfigured: the store's is another.
        """

    def columns(self, scope: Scope, grain: Grain, *, model: str) -> "Columns | None":
        """All records at once, to be searched in memory; None where there are too many to hold.

        `model` names the model behind the question's vector. Raises Misconfigured: the store's is another.
        """

    def around(
        self, scope: Scope, grain: Grain, found: Sequence[Candidate], *, reach: int, where: Filter
    ) -> "Columns":
        """The candidates, and those at most `reach` places from one of them in its conversation."""


class KnowsWords(Protocol):
    """An Embedder that has vectors of single words at hand, without asking anybody."""

    def embed_words(self, words: Sequence[str]) -> "Floats":
        """A row for each word, float32, unit length. No word is blank. Raises Misconfigured."""


def word_embedding(embedder: object) -> "Callable[[Sequence[str]], Floats] | None":
    """The embedder's way to embed single words, where it has them at hand."""
    return getattr(embedder, "embed_words", None)
