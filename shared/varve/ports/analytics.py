"""The port to a stage: the tables of analytics in a temporary file on disk."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

from varve.domain.analytics import AnalyticsTable, Row
from varve.domain.graph import QueryLimits, QueryResult
from varve.domain.identity import Scope


@dataclass(frozen=True, slots=True)
class TablePart:
    """The rows of a table in one month, as the bytes of a Parquet file."""

    month: str
    rows: int
    data: bytes = field(repr=False)


class TableStage(Protocol):
    """Tables that rows are added to, to be queried or taken out as Parquet.

    It holds a batch of rows in memory; the tables are on disk.
    """

    def add(
        self, scope: Scope, table: AnalyticsTable, rows: Iterable[Row]
    ) -> int:
        """Add an agent's rows to a table; return how many. Raises Retryable."""

    def parts(self, table: AnalyticsTable) -> Iterator[TablePart]:
        """Yield a table's rows of each month, the first month first.

        They have the table's own columns. Equal rows give equal bytes.
        """

    def query(self, sql: str, limits: QueryLimits) -> QueryResult:
        """Run one untrusted SELECT over the tables; nothing can be added afterwards.

        Raises Rejected: field `sql`, with the reason or the limit that was exceeded.
        """


OpenStage = Callable[[], AbstractContextManager[TableStage]]
"""Opens an empty stage, whose file goes at the end of the block."""
