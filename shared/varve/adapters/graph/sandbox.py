"""Untrusted SQL over triples or tables, in a locked-down process with hard limits.

DuckDB's own settings keep a query from files, network and settings, but do not bound memory
and time: `repeat('x', 1e9)` exceeds its memory limit and ignores interrupts. A process can
be limited and killed.
"""

import importlib.util
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, BinaryIO

from varve.domain.errors import Misconfigured, Rejected
from varve.domain.graph import QueryLimits, QueryResult

MAX_SQL = 20_000
_PROGRAM = Path(__file__).with_name("query_process.py")
_MB = 1_000_000


def query(data: bytes, sql: str, limits: QueryLimits) -> QueryResult:
    """Run one SELECT over the triples in a Parquet object's bytes.

    The tables are `facts` with the object's columns, `entities` (id) and `aliases`
    (alias, entity). Raises Rejected, with field `sql`: the query is not allowed, or it
    exceeds a limit; Misconfigured: the system has no such processes.
    """
    # The file has no name, so nothing is left behind after a crash.
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.flush()
        return _ask(file, "triples", sql, limits)


def query_database(
    file: BinaryIO, sql: str, limits: QueryLimits
) -> QueryResult:
    """Run one SELECT over the tables of a DuckDB file, which may have lost its name.

    Raises as `query`.
    """
    return _ask(file, "database", sql, limits)


def check_sql(sql: str) -> None:
    """Check the query without running it. Raises as `query`."""
    if not sql.strip():
        raise Rejected("sql", "is empty")
    if len(sql) > MAX_SQL:
        raise Rejected("sql", f"is longer than {MAX_SQL:,} characters")
    if sys.platform == "win32":
        raise Misconfigured("graph query: needs Linux or macOS")


def _ask(
    file: BinaryIO, kind: str, sql: str, limits: QueryLimits
) -> QueryResult:
    """Run the process over a file of the kind: `triples` or `database`."""
    check_sql(sql)
    answer = _run_process(file, kind, sql, limits)
    if "error" in answer:
        raise Rejected("sql", answer["error"])
    if "memory" in answer:
        raise _too_much_memory(limits)
    columns = tuple(answer["columns"])
    rows = tuple(map(tuple, answer["rows"]))
    return QueryResult(columns, rows)


def _run_process(
    file: BinaryIO, kind: str, sql: str, limits: QueryLimits
) -> dict[str, Any]:
    extensions = Path.home() / ".duckdb" / "extensions"
    request = {
        "sql": sql,
        kind: _path_for_child(file),
        "extensions": str(extensions).replace("'", "''"),
        "memory": limits.memory,
        "seconds": limits.seconds,
        "rows": limits.rows,
        "bytes": limits.bytes,
    }
    try:
        body = json.dumps(request, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise Rejected("sql", "is not valid Unicode") from error
    with subprocess.Popen(
        [sys.executable, "-I", "-B", str(_PROGRAM), *_library_folders()],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        pass_fds=[file.fileno()],
        env={},
        start_new_session=True,
    ) as process:
        try:
            answer, _ = process.communicate(body, timeout=limits.seconds)
        except subprocess.TimeoutExpired as error:
            raise Rejected(
                "sql", f"took longer than {limits.seconds} seconds"
            ) from error
        finally:
            process.kill()
    return _read_answer(answer, process.returncode, limits)


def _path_for_child(file: BinaryIO) -> str:
    """Return the path by which a child process opens the inherited file."""
    folders = (
        "/proc/self/fd",
        "/dev/fd",
    )  # some systems have only one of them
    folder = next(folder for folder in folders if Path(folder).is_dir())
    return f"{folder}/{file.fileno()}"


def _read_answer(
    answer: bytes, code: int, limits: QueryLimits
) -> dict[str, Any]:
    """Return the process's answer.

    Raises Rejected: the system ended the process for its processor time or memory.
    """
    if code == 0:
        read: dict[str, Any] = json.loads(answer)
        return read
    if code == -_SIGXCPU:
        raise Rejected(
            "sql",
            f"took longer than {limits.seconds} seconds of processor time",
        )
    raise _too_much_memory(limits)


def _too_much_memory(limits: QueryLimits) -> Rejected:
    return Rejected(
        "sql", f"needs more than {limits.memory // _MB:,} MB of memory"
    )


_SIGXCPU = 24


def _library_folders() -> list[str]:
    """Return the folders of DuckDB's package and of its binary module.

    An isolated interpreter searches only its own site-packages.
    """
    folders = set()
    package = importlib.util.find_spec("duckdb")
    if package is not None and package.origin:
        folders.add(str(Path(package.origin).parents[1]))
    binary = importlib.util.find_spec("_duckdb")
    if binary is not None and binary.origin:
        folders.add(str(Path(binary.origin).parent))
    return sorted(folders)
