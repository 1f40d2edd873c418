"""The public interface: named parameters, a typed example, errors that say what to do."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import varve
from varve import AsyncMemory, Memory, Misconfigured, Rejected, Retryable
from varve.cli.main import warn_of_namesake

PROJECT = Path(__file__).parents[2]
EXAMPLE = PROJECT / "examples" / "assistant.py"
MISSPELT = """
import varve
memory = varve.Memory.open("memory")
memory.search("Porto", limit=5)  # type: ignore[call-arg]
memory.search("Porto", grain="weekley")  # type: ignore[arg-type]
memory.search("Porto").results[0].contnet  # type: ignore[attr-defined]
async def find(memory: varve.AsyncMemory) -> None:
    await memory.search("Porto", limit=5)  # type: ignore[call-arg]
"""


def public_methods(owner: type) -> list[tuple[str, inspect.Signature]]:
    """Return the public methods that a class defines, with their signatures."""
    members = inspect.getmembers(owner, inspect.isfunction)
    return [
        (n, inspect.signature(f)) for n, f in members if not n.startswith("_")
    ]


@pytest.mark.parametrize("owner", [Memory, AsyncMemory])
def test_every_parameter_of_the_public_interface_has_a_name(
    owner: type,
) -> None:
    for name, signature in public_methods(owner):
        kinds = {parameter.kind for parameter in signature.parameters.values()}
        assert inspect.Parameter.VAR_KEYWORD not in kinds, name


def test_help_of_search_explains_every_parameter() -> None:
    told = inspect.getdoc(Memory.search) or ""
    for name in inspect.signature(Memory.search).parameters:
        if name not in {"self", "query_text", "now"}:
            assert f"`{name}`" in told, name


def test_the_package_ships_its_types() -> None:
    assert (Path(varve.__file__).parent / "py.typed").exists()


def test_a_users_program_passes_mypy_strict_and_misspelt_names_fail(
    tmp_path: Path,
) -> None:
    """An ignored line that has no error fails under --strict."""
    wrong = tmp_path / "wrong.py"
    wrong.write_text(MISSPELT)
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file="]
    checked = subprocess.run(
        [
            *command,
            "--follow-imports=silent",
            "--cache-dir",
            tmp_path,
            EXAMPLE,
            wrong,
        ],
        capture_output=True,
        text=True,
        env={"MYPYPATH": str(PROJECT / "shared"), "PATH": ""},
    )
    assert checked.returncode == 0, checked.stdout


def test_each_error_says_whether_to_try_again() -> None:
    assert Retryable("busy").retryable
    assert not Rejected("field", "reason").retryable
    assert not Misconfigured("VARVE_LLM").retryable


def test_a_namesake_in_the_same_folder_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "varve_memory-0.1.0.dist-info").mkdir()
    warn_of_namesake(tmp_path)
    assert capsys.readouterr().err == ""
    (tmp_path / "varve-0.7.0.dist-info").mkdir()
    warn_of_namesake(tmp_path)
    assert "pip uninstall varve" in capsys.readouterr().err
