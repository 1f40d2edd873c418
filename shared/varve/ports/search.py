"""The ports of ranking in memory: whole stores, and vectors of single words."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from varve.domain.identity import Scope
from varve.domain.record import StoreName, Vector
from varve.domain.search.query import Filter

if (
    TYPE_CHECKING
):  # ingest imports this module and must not load the ranking code
    from varve.domain.search.columns import Columns
    from varve.domain.search.lexical import Floats
    from varve.domain.search.outline import Outline


class CandidatesReader(Protocol):
    """Reader of records to rank, as committed at the time of each call."""

    def columns(
        self, scope: Scope, grain: StoreName, *, model: str
    ) -> "Outline":
        """Return all records as Columns to search in memory, or an Outline if too many.

        `model` is the embedding model of the question.
        Raises Misconfigured: the store has another model.
        """

    def candidates(
        self, scope: Scope, grain: StoreName, *, text: str, vector: Vector, model: str, where: Filter,
        limit: int, reach: int,
    ) -> "Columns":  # fmt: skip
        """Return the `limit` nearest by vector, the `limit` best by keyword, and neighbours.

        Neighbours are the records of the same conversation at most `reach` positions away
        that pass the filter. If the filter passes few records, all of them may be returned.
        `model` is the embedding model of the vector.
        Raises Misconfigured: the store has another model; Retryable.
        """

    def columns_of_users(
        self,
        scope: Scope,
        grain: StoreName,
        *,
        users: Sequence[str | None],
        model: str,
    ) -> "Columns":
        """Return all records of these users as Columns; None: the records of no user.

        `model` is the embedding model of the vectors.
        Raises Misconfigured: the store has another model; Retryable.
        """


class KnowsWords(Protocol):
    """An Embedder that has vectors of single words locally, without a model call."""

    def embed_words(self, words: Sequence[str]) -> "Floats":
        """Return a row for each word, float32, of unit length.

        No word may be blank. Raises Misconfigured.
        """


def word_embedding(
    embedder: object,
) -> "Callable[[Sequence[str]], Floats] | None":
    """Return the embedder's method for single words, or None if it has none."""
    return getattr(embedder, "embed_words", None)
