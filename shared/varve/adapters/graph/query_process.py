"""A script that runs one untrusted SQL query over an agent's triples or over tables.

`sandbox.py` starts it as a separate process (`python -I`). It imports only DuckDB and the
standard library. It reads the request as JSON from stdin and the triples as Parquet, or the
tables as a DuckDB file, from an inherited descriptor. It writes the answer as JSON to stdout.
"""

import contextlib
import json
import math
import re
import sys
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

if sys.flags.isolated:
    # PYTHONPATH is ignored, so DuckDB's folders come as arguments.
    sys.path[:0] = sys.argv[1:]
import duckdb

TABLE_FUNCTIONS = frozenset(
    {"generate_series", "json_each", "json_tree", "range", "unnest"}
)
"""Functions allowed in FROM; others read files, memory addresses or SQL strings."""

DUCKDB_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "temp_directory": "",
    "threads": "1",
    "python_enable_replacements": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_unsigned_extensions": "false",
}
_VIEWS = """
create view entities as
    select source_id as id from facts where label != 'also_known_as'
    union select target_id from facts where target_id != '' and label != 'also_known_as';
create view aliases as
    select target_id as alias, source_id as entity from facts
    where label = 'also_known_as' and invalid_at is null"""
_GRAPH = """
create property graph facts_graph
    vertex tables (entities)
    edge tables (facts source key (source_id) references entities (id)
                       destination key (target_id) references entities (id))"""
_LOCKS = (
    "set enable_external_access = false",
    "set allow_persistent_secrets = false",
    "set disabled_filesystems = 'LocalFileSystem'",
    "set lock_configuration = true",
)
_INTERVAL = re.compile(r"\bINTERVAL\b")
MAX_JSON_DEPTH = 200
_DEEP_JSON = f"gives JSON nested more than {MAX_JSON_DEPTH} levels deep"
_GRAPH_TABLE = re.compile(r"\bgraph_table\b", re.IGNORECASE)
_READING_FUNCTIONS = re.compile(
    r"_scan|\bquery\b|_map_function|_execute_", re.IGNORECASE
)
_NO_GRAPH_TABLE = (
    "GRAPH_TABLE needs DuckDB's extension duckpgq, which is not installed here; "
    "use entity, neighbours and paths of the Python API, "
    "or WITH RECURSIVE over facts (source_id, label, target_id)"
)


class QueryRefused(Exception):
    """The query is not allowed; the message says why."""


def main() -> None:
    """Read the request from stdin and write the answer to stdout."""
    request = json.loads(sys.stdin.buffer.read())
    connection = duckdb.connect(config=DUCKDB_CONFIG)
    try:
        matching = load(connection, request)
        _limit(connection, request)
        lock(connection)
        check(connection, request["sql"], matching)
        answer = _run(connection, request)
    except QueryRefused as error:
        answer = {"error": str(error)}
    except (duckdb.OutOfMemoryException, MemoryError):
        answer = {"memory": True}
    except duckdb.Error as error:
        answer = {"error": _first_line(str(error))}
    sys.stdout.write(json.dumps(answer, allow_nan=False))


def load(
    connection: duckdb.DuckDBPyConnection, request: dict[str, Any]
) -> bool:
    """Create the table, its views and, for GRAPH_TABLE, the property graph.

    A request with a database attaches it and creates nothing: it stays on disk, open, and
    is read within the memory limit. Returns whether the property graph exists: it needs
    the extension DuckPGQ.
    """
    connection.execute("set timezone = 'UTC'; set enable_progress_bar = false")
    if "database" in request:
        connection.execute(
            f"attach '{request['database']}' as tables (read_only)"
        )
        connection.execute("use tables")
        return False
    connection.execute(
        "create table facts as select * replace (properties::json as properties)"
        " from read_parquet($1)",
        [request["triples"]],
    )
    connection.execute(_VIEWS)
    if not _GRAPH_TABLE.search(request["sql"]):
        return False
    try:
        connection.execute(
            f"set extension_directory = '{request['extensions']}'"
        )
        connection.execute("load duckpgq")
    except duckdb.Error:
        return False
    connection.execute(_GRAPH)
    return True


def lock(connection: duckdb.DuckDBPyConnection) -> None:
    """Forbid files, network and secrets, and changes of the settings."""
    for setting in _LOCKS:
        connection.execute(setting)


def _limit(
    connection: duckdb.DuckDBPyConnection, request: dict[str, Any]
) -> None:
    """Limit memory and processor time, and forbid files to grow.

    DuckDB limits its memory; the operating system limits the process.
    """
    ((used,),) = connection.execute(
        "select sum(memory_usage_bytes) from duckdb_memory()"
    ).fetchall()
    connection.execute(
        f"set memory_limit = '{used + request['memory']} bytes'"
    )
    with contextlib.suppress(ImportError):  # Windows has no such limits
        _limit_process(request["memory"], request["seconds"])


def _limit_process(memory: int, seconds: int) -> None:
    import resource

    spent = resource.getrusage(resource.RUSAGE_SELF)
    limits = {
        resource.RLIMIT_CPU: int(spent.ru_utime + spent.ru_stime)
        + 1
        + seconds,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_AS: _address_space() + memory,
    }
    for limit, value in limits.items():
        with contextlib.suppress(
            ValueError, OSError
        ):  # macOS refuses some of them
            resource.setrlimit(limit, (value, value))


def _address_space() -> int:
    """Return the bytes of address space in use.

    If the system does not tell, return a terabyte, so that the limit has no effect.
    """
    try:
        import resource

        sizes = Path("/proc/self/statm").read_text("ascii").split()
        pages = int(sizes[0])
        return pages * resource.getpagesize()
    except (ImportError, OSError):
        return 1 << 40


def check(
    connection: duckdb.DuckDBPyConnection, sql: str, matching: bool
) -> None:
    """Check that the query is a single SELECT that takes its rows from tables.

    `matching` says whether GRAPH_TABLE is available. Raises QueryRefused, duckdb.Error.
    """
    asks_graph = bool(_GRAPH_TABLE.search(sql))
    if asks_graph and not matching:
        raise QueryRefused(_NO_GRAPH_TABLE)
    _require_select(connection, sql)
    ((serialized,),) = connection.execute(
        "select json_serialize_sql($1)", [sql]
    ).fetchall()
    tree = _parse_tree(serialized)
    if tree["error"] and not asks_graph:
        raise QueryRefused("must be a plain SELECT")
    called = sorted(set(_table_functions(tree)) - TABLE_FUNCTIONS)
    if called:
        raise QueryRefused(f"must not call {', '.join(called)} in FROM")
    if asks_graph and _READING_FUNCTIONS.search(sql):
        raise QueryRefused("must not call table functions in FROM")


def _parse_tree(serialized: str) -> Any:
    try:
        return json.loads(serialized)
    except RecursionError as error:
        raise QueryRefused("is nested too deeply") from error


def _require_select(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    statements = connection.extract_statements(sql)
    if len(statements) != 1:
        raise QueryRefused(f"must be one statement, not {len(statements)}")
    (statement,) = statements
    if statement.type != duckdb.StatementType.SELECT:
        raise QueryRefused(f"must be a SELECT, not {statement.type.name}")
    if statement.named_parameters:
        raise QueryRefused("must not have parameters")


def _table_functions(tree: Any) -> Any:
    """Yield the functions in FROM anywhere in the tree.

    Without recursion, because the tree may be deeper than Python's stack.
    """
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            if node.get("type") == "TABLE_FUNCTION":
                function = node["function"]
                yield str(function.get("function_name", "?")).lower()
            pending += node.values()
        elif isinstance(node, list):
            pending += node


def _run(
    connection: duckdb.DuckDBPyConnection, request: dict[str, Any]
) -> dict[str, Any]:
    # A SELECT may still delete in a CTE. A read-only transaction forbids that.
    connection.execute("begin transaction read only")
    _execute(connection, request["sql"])
    names = []
    are_json = []
    for column in connection.description or ():
        names.append(column[0])
        are_json.append(str(column[1]) == "JSON")
    rows: list[list[Any]] = []
    size = 0
    while fetched := connection.fetchmany(100):
        for values in fetched:
            row = list(map(_to_json, values, are_json))
            rows.append(row)
            size += len(json.dumps(row))
            if len(rows) > request["rows"]:
                raise QueryRefused(
                    f"gives more than {request['rows']:,} rows; add a LIMIT"
                )
            if size > request["bytes"]:
                raise QueryRefused(
                    f"gives more than {request['bytes']:,} bytes; select less"
                )
    return {"columns": names, "rows": rows}


def _execute(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    """Execute the query; intervals become text, because Python's have no months."""
    connection.execute(sql)
    types = [str(column[1]) for column in connection.description or ()]
    if not any(map(_INTERVAL.search, types)):
        return
    columns = []
    for number, type_ in enumerate(types, start=1):
        column = f"#{number}"
        if _INTERVAL.search(type_):
            as_text = _INTERVAL.sub("VARCHAR", type_)
            column = f"cast(#{number} as {as_text})"
        columns.append(column)
    names = ", ".join(
        f"{column} as {_quote(described[0])}"
        for column, described in zip(
            columns, connection.description, strict=True
        )
    )
    (statement,) = connection.extract_statements(sql)
    query = statement.query.strip().rstrip(";")
    connection.execute(f"select {names} from ({query}\n)")


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _parse_json(text: str) -> Any:
    """Return the JSON value. Raises QueryRefused: it is too deep or has too long numbers."""
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise QueryRefused(_DEEP_JSON) from error
    except ValueError as error:  # Python's limit on the digits of an integer
        raise QueryRefused(
            "gives JSON with a number of too many digits"
        ) from error
    return _finite(value, 0)


def _finite(value: Any, depth: int) -> Any:
    """Return the JSON value with numbers that are too large, such as 1e999, as text."""
    if depth > MAX_JSON_DEPTH:
        raise QueryRefused(_DEEP_JSON)
    if isinstance(value, float):
        return _number_to_json(value)
    if isinstance(value, list):
        return [_finite(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {key: _finite(item, depth + 1) for key, item in value.items()}
    return value


def _to_json(value: Any, is_json: bool = False) -> Any:
    """Return the value as JSON: times in ISO 8601, unknown types as text."""
    if isinstance(value, str):
        return _parse_json(value) if is_json else value
    if isinstance(value, list | tuple):
        return [_to_json(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _to_json(item) for key, item in value.items()}
    return _scalar_to_json(value)


def _scalar_to_json(value: Any) -> Any:
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float | Decimal):
        return _number_to_json(value)
    if isinstance(value, date | time):
        return _time_to_json(value)
    if isinstance(value, bytes):
        return value.hex()
    return str(value)


def _number_to_json(value: float | Decimal) -> float | str:
    """Return the number; infinite numbers and NaN, which JSON lacks, as text."""
    if isinstance(value, Decimal):
        return float(value)
    return value if math.isfinite(value) else str(value)


def _time_to_json(value: date | time) -> str:
    if isinstance(value, datetime) and value.tzinfo:
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return value.isoformat()


def _first_line(message: str) -> str:
    """Return the first line of DuckDB's message, cut to 300 characters."""
    first = message.strip().split("\n")[0]
    if len(first) <= 300:
        return first
    return first[:300] + "…"


if __name__ == "__main__":
    main()
