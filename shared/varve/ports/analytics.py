"""The port to a stage: the tables of analytics in a temporary file on disk."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Protocol

from varve.domain.analytics import AnalyticsTable, Row
from varve.domain.graph import QueryLimits, QueryResult
from varve.domain.identity import Scope


class TableStage(Protocol):
    """Tables that rows are added to, to be queried.

    It holds a batch of rows in memory; the tables are on disk.
    """

    def add(self, scope: Scope, table: AnalyticsTable, rows: Iterable[Row]) -> int:
        """Add an agent's rows to a table; return how many. Raises Retryable."""

    def query(self, sql: str, limits: QueryLimits) -> QueryResult:
        """Run one untrusted SELECT over the tables; nothing can be added afterwards.

        Raises Rejected: field `sql`, with the reason or the limit that was exceeded.
        """


OpenStage = Callable[[], AbstractContextManager[TableStage]]
"""Opens an empty stage, whose file goes at the end of the block."""
