"""The ports of export, import and the move to another embedding model."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from varve.domain.identity import Scope
from varve.domain.record import EmbeddedRecord, Record, StoreName, Vector
from varve.domain.triple import Triple

Embed = Callable[[Sequence[Record]], Sequence[Vector]]
"""Returns a vector of the new model for each record, in the same order."""


class StoreReader(Protocol):
    """Reader of a whole record store."""

    def model(self, scope: Scope, grain: StoreName) -> str | None:
        """Return the store's embedding model, or None if nothing is written yet.

        Raises Retryable.
        """

    def embedded(
        self, scope: Scope, grain: StoreName
    ) -> tuple[str | None, list[EmbeddedRecord]]:
        """Return the model and all records of one version of the store.

        The records are ordered by event time, position and id. Raises Retryable.
        """


class VectorWriter(Protocol):
    """Writer of a store's vectors; only `usecases/write/write.py` takes one."""

    def move(
        self, scope: Scope, grain: StoreName, model: str, embed: Embed
    ) -> int:
        """Re-embed the store with another model in one commit; return how many records.

        Nothing but the vectors changes. Readers see the old version until the commit.
        Records committed during the move are moved too. Returns 0 if there is no store or
        it has this model already. Raises Retryable.
        """


class ExportWriter(Protocol):
    """Writer of an export directory, which gets its final name when it is complete."""

    def lines(self, name: str, rows: Iterable[Mapping[str, Any]]) -> int:
        """Write a file of JSON lines and return how many."""

    def document(self, name: str, value: Mapping[str, Any]) -> None:
        """Write a file with one JSON object."""

    def records(
        self, name: str, rows: Iterable[tuple[StoreName, str, EmbeddedRecord]]
    ) -> int:
        """Write a Parquet file of records with grain, model and vector; return how many."""

    def triples(self, name: str, triples: Sequence[Triple]) -> None:
        """Write a Parquet file of triples, with the columns of `facts.parquet`."""

    def finish(self, manifest: Mapping[str, Any]) -> None:
        """Write the manifest and rename the directory to its final name.

        The files' sizes and SHA-256 sums are added to the manifest.
        """


class ExportReader(Protocol):
    """Reader of an export's files. Every method raises Rejected, which names the file."""

    def manifest(self) -> dict[str, Any]:
        """Return the manifest, after checking that its files exist and match it."""

    def lines(self, name: str) -> Iterator[tuple[int, Any]]:
        """Yield the number, from 1, and the decoded JSON of each line of a file."""

    def document(self, name: str) -> Any:
        """Return the decoded JSON of a file."""

    def vectors(self, name: str) -> dict[tuple[str, str], tuple[str, Vector]]:
        """Return each record's model and vector, by grain and id."""
