"""The canary: how it names what the newest LanceDB, pyarrow or DuckDB broke."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

PROJECT = Path(__file__).parents[2]
SCRIPT = PROJECT / ".ci" / "contract_next.py"
OUTPUT = """\
..F.
=========================== short test summary info ============================
FAILED tests/contract/test_replica.py::test_a_manifest - UnknownFormat: another
ERROR tests/contract/test_graph.py - ImportError: duckdb
2 failed, 3 passed in 1.00s
"""


@pytest.fixture(scope="module")
def canary() -> ModuleType:
    spec = importlib.util.spec_from_file_location("ci_contract_next", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_failed_test_and_every_file_that_does_not_load_is_named(
    canary: ModuleType,
) -> None:
    assert canary.failures(OUTPUT) == [
        "FAILED tests/contract/test_replica.py::test_a_manifest - UnknownFormat: another",
        "ERROR tests/contract/test_graph.py - ImportError: duckdb",
    ]
    assert canary.failures("4 passed in 1.00s") == []


def test_the_locked_versions_of_the_three_are_known(
    canary: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(PROJECT)
    for package in canary.CANARIES:
        assert canary.locked_version(package)[0].isdigit()
    assert canary.locked_version("nothing") == "not locked"


def test_without_a_registry_it_says_so_and_does_not_fail(
    canary: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture,
) -> None:
    monkeypatch.setattr(canary, "make_environment", lambda _folder: None)
    assert canary.main(PROJECT) == 0
    assert capsys.readouterr().out.startswith("NOT RUN")
