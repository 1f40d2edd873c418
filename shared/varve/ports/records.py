"""The ports to an agent's records: many readers, one writer."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from varve.domain.identity import Scope
from varve.domain.record import (
    GRAINS,
    EmbeddedRecord,
    Record,
    StoreName,
    Written,
)
from varve.domain.search.query import Filter
from varve.domain.tally import Tally, TallyColumn
from varve.ports.search import CandidatesReader


class MemoryReader(CandidatesReader, Protocol):
    """Reader of one agent's records, as committed at the time of each call."""

    def at(
        self, scope: Scope, stores: Sequence[StoreName] = GRAINS
    ) -> "MemoryReader":
        """Return a reader pinned to the stores' current versions, for one answer.

        The versions are looked up once. Raises Retryable.
        """

    def browse(
        self, scope: Scope, grain: StoreName, *, where: Filter, limit: int
    ) -> list[Record]:
        """Return up to `limit` records by event time, newest first."""

    def get(
        self, scope: Scope, grain: StoreName, ids: Sequence[str]
    ) -> list[Record]:
        """Return the records that exist, in the order of `ids`."""

    def count(self, scope: Scope, grain: StoreName, *, where: Filter) -> int:
        """Return how many records pass the filter."""

    def read_metadata(self, scope: Scope, grain: StoreName) -> dict[str, str]:
        """Return the metadata of the facts and turns that have some, as JSON, by id."""

    def read_links(
        self, scope: Scope, grain: StoreName
    ) -> dict[str, tuple[str, ...]]:
        """Return the links of the turns that have some, by id (`statements.links`)."""

    def periods(self, scope: Scope, grain: StoreName) -> dict[str, int]:
        """Return the number of records of each period, by the period's label."""

    def tally(
        self,
        scope: Scope,
        grain: StoreName,
        by: Sequence[TallyColumn],
        *,
        where: Filter,
    ) -> list[Tally]:
        """Count the records that pass the filter by some columns, ordered by these.

        Reads no words. Without columns there is one tally, or none without records.
        """

    def in_period(
        self, scope: Scope, grain: StoreName, label: str, since: int = 0
    ) -> list[Record]:
        """Return all records of one period, oldest first.

        Reads version `since` of the store or a later one. Raises Retryable: only an older
        version is visible, for example because a listing is stale.
        """

    def in_conversations(
        self, scope: Scope, grain: StoreName, prefix: str, since: int = 0
    ) -> list[Record]:
        """Return all records of conversations whose ids begin with `prefix`, oldest first.

        `since` and errors as `in_period`.
        """

    def with_words(
        self, scope: Scope, grain: StoreName, words: Sequence[str]
    ) -> list[Record]:
        """Return the turns that contain any of these folded words, oldest first.

        Case and the accents of vowels make no difference.
        """


class MemoryWriter(Protocol):
    """The only way to change records; only `usecases/write/write.py` takes one."""

    def expect(self, scope: Scope, grain: StoreName) -> None:
        """Announce an upsert, so that the writer may load the store's state early."""

    def upsert(
        self,
        scope: Scope,
        grain: StoreName,
        records: Sequence[EmbeddedRecord],
        model: str,
    ) -> Written:
        """Insert or replace records by id in one commit; `model` is the embedding model.

        Raises Misconfigured: the store has another model or other dimensions; Retryable.
        """

    def delete_periods(
        self, scope: Scope, grain: StoreName, labels: Sequence[str]
    ) -> int:
        """Delete all records of the periods and their bytes; return how many.

        Raises Retryable.
        """

    def delete(
        self,
        scope: Scope,
        grain: StoreName,
        ids: Sequence[str],
        known_by: datetime | None = None,
    ) -> int:
        """Delete records and their bytes, and return how many were deleted.

        A record created after `known_by` stays. Even with empty `ids`, bytes that an
        interrupted deletion left behind are removed. Raises Retryable.
        """

    def compact(self, scope: Scope, grain: StoreName) -> None:
        """Merge the store's files and delete those that no reader needs any more.

        Does nothing if nothing was written since the last compaction. Raises Retryable.
        """
