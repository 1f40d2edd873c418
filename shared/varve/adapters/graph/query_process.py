"""One untrusted SQL query over an agent's triples, in a process that may do nothing else.

Started by `sandbox.py` as a script of its own (`python -I`): it imports DuckDB and the standard
library alone. A request comes on stdin as JSON, the triples as Parquet through an inherited descriptor,
the answer goes to stdout as JSON.
"""

import contextlib
import json
import re
import sys
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

if sys.flags.isolated:
    sys.path[:0] = sys.argv[
        1:
    ]  # PYTHONPATH is ignored, so DuckDB's folder comes as an argument
import duckdb

TABLE_FUNCTIONS = frozenset(
    {"generate_series", "json_each", "json_tree", "range", "unnest"}
)
"""The only functions that may stand in FROM: others read files, memory addresses or SQL in strings."""

CONFIG: dict[str, str | bool | int | float | list[str]] = {
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
_GRAPH_TABLE = re.compile(r"\bgraph_table\b", re.IGNORECASE)
_NO_GRAPH_TABLE = (
    "GRAPH_TABLE needs DuckDB's extension duckpgq, which is not installed here; use entity, neighbours and "
    "paths of the Python API, or WITH RECURSIVE over facts (source_id, label, target_id)"
)


class Refused(Exception):
    """The query may not run, and why."""


def main() -> None:
    """Answer the one request."""
    request = json.loads(sys.stdin.buffer.read())
    connection = duckdb.connect(config=CONFIG)
    try:
        matching = load(connection, request)
        _limit(connection, request)
        lock(connection)
        check(connection, request["sql"], matching)
        answer = _run(connection, request)
    except Refused as error:
        answer = {"error": str(error)}
    except (duckdb.OutOfMemoryException, MemoryError):
        answer = {"memory": True}
    except duckdb.Error as error:
        answer = {"error": _in_one_line(str(error))}
    sys.stdout.write(json.dumps(answer))


def load(connection: duckdb.DuckDBPyConnection, request: dict[str, Any]) -> bool:
    """Make the table, its views and, where DuckPGQ is installed, the property graph; whether it is."""
    connection.execute("set timezone = 'UTC'; set enable_progress_bar = false")
    connection.execute(
        "create table facts as select * replace (properties::json as properties) from read_parquet($1)",
        [request["triples"]],
    )
    connection.execute(_VIEWS)
    if not _GRAPH_TABLE.search(request["sql"]):
        return False
    try:
        connection.execute(f"set extension_directory = '{request['extensions']}'")
        connection.execute("load duckpgq")
    except duckdb.Error:
        return False
    connection.execute(_GRAPH)
    return True


def lock(connection: duckdb.DuckDBPyConnection) -> None:
    """Close DuckDB's doors: files, network, secrets, and the settings themselves."""
    for setting in _LOCKS:
        connection.execute(setting)


def _limit(connection: duckdb.DuckDBPyConnection, request: dict[str, Any]) -> None:
    """Bound memory and processor time, by DuckDB's means and the operating system's; forbid files to grow."""
    ((used,),) = connection.execute(
        "select sum(memory_usage_bytes) from duckdb_memory()"
    ).fetchall()
    connection.execute(f"set memory_limit = '{used + request['memory']} bytes'")
    with contextlib.suppress(ImportError):  # Windows has no such limits
        import resource

        spent = resource.getrusage(resource.RUSAGE_SELF)
        seconds = int(spent.ru_utime + spent.ru_stime) + 1 + request["seconds"]
        for limit, value in (
            (resource.RLIMIT_CPU, seconds),
            (resource.RLIMIT_FSIZE, 0),
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_AS, _address_space() + request["memory"]),
        ):
            with contextlib.suppress(ValueError, OSError):  # macOS refuses some of them
                resource.setrlimit(limit, (value, value))


def _address_space() -> int:
    """The bytes of address space in use; far more than there is where the system does not tell."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
        return pages * resource.getpagesize()
    except (ImportError, OSError):
        return 1 << 40


def check(connection: duckdb.DuckDBPyConnection, sql: str, matching: bool) -> None:
    """Let a single SELECT pass that takes its rows from tables. Raises Refused, duckdb.Error."""
    asks_graph = bool(_GRAPH_TABLE.search(sql))
    if asks_graph and not matching:
        raise Refused(_NO_GRAPH_TABLE)
    statements = connection.extract_statements(sql)
    if len(statements) != 1:
        raise Refused(f"must be one statement, not {len(statements)}")
    if statements[0].type != duckdb.StatementType.SELECT:
        raise Refused(f"must be a SELECT, not {statements[0].type.name}")
    if statements[0].named_parameters:
        raise Refused("must not have parameters")
    ((serialized,),) = connection.execute(
        "select json_serialize_sql($1)", [sql]
    ).fetchall()
    tree = json.loads(serialized)
    if tree["error"] and not asks_graph:
        raise Refused("must be a plain SELECT")
    called = set(_table_functions(tree)) - TABLE_FUNCTIONS
    if called or (
        asks_graph
        and re.search(r"_scan|\bquery\b|_map_function|_execute_", sql, re.IGNORECASE)
    ):
        raise Refused(
            f"must not call {', '.join(sorted(called)) or 'table functions'} in FROM"
        )


def _table_functions(tree: Any) -> Any:
    """The functions in FROM anywhere in the tree. A loop, for the tree may be deeper than Python's stack."""
    open_ = [tree]
    while open_:
        node = open_.pop()
        if isinstance(node, dict):
            if node.get("type") == "TABLE_FUNCTION":
                yield str(node["function"].get("function_name", "?")).lower()
            open_ += node.values()
        elif isinstance(node, list):
            open_ += node


def _run(
    connection: duckdb.DuckDBPyConnection, request: dict[str, Any]
) -> dict[str, Any]:
    # SELECT is no promise: a CTE may delete. A read-only transaction is.
    connection.execute("begin transaction read only")
    connection.execute(request["sql"])
    kinds = [
        (column[0], str(column[1]) == "JSON") for column in connection.description or ()
    ]
    rows: list[list[Any]] = []
    size = 0
    while fetched := connection.fetchmany(100):
        for row in fetched:
            rows.append(
                [
                    _plain(value, is_json)
                    for value, (_, is_json) in zip(row, kinds, strict=True)
                ]
            )
            size += len(json.dumps(rows[-1]))
            if len(rows) > request["rows"]:
                raise Refused(f"gives more than {request['rows']:,} rows; add a LIMIT")
            if size > request["bytes"]:
                raise Refused(
                    f"gives more than {request['bytes']:,} bytes; select less"
                )
    return {"columns": [name for name, _ in kinds], "rows": rows}


def _plain(value: Any, is_json: bool = False) -> Any:
    """The value as JSON has it: times in ISO 8601, what JSON cannot say as text."""
    if is_json and isinstance(value, str):
        return json.loads(value)
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else str(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, datetime) and value.tzinfo:
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, date | time | datetime):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    return float(value) if isinstance(value, Decimal) else str(value)


def _in_one_line(message: str) -> str:
    """DuckDB's first line, without its name for the sort of error where that says nothing."""
    first = message.strip().split("\n")[0]
    return first if len(first) <= 300 else first[:300] + "…"


if __name__ == "__main__":
    main()
