"""What export, import and the move to another embedding model need from the outside."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from varve.domain.identity import Scope
from varve.domain.record import EmbeddedRecord, Record, StoreName, Vector
from varve.domain.triple import Triple

Embed = Callable[[Sequence[Record]], Sequence[Vector]]
"""A vector of the new model for each record, in their order."""


class StoreReader(Protocol):
    """A record store as a whole."""

    def model(self, scope: Scope, grain: StoreName) -> str | None:
        """The embedding model it is of, or None where nothing has been written yet. Raises Retryable."""

    def embedded(
        self, scope: Scope, grain: StoreName
    ) -> tuple[str | None, list[EmbeddedRecord]]:
        """Its model and all records of one version, by event time, position and id. Raises Retryable."""


class VectorWriter(Protocol):
    """Changes the vectors of a store; only `usecases/write.py` takes one."""

    def move(self, scope: Scope, grain: StoreName, model: str, embed: Embed) -> int:
        """Put the store under another model in one commit, all else as it is; the number of records.

        Whoever reads meanwhile has the version before. What is committed meanwhile is moved as well.
        Where there is no store, or one of this model, nothing is done: 0. Raises Retryable.
        """


class ExportWriter(Protocol):
    """A directory that is being filled and appears under its name only when it is whole."""

    def lines(self, name: str, rows: Iterable[Mapping[str, Any]]) -> int:
        """A file of JSON lines; how many."""

    def document(self, name: str, value: Mapping[str, Any]) -> None:
        """A file of one JSON object."""

    def records(
        self, name: str, rows: Iterable[tuple[StoreName, str, EmbeddedRecord]]
    ) -> int:
        """A Parquet file of records with their grain, their model and their vectors; how many."""

    def triples(self, name: str, triples: Sequence[Triple]) -> None:
        """A Parquet file of triples, laid out as `facts.parquet` is."""

    def finish(self, manifest: Mapping[str, Any]) -> None:
        """Add the files' sizes and SHA-256 to the manifest, write it, and put the directory in its place."""


class ExportReader(Protocol):
    """An export's files. Everything raises Rejected, which names the file."""

    def manifest(self) -> dict[str, Any]:
        """The manifest; all files that it names are there and are what it says."""

    def lines(self, name: str) -> Iterator[tuple[int, Any]]:
        """The lines of a file as decoded JSON, with their numbers from 1."""

    def document(self, name: str) -> Any:
        """A file of JSON."""

    def vectors(self, name: str) -> dict[tuple[str, str], tuple[str, Vector]]:
        """By grain and id, each record's model and vector."""
