"""Untrusted SQL over an agent's triples: a process of its own, locked down, with hard limits.

DuckDB's own lock-down keeps a query from files, network and settings, but not from memory and time:
`repeat('x', 1e9)` passes its memory limit and hears no interrupt. A process can be limited and killed.
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

    The tables: `facts` with the object's columns, `entities` (id) and `aliases` (alias, entity).
    Raises Rejected: with field `sql` and why it may not run, or which limit it passed. Misconfigured:
    the system has no such processes.
    """
    if not sql.strip():
        raise Rejected("sql", "is empty")
    if len(sql) > MAX_SQL:
        raise Rejected("sql", f"is longer than {MAX_SQL:,} characters")
    if sys.platform == "win32":
        raise Misconfigured("graph query: needs Linux or macOS")
    with (
        tempfile.TemporaryFile() as file
    ):  # has no name: nothing is left behind, whatever happens
        file.write(data)
        file.flush()
        answer = _answer(file, sql, limits)
    if "error" in answer:
        raise Rejected("sql", answer["error"])
    if "memory" in answer:
        raise _too_much_memory(limits)
    return QueryResult(tuple(answer["columns"]), tuple(map(tuple, answer["rows"])))


def _answer(file: BinaryIO, sql: str, limits: QueryLimits) -> dict[str, Any]:
    request = {
        "sql": sql,
        "triples": _path(file),
        "extensions": str(Path.home() / ".duckdb" / "extensions").replace("'", "''"),
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
    return _read(answer, process.returncode, limits)


def _path(file: BinaryIO) -> str:
    """The path by which a child opens the inherited file; some systems have only the one or the other."""
    folder = next(
        folder for folder in ("/proc/self/fd", "/dev/fd") if Path(folder).is_dir()
    )
    return f"{folder}/{file.fileno()}"


def _read(answer: bytes, code: int, limits: QueryLimits) -> dict[str, Any]:
    """The process's answer, or what its end means: the system ends it for time and for memory."""
    if code == 0:
        read: dict[str, Any] = json.loads(answer)
        return read
    if code == -_SIGXCPU:
        raise Rejected(
            "sql", f"took longer than {limits.seconds} seconds of processor time"
        )
    raise _too_much_memory(limits)


def _too_much_memory(limits: QueryLimits) -> Rejected:
    return Rejected("sql", f"needs more than {limits.memory // _MB:,} MB of memory")


_SIGXCPU = 24


def _library_folders() -> list[str]:
    """Where DuckDB lies: an isolated interpreter looks into its own site-packages alone."""
    package, binary = (
        importlib.util.find_spec("duckdb"),
        importlib.util.find_spec("_duckdb"),
    )
    folders = {Path(package.origin).parents[1] if package and package.origin else None}
    folders.add(Path(binary.origin).parent if binary and binary.origin else None)
    return sorted(str(folder) for folder in folders if folder)
