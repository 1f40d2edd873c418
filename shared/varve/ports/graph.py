"""An agent's triples: read, asked, changed."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Protocol

from varve.domain.graph import Neighbour, PathStep, QueryLimits, QueryResult
from varve.domain.identity import Scope
from varve.domain.names import Names
from varve.domain.triple import Triple, TripleOperation


class GraphEraser(Protocol):
    """Takes back what was said; only `usecases/write.py` takes one."""

    def erase(self, scope: Scope, operation_ids: Iterable[str]) -> int:
        """Take operations back and fold the rest anew; how many there were. Raises Retryable."""


class GraphReader(Protocol):
    """An agent's triples."""

    def triples(self, scope: Scope) -> list[Triple]:
        """All triples, current and past, in the fold's order."""

    def counts(self, scope: Scope, at: datetime) -> tuple[int, int]:
        """How many triples there are, and how many of them hold at the time."""


class GraphView(Protocol):
    """An agent's graph as it was at one moment."""

    def names(self) -> Names:
        """The aliases that the triples state."""

    def aliases(self) -> list[Triple]:
        """The triples that state another name of an entity, past ones too."""

    def about(self, entity: str) -> list[Triple]:
        """The triples of every entity and predicate among which the entity is named; it is normalized."""

    def newest(self, most: int, at: datetime) -> list[Triple]:
        """The triples that hold at the time, those that began last first."""

    def neighbours(
        self, entity: str, hops: int, at: datetime, most: int
    ) -> list[Neighbour]:
        """The entities within so many hops over each one's newest edges that hold then, nearest first."""

    def paths(
        self, start: str, goal: str, max_hops: int, at: datetime, most: int
    ) -> list[tuple[PathStep, ...]]:
        """Ways from one entity to the other that pass none twice, the shortest first."""


class GraphQueries(Protocol):
    """Questions to an agent's graph."""

    def open(self, scope: Scope) -> GraphView:
        """The graph as it is stored now."""

    def query(self, scope: Scope, sql: str, limits: QueryLimits) -> QueryResult:
        """Run untrusted SQL over `facts`. Raises Rejected: field `sql`, and why or past which limit."""


class GraphWriter(GraphEraser, Protocol):
    """The only way to change triples; only `usecases/write.py` takes one."""

    def apply(self, scope: Scope, operations: Sequence[TripleOperation]) -> int:
        """Fold the operations in; the number of those that were new. Raises Retryable."""
