"""Run the contract suites on the newest LanceDB, pyarrow and DuckDB; say what broke.

`python .ci/contract_next.py FOLDER` makes an environment in FOLDER from the lock file and
upgrades these three past the project's own limits. Exit 1: a test failed. Exit 0 without a
run if the registry cannot be reached.
"""

import os
import subprocess
import sys
import venv
from pathlib import Path

CANARIES = ("lancedb", "pyarrow", "duckdb")
LOCK_FILE = "requirements-dev.lock"
UNREACHABLE = "NOT RUN: the registry cannot be reached"


def make_environment(folder: Path) -> Path | None:
    """Return the environment's Python, or None if packages cannot be installed."""
    venv.create(folder, with_pip=True, clear=True)
    python = folder / "bin" / "python"
    install = [python, "-m", "pip", "install", "--quiet"]
    for packages in (["--requirement", LOCK_FILE], ["--upgrade", *CANARIES]):
        if subprocess.run([*install, *packages], check=False).returncode:
            return None
    return python


def version(python: Path, package: str) -> str:
    """Return the version of a package in the environment."""
    code = (
        f"from importlib.metadata import version; print(version({package!r}))"
    )
    return subprocess.run(
        [python, "-c", code], check=True, capture_output=True, text=True
    ).stdout.strip()


def locked_version(package: str) -> str:
    """Return the version of a package in the lock file."""
    for line in Path(LOCK_FILE).read_text().splitlines():
        name, _, rest = line.partition("==")
        if name == package:
            return rest.split()[0]
    return "not locked"


def failures(output: str) -> list[str]:
    """Return the lines of pytest's summary that name what broke."""
    lines = output.splitlines()
    return [line for line in lines if line.startswith(("FAILED ", "ERROR "))]


def main(folder: Path) -> int:
    """Run the suites; return the exit code."""
    python = make_environment(folder)
    if python is None:
        print(UNREACHABLE)
        return 0
    for package in CANARIES:
        newest = version(python, package)
        print(f"{package}: locked {locked_version(package)}, newest {newest}")
    command = [python, "-m", "pytest", "-q", "tests/contract"]
    paths = {**os.environ, "PYTHONPATH": "shared:."}
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, env=paths
    )
    broken = failures(done.stdout)
    if done.returncode and not broken:
        print(done.stdout[-4_000:] + done.stderr[-4_000:])
    print(
        "\n".join(broken) if broken else done.stdout.strip().splitlines()[-1]
    )
    print(f"{len(broken)} contracts broken")
    return int(done.returncode != 0)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
