"""Rules that keep the tree readable: who writes, who reads the clock, how long files are.

Import-linter checks which package may import which (`make lint`).
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LIBRARY = ROOT / "shared" / "varve"
HANDLERS = sorted((ROOT / "functions").glob("*/app.py"))
MODULES = sorted(LIBRARY.rglob("*.py"))
ALL = [*MODULES, *sorted((ROOT / "functions").rglob("*.py"))]

HANDLER_LINES, FUNCTION_LINES, MODULE_LINES = 45, 60, 400


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def imports(path: Path) -> Iterator[str]:
    """Every module a file imports, wherever the statement stands; names from a package in full."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, (
                f"{name(path)}:{node.lineno} imports relatively"
            )
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def mentions(path: Path) -> set[str]:
    """Every identifier in a file's code: names, attributes, and what is imported."""
    nodes = list(ast.walk(tree(path)))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    names |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    quoted = {
        node.value
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    return (
        names
        | quoted
        | {module.rpartition(".")[2] for module in imports(path)}
    )


def test_invariant_4_only_write_takes_a_writer() -> None:
    allowed = {
        "shared/varve/ports/records.py",
        "shared/varve/ports/graph.py",
        "shared/varve/ports/knowledge.py",
        "shared/varve/ports/transfer.py",
        "shared/varve/usecases/write/commits.py",
        "shared/varve/usecases/write/write.py",
        "shared/varve/wiring/queues.py",
        "shared/varve/wiring/sessions.py",
    }
    writers = {
        "MemoryWriter",
        "GraphWriter",
        "ProfileWriter",
        "VectorWriter",
        "WriterSession",
    }
    found = {name(path) for path in ALL if mentions(path) & writers}
    assert found - allowed == set()
    assert "shared/varve/usecases/write/commits.py" in found


def clock_readings(path: Path) -> Iterator[str]:
    """Where a file asks the machine for the time, however it imported the means."""
    told = {"now", "utcnow", "today"}
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Attribute) and isinstance(
            node.value, ast.Name | ast.Attribute
        ):
            owner = (
                node.value.id
                if isinstance(node.value, ast.Name)
                else node.value.attr
            )
            if (owner in {"datetime", "date"} and node.attr in told) or (owner, node.attr) in {
                ("time", "time"), ("time", "time_ns"),
            }:  # fmt: skip
                yield f"{name(path)}:{node.lineno} {owner}.{node.attr}"
    yield from (
        f"{name(path)} imports {m}"
        for m in imports(path)
        if m in {"time.time", "time.time_ns"}
    )


def test_only_the_clock_tells_the_time() -> None:
    clock = LIBRARY / "wiring" / "clock.py"
    assert [
        reading
        for path in ALL
        if path != clock
        for reading in clock_readings(path)
    ] == []
    assert list(clock_readings(clock))


def test_no_error_is_caught_without_its_name() -> None:
    def broad(handler: ast.ExceptHandler) -> bool:
        if handler.type is None:
            return True
        caught = {
            node.id
            for node in ast.walk(handler.type)
            if isinstance(node, ast.Name)
        }
        return bool(caught & {"Exception", "BaseException"})

    found = [
        f"{name(path)}:{node.lineno}"
        for path in ALL
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ExceptHandler) and broad(node)
    ]
    assert found == []


def test_there_is_a_handler_to_look_at() -> None:
    assert {path.parent.name for path in HANDLERS} >= {
        "ingest",
        "extract",
        "write",
        "search",
    }


@pytest.mark.parametrize("path", HANDLERS, ids=lambda path: path.parent.name)
def test_a_handler_is_thin_and_knows_neither_clients_nor_the_environment(
    path: Path,
) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) < HANDLER_LINES
    assert not {"boto3", "botocore", "os"} & {
        module.partition(".")[0] for module in imports(path)
    }
    assert any(
        isinstance(node, ast.FunctionDef) and node.name == "lambda_handler"
        for node in tree(path).body
    )


def test_every_file_of_the_functions_is_short() -> None:
    files = sorted((ROOT / "functions").rglob("*.py"))
    sizes = {
        name(one): len(one.read_text("utf-8").splitlines()) for one in files
    }
    assert {
        one: size for one, size in sizes.items() if size > HANDLER_LINES
    } == {}


Function = ast.FunctionDef | ast.AsyncFunctionDef


def length(function: Function) -> int:
    """The lines of a function from `def` to its end, its docstring left out."""
    lines = (function.end_lineno or function.lineno) - function.lineno + 1
    first = function.body[0]
    if ast.get_docstring(function) is not None:
        lines -= (first.end_lineno or first.lineno) - first.lineno + 1
    return lines


def test_no_function_is_longer_than_a_screen() -> None:
    found = [
        f"{name(path)}:{node.lineno} {node.name} has {length(node)} lines"
        for path in ALL
        for node in ast.walk(tree(path))
        if isinstance(node, Function) and length(node) > FUNCTION_LINES
    ]
    assert found == []


def test_no_module_is_longer_than_four_hundred_lines() -> None:
    sizes = {
        name(path): len(path.read_text(encoding="utf-8").splitlines())
        for path in ALL
    }
    assert {
        path: size for path, size in sizes.items() if size > MODULE_LINES
    } == {}


def test_a_class_name_means_one_thing() -> None:
    files = defaultdict(list)
    for path in ALL:
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ClassDef):
                files[node.name].append(f"{name(path)}:{node.lineno}")
    assert {
        one: places for one, places in files.items() if len(places) > 1
    } == {}


def test_only_the_command_line_prints() -> None:
    found = [
        f"{name(path)}:{node.lineno}"
        for path in ALL
        if "cli" not in path.relative_to(ROOT).parts
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
    ]
    assert found == []


def test_invariant_9_the_library_writes_to_no_log() -> None:
    verbs = {
        "debug",
        "info",
        "warning",
        "warn",
        "error",
        "exception",
        "critical",
        "log",
    }
    found = [
        f"{name(path)}:{node.lineno}"
        for path in MODULES
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in verbs
        and ast.unparse(node.func.value).rpartition(".")[2]
        in {"logging", "logger", "log", "root", "warnings"}
    ]
    assert found == []


def test_every_module_says_what_it_is_for() -> None:
    silent = [
        name(path)
        for path in ALL
        if path.name != "__init__.py" and ast.get_docstring(tree(path)) is None
    ]
    assert silent == []
