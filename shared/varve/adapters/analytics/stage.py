"""The TableStage port: a temporary DuckDB file with the tables of analytics."""

import io
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from varve.adapters.graph.sandbox import check_sql, query_database
from varve.domain.analytics import (
    SCHEMA_VERSION,
    TABLES,
    AnalyticsTable,
    ColumnType,
    Row,
)
from varve.domain.errors import Retryable
from varve.domain.graph import QueryLimits, QueryResult
from varve.domain.identity import Scope
from varve.ports.analytics import TablePart

BATCH_ROWS = 10_000
_MEMORY = "256MB"
_FILE = "tables.duckdb"
_VERSION_KEY = "varve.schema_version"
_TEXTS = pa.list_(pa.string())
_ARROW_TYPES = {
    ColumnType.TEXT: pa.string(),
    ColumnType.TEXTS: _TEXTS,
    ColumnType.TIME: pa.timestamp("us", tz="UTC"),
    ColumnType.INTEGER: pa.int64(),
    ColumnType.NUMBER: pa.float64(),
    ColumnType.FLAG: pa.bool_(),
}
_SQL_TYPES = {
    ColumnType.TEXT: "varchar",
    ColumnType.TEXTS: "varchar[]",
    ColumnType.TIME: "timestamptz",
    ColumnType.INTEGER: "bigint",
    ColumnType.NUMBER: "double",
    ColumnType.FLAG: "boolean",
}


@contextmanager
def open_stage() -> Iterator["DuckdbStage"]:
    """Open an empty stage; its file goes at the end of the block."""
    with tempfile.TemporaryDirectory(prefix="varve-tables-") as folder:
        stage = DuckdbStage(Path(folder))
        try:
            yield stage
        finally:
            stage.close()


class DuckdbStage:
    """The tables of analytics in a file that DuckDB writes within a fixed memory."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._connection = duckdb.connect(
            str(folder / _FILE),
            config={
                "memory_limit": _MEMORY,
                "temp_directory": str(folder / "spill"),
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
                "python_enable_replacements": "false",
            },
        )
        self._connection.execute(
            "set timezone = 'UTC'; set enable_progress_bar = false"
        )
        for table in TABLES.values():
            self._connection.execute(_create(table))

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def add(
        self, scope: Scope, table: AnalyticsTable, rows: Iterable[Row]
    ) -> int:
        insert = (
            f"insert into {table.name} select $1, $2,"
            f" left(strftime({table.time}::timestamptz, '%Y-%m-%d'), 7), *"
            " from incoming"
        )
        count = 0
        for batch in _batches(table, rows):
            count += batch.num_rows
            self._connection.register("incoming", batch)
            try:
                self._connection.execute(
                    insert, [scope.workspace, scope.agent]
                )
            except duckdb.Error as error:
                # DuckDB's words may quote a value.
                raise Retryable(
                    f"tables: {type(error).__name__} in {_FILE}"
                ) from error
            finally:
                self._connection.unregister("incoming")
        return count

    def parts(self, table: AnalyticsTable) -> Iterator[TablePart]:
        months = self._connection.execute(
            f"select month, count(*) from {table.name} group by month order by month"
        ).fetchall()
        for month, rows in months:
            yield TablePart(month, rows, self._encode(table, month))

    def _encode(self, table: AnalyticsTable, month: str) -> bytes:
        names = ", ".join(f'"{name}"' for name in table.names)
        query = (
            f"select {names} from {table.name} where month = $1"
            f" order by {table.time}, {names}"
        )
        rows = self._connection.sql(query, params=[month])
        schema = _to_schema(table)
        buffer = io.BytesIO()
        with pq.ParquetWriter(buffer, schema, compression="zstd") as writer:
            for batch in rows.to_arrow_reader(BATCH_ROWS):
                writer.write_batch(batch.cast(schema))
        return buffer.getvalue()

    def query(self, sql: str, limits: QueryLimits) -> QueryResult:
        check_sql(sql)
        self.close()
        path = self._folder / _FILE
        with path.open("rb") as file:
            # Without a name nothing is left behind if this process is killed.
            shutil.rmtree(self._folder, ignore_errors=True)
            return query_database(file, sql, limits)


def _create(table: AnalyticsTable) -> str:
    """Return the SQL that creates a table, its owner's columns first."""
    columns = ["workspace varchar", "agent varchar", "month varchar"]
    for column in table.columns:
        columns.append(f'"{column.name}" {_SQL_TYPES[column.type]}')
    return f"create table {table.name} ({', '.join(columns)})"


def _to_schema(table: AnalyticsTable) -> pa.Schema:
    """Return the Arrow schema of a table's own columns, with its version."""
    fields = [(one.name, _ARROW_TYPES[one.type]) for one in table.columns]
    return pa.schema(fields, metadata={_VERSION_KEY: str(SCHEMA_VERSION)})


def _batches(table: AnalyticsTable, rows: Iterable[Row]) -> Iterator[Any]:
    """Yield the rows as Arrow record batches."""
    schema = _to_schema(table)
    pending = iter(rows)
    while chunk := list(islice(pending, BATCH_ROWS)):
        values = zip(*chunk, strict=True)
        arrays = [
            pa.array(column, field.type)
            for column, field in zip(values, schema, strict=True)
        ]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)
