"""The ports to an agent's graph of triples: reading, questions, changes."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Protocol

from varve.domain.graph import (
    Mentions,
    Neighbour,
    PathStep,
    QueryLimits,
    QueryResult,
)
from varve.domain.identity import Scope
from varve.domain.names import Names
from varve.domain.triple import Triple, TripleOperation


class GraphEraser(Protocol):
    """Eraser of triple operations; only `usecases/write/write.py` takes one."""

    def erase(self, scope: Scope, operation_ids: Iterable[str]) -> int:
        """Delete operations, fold the rest again and return how many were deleted.

        Raises Retryable.
        """


class GraphReader(Protocol):
    """Reader of an agent's triples."""

    def triples(self, scope: Scope) -> list[Triple]:
        """Return all triples, current and past, in the order of the fold."""

    def counts(self, scope: Scope, at: datetime) -> tuple[int, int]:
        """Return how many triples there are, and how many of them hold at `at`."""


class GraphView(Protocol):
    """An agent's graph as stored at one moment."""

    def names(self) -> Names:
        """Return the aliases that the triples state."""

    def aliases(self) -> list[Triple]:
        """Return the triples that state another name of an entity, past ones included."""

    def about(self, entity: str) -> list[Triple]:
        """Return all triples of each (entity, predicate) pair that names the entity.

        The name is normalized first.
        """

    def newest(
        self, most: int, at: datetime, *, links: bool = True
    ) -> list[Triple]:
        """Return up to `most` triples that hold at `at`, the latest start first.

        Aliases are left out. `links` includes the links between episodes.
        """

    def holding(self, at: datetime, *, links: bool = True) -> int:
        """Return how many triples hold at `at`, of those that `newest` chooses from."""

    def changed(
        self, since: datetime, until: datetime, most: int
    ) -> list[Triple]:
        """Return up to `most` triples that began or ended in the span, without links.

        The last changes are kept. Triples that never held are left out.
        """

    def drawn_from(self, conversation_id: str, most: int) -> list[Triple]:
        """Return up to `most` triples that a statement of the conversation made or changed."""

    def entities(
        self, part: str, at: datetime, *, most: int, skip: int = 0
    ) -> list[Mentions]:
        """Return entities whose normalized names contain `part`, without those of links.

        The most mentioned come first.
        """

    def neighbours(
        self, entity: str, hops: int, at: datetime, most: int
    ) -> list[Neighbour]:
        """Return the entities within `hops` hops, nearest first.

        Of each entity only the newest edges that hold at `at` are followed.
        """

    def paths(
        self, start: str, goal: str, max_hops: int, at: datetime, most: int
    ) -> list[tuple[PathStep, ...]]:
        """Return paths between two entities that visit no entity twice, shortest first."""


class GraphQueries(Protocol):
    """Questions to an agent's graph."""

    def open(self, scope: Scope) -> GraphView:
        """Return a view of the graph as stored at the time of the call."""

    def query(
        self, scope: Scope, sql: str, limits: QueryLimits
    ) -> QueryResult:
        """Run untrusted SQL over the table `facts`.

        Raises Rejected: field `sql`, with the reason or the limit that was exceeded.
        """


class GraphStore(GraphReader, GraphQueries, Protocol):
    """Everything that reads an agent's triples."""


class GraphWriter(GraphEraser, Protocol):
    """The only way to change triples; only `usecases/write/write.py` takes one."""

    def apply(
        self, scope: Scope, operations: Sequence[TripleOperation]
    ) -> int:
        """Fold the operations in and return how many of them were new. Raises Retryable."""
