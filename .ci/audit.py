"""Look up known vulnerabilities of the locked packages with pip-audit; exit 1 if there is one.

pip-audit reports success if its database knows none of the packages. This script says NOT
AUDITED instead, with exit 0, so that a build without a network can pass.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

UNREACHABLE = "NOT AUDITED: the advisory database cannot be reached, or knows none of the packages"


def verdict(report: dict[str, Any] | None) -> tuple[int, list[str]]:
    """Return the exit code and the lines to print for pip-audit's report; None if it wrote none."""
    packages = report["dependencies"] if report else []
    audited = [package for package in packages if "skip_reason" not in package]
    if not audited:
        return 0, [UNREACHABLE]
    found = [
        _finding(package, flaw)
        for package in audited
        for flaw in package["vulns"]
    ]
    skipped = [
        f"{each['name']}: {each['skip_reason']}"
        for each in packages
        if "skip_reason" in each
    ]
    summary = f"{len(audited)} of {len(packages)} packages audited, {len(found)} known vulnerabilities"
    return int(bool(found or skipped)), [*found, *skipped, summary]


def _finding(package: dict[str, Any], flaw: dict[str, Any]) -> str:
    fixed = ", ".join(flaw["fix_versions"]) or "no version yet"
    return f"{package['name']} {package['version']}: {flaw['id']}, fixed in {fixed}"


def audit(pip_audit: str, lock_file: str) -> dict[str, Any] | None:
    """Return pip-audit's report on a lock file, or None if it wrote none; install nothing."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.json"
        command = [
            pip_audit,
            "-r",
            lock_file,
            "--require-hashes",
            "--disable-pip",
            "--timeout",
            "15",
        ]
        subprocess.run(
            [*command, "--progress-spinner", "off", "-f", "json", "-o", path],
            check=False,
        )
        return json.loads(path.read_text()) if path.exists() else None


if __name__ == "__main__":
    code, lines = verdict(audit(sys.argv[1], sys.argv[2]))
    print("\n".join(lines))
    sys.exit(code)
