"""Known vulnerabilities in what the lock file installs, by pip-audit; exit 1 where there is one.

pip-audit calls it a success when its database answers for no package at all. Here that is said for what
it is, NOT AUDITED, with exit 0, so that a build without a network is not held up by one it has not got.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

OUT_OF_REACH = "NOT AUDITED: the advisory database cannot be reached, or knows none of the packages"


def verdict(report: dict[str, Any] | None) -> tuple[int, list[str]]:
    """The exit code and what to say, from pip-audit's JSON report; None: it could not write one."""
    packages = report["dependencies"] if report else []
    audited = [package for package in packages if "skip_reason" not in package]
    if not audited:
        return 0, [OUT_OF_REACH]
    found = [
        _finding(package, flaw) for package in audited for flaw in package["vulns"]
    ]
    skipped = [
        f"{each['name']}: {each['skip_reason']}"
        for each in packages
        if "skip_reason" in each
    ]
    said = f"{len(audited)} of {len(packages)} packages audited, {len(found)} known vulnerabilities"
    return int(bool(found or skipped)), [*found, *skipped, said]


def _finding(package: dict[str, Any], flaw: dict[str, Any]) -> str:
    fixed = ", ".join(flaw["fix_versions"]) or "nothing yet"
    return f"{package['name']} {package['version']}: {flaw['id']}, fixed in {fixed}"


def audit(pip_audit: str, lock_file: str) -> dict[str, Any] | None:
    """pip-audit's report on a lock file, installing nothing."""
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
