"""Records of one agent: read by many, written by one."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from varve.domain.identity import Scope
from varve.domain.record import GRAINS, EmbeddedRecord, Record, StoreName, Written
from varve.domain.search.query import Filter
from varve.ports.search import CandidatesReader


class MemoryReader(CandidatesReader, Protocol):
    """Records of one agent's grain, as committed at the moment of the call."""

    def at(self, scope: Scope, stores: Sequence[StoreName] = GRAINS) -> "MemoryReader":
        """For one answer: these stores of the agent as committed now, looked up once. Raises Retryable."""

    def browse(
        self, scope: Scope, grain: StoreName, *, where: Filter, limit: int
    ) -> list[Record]:
        """The newest by event time, newest first."""

    def get(self, scope: Scope, grain: StoreName, ids: Sequence[str]) -> list[Record]:
        """Those of the ids that exist, in the order of the ids."""

    def count(self, scope: Scope, grain: StoreName, *, where: Filter) -> int:
        """How many records the filter lets through."""

    def periods(self, scope: Scope, grain: StoreName) -> dict[str, int]:
        """How many records each period's label has."""

    def in_period(
        self, scope: Scope, grain: StoreName, label: str, since: int = 0
    ) -> list[Record]:
        """All records of one period, oldest first, of the store's version `since` or a later one.

        Raises Retryable: it can be read at an older version only, as where a listing is stale.
        """

    def span(self, scope: Scope, grain: StoreName) -> tuple[datetime, datetime] | None:
        """The oldest and the newest event time, or None where there are no records."""


class MemoryWriter(Protocol):
    """The only way to change records; only `usecases/write.py` takes one."""

    def expect(self, scope: Scope, grain: StoreName) -> None:
        """An upsert follows: what must be known of the store before may be asked for meanwhile."""

    def upsert(
        self,
        scope: Scope,
        grain: StoreName,
        records: Sequence[EmbeddedRecord],
        model: str,
    ) -> Written:
        """Insert or replace by id in one commit. `model` names the embedding model.

        Raises Misconfigured: the store's vectors are of another model or other dimensions; Retryable.
        """

    def delete_periods(
        self, scope: Scope, grain: StoreName, labels: Sequence[str]
    ) -> int:
        """Delete all records of the periods, and their bytes; how many there were. Raises Retryable."""

    def delete(
        self,
        scope: Scope,
        grain: StoreName,
        ids: Sequence[str],
        known_by: datetime | None = None,
    ) -> int:
        """Delete these records and their bytes, but for those that were made after `known_by`; how many.

        Without ids, what was left. Raises Retryable.
        """

    def finish(self) -> None:
        """Wait for what still goes on behind the writes; what they wrote is durable without it."""
