"""What the dependency audit makes of pip-audit's answers: silence is no clean bill."""

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / ".ci" / "audit.py"


@pytest.fixture(scope="module")
def audit() -> ModuleType:
    spec = importlib.util.spec_from_file_location("ci_audit", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def package(name: str, *flaws: str) -> dict[str, Any]:
    found = [{"id": flaw, "fix_versions": ["1.1"]} for flaw in flaws]
    return {"name": name, "version": "1.0", "vulns": found}


SKIPPED = {"name": "lost", "skip_reason": "not found"}


@pytest.mark.parametrize(
    "report",
    [None, {"dependencies": []}, {"dependencies": [SKIPPED, SKIPPED]}],
)
def test_a_database_that_does_not_answer_is_said_and_does_not_fail(
    audit: ModuleType, report: dict[str, Any] | None
) -> None:
    code, lines = audit.verdict(report)
    assert code == 0
    assert lines[0].startswith("NOT AUDITED")


def test_a_known_vulnerability_fails_and_is_named(audit: ModuleType) -> None:
    code, lines = audit.verdict(
        {"dependencies": [package("safe"), package("flawed", "CVE-2026-1")]}
    )
    assert code == 1
    assert lines[0] == "flawed 1.0: CVE-2026-1, fixed in 1.1"


def test_a_package_that_alone_is_unknown_fails(audit: ModuleType) -> None:
    code, lines = audit.verdict({"dependencies": [package("safe"), SKIPPED]})
    assert (code, lines[0]) == (1, "lost: not found")


def test_without_findings_it_says_how_many_were_audited(
    audit: ModuleType,
) -> None:
    assert audit.verdict({"dependencies": [package("safe")]}) == (
        0,
        ["1 of 1 packages audited, 0 known vulnerabilities"],
    )
