"""Build the wheel, install it as a user would, and try it; print sizes and import times.

Needs the package registry. `python .ci/release.py wheel` only builds.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1]
BUILD = PROJECT / ".build"
WHEELS = BUILD / "dist"
VERSIONS = ("3.11", "3.12", "3.13")
"""Python versions with wheels of all dependencies; wordllama 0.4 has none for 3.14."""
NAMESAKE = "varve==0.7.0"
"""An unrelated project of the registry that installs a package of the same name."""
CONVERSATION = {
    "conversationId": "c-1",
    "messages": [
        {"role": "user", "name": "Dana", "content": "I live in Porto."}
    ],
}


def uv() -> str:
    """Return the path of uv, installed into an environment of its own on first use."""
    home = BUILD / "release"
    program = home / "bin" / "uv"
    if not program.exists():
        run(sys.executable, "-m", "venv", home)
        run(home / "bin" / "python", "-m", "pip", "install", "-q", "uv")
    return str(program)


def build_wheel() -> Path:
    """Build what a release would be, and return its path."""
    shutil.rmtree(WHEELS, ignore_errors=True)
    run(uv(), "build", "-q", "--wheel", "--out-dir", WHEELS, PROJECT)
    (wheel,) = WHEELS.glob("varve_memory-*.whl")
    return wheel


def list_extras() -> list[str]:
    """Return the names of the extras in pyproject.toml."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())[
        "project"
    ]
    return sorted(project["optional-dependencies"])


def resolve_all_extras() -> None:
    """Resolve all extras together, from wheels alone, for every Python version."""
    for version in VERSIONS:
        run(
            *(uv(), "pip", "compile", "-q", PROJECT / "pyproject.toml"),
            *("--all-extras", "--only-binary", ":all:"),
            *("--python-version", version, "-o", os.devnull),
        )
        print(f"{version}: all extras resolve together, from wheels")


def find_interpreters() -> dict[str, str]:
    """Return the installed interpreters by version; uv downloads none."""
    found = {}
    for version in VERSIONS:
        command = [uv(), "python", "find", "--no-python-downloads", version]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode == 0:
            found[version] = done.stdout.strip()
        else:
            print(f"{version}: not tried, there is no such interpreter here")
    return found


def make_environment(home: Path, interpreter: str, *packages: str) -> Path:
    """Install packages into a new environment; return its folder of programs."""
    run(uv(), "venv", "-q", "--python", interpreter, home)
    programs = home / "bin"
    run(
        uv(),
        "pip",
        "install",
        "-q",
        "--python",
        programs / "python",
        *packages,
    )
    return programs


def try_command(varve: Path, folder: Path) -> None:
    """Ingest a conversation and find it again with an installed command."""
    file = folder / "conversation.json"
    file.write_text(json.dumps(CONVERSATION))
    store = folder / "memory"
    run(varve, "ingest", file, "--store", store)
    found = run(varve, "search", "Where does Dana live?", "--store", store)
    assert "Porto" in found, found


def measure(home: Path) -> str:
    """Return the environment's size and the time of `import varve`, the least of five."""
    sizes = [file.stat().st_size for file in home.rglob("*") if file.is_file()]
    code = (
        "import time; before = time.perf_counter(); import varve; "
        "print(time.perf_counter() - before)"
    )
    python = home / "bin" / "python"
    least = min(float(run(python, "-c", code)) for _ in range(5))
    return f"{sum(sizes) / 1e6:.0f} MB installed, import varve {least:.2f} s"


def check_types(home: Path) -> None:
    """Check a user's program against the installed package with two type checkers."""
    programs = home / "bin"
    run(
        *(uv(), "pip", "install", "-q", "--python", programs / "python"),
        *("mypy", "basedpyright"),
    )
    program = PROJECT / "examples" / "assistant.py"
    run(programs / "mypy", "--strict", program)
    settings = home / "pyrightconfig.json"
    settings.write_text(
        json.dumps({"include": [str(program)], "typeCheckingMode": "standard"})
    )
    run(
        *(programs / "basedpyright", "--project", settings),
        *("--pythonpath", programs / "python"),
    )


def try_versions(
    wheel: Path, interpreters: dict[str, str], folder: Path
) -> None:
    """Install the wheel with each interpreter, with the oldest one also with all extras.

    What all extras together resolve to, each alone does too: none is installed alone.
    """
    for version, interpreter in interpreters.items():
        try_package(str(wheel), interpreter, folder / version / "no-extra")
    version, interpreter = next(iter(interpreters.items()))
    extras = ",".join(list_extras())
    try_package(
        f"{wheel}[{extras}]", interpreter, folder / version / "all-extras"
    )


def try_package(package: str, interpreter: str, home: Path) -> None:
    """Install a package into a new environment, use its command, and print the sizes."""
    programs = make_environment(home, interpreter, package)
    try_command(programs / "varve", home)
    print(f"{home.parent.name}, {home.name}: {measure(home)}")


def try_tool(wheel: Path, folder: Path) -> None:
    """Install the command with `uv tool install`."""
    places = {
        "UV_TOOL_DIR": str(folder / "tools"),
        "UV_TOOL_BIN_DIR": str(folder / "bin"),
    }
    run(uv(), "tool", "install", "-q", wheel, environment=places)
    try_command(folder / "bin" / "varve", folder)
    print("uv tool install: works")


def try_namesake(wheel: Path, interpreter: str, folder: Path) -> None:
    """Install the namesake first; the command must name it."""
    home = folder / "namesake"
    programs = make_environment(home, interpreter, NAMESAKE)
    run(uv(), "pip", "install", "-q", "--python", programs / "python", wheel)
    done = start(programs / "varve", "status", "--store", home / "memory")
    assert "pip uninstall varve" in done.stderr, done.stderr
    print("beside the namesake: the command says so")


def run(
    *command: str | Path, environment: dict[str, str] | None = None
) -> str:
    """Run a command and return its output. Raises SystemExit: it failed."""
    done = start(*command, environment=environment)
    if done.returncode:
        words = " ".join(str(word) for word in command)
        raise SystemExit(
            f"{words}\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
        )
    return done.stdout


def start(
    *command: str | Path, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command without the caller's PYTHONPATH, to its end."""
    variables = {**os.environ, **(environment or {})}
    variables.pop("PYTHONPATH", None)
    return subprocess.run(
        command, capture_output=True, text=True, env=variables
    )


def main() -> None:
    """Build and try the wheel."""
    wheel = build_wheel()
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB")
    if sys.argv[1:] == ["wheel"]:
        return
    resolve_all_extras()
    interpreters = find_interpreters()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try_versions(wheel, interpreters, folder)
        version, interpreter = next(iter(interpreters.items()))
        try_tool(wheel, folder)
        try_namesake(wheel, interpreter, folder)
        check_types(folder / version / "no-extra")
    print("the example passes mypy --strict and pyright against the wheel")


if __name__ == "__main__":
    main()
