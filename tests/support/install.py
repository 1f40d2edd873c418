"""The image without a container: the install, sources, bytecode and environment of the Dockerfile."""

from __future__ import annotations

import hashlib
import importlib.metadata
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from filelock import FileLock

PROJECT = Path(__file__).parents[2]
BUILD = PROJECT / ".build"
LOCK = PROJECT / "requirements.lock"
SOURCES = {
    "varve": PROJECT / "shared" / "varve",
    "functions": PROJECT / "functions",
}
_QUIETLY = ("--quiet", "--disable-pip-version-check", "--no-compile")
RUNTIME_CLIENT = "awslambdaric"  # the base image brings it; the project's lock file need not


@dataclass(frozen=True)
class Image:
    """Where the functions run: their root (Lambda's /var/task), an interpreter, and what ENV lines set."""

    root: Path
    python: Path
    environment: Mapping[str, str]


def install(
    lock: Path = LOCK,
    build: Path = BUILD,
    sources: Mapping[str, Path] = SOURCES,
) -> Image:
    """Libraries are cached by what is locked; the project's own sources are copied when they have changed."""
    if not lock.exists():
        raise FileNotFoundError(
            f"{lock.name} is missing: the image, and so the rehearsal, installs nothing else"
        )
    build.mkdir(parents=True, exist_ok=True)
    python = base_interpreter(build)
    root = _libraries(lock, build)
    with _one_at_a_time(build):
        for name, source in sources.items():
            _copy_afresh(source, root / name, python)
    return Image(root, python, image_environment())


def base_interpreter(build: Path = BUILD) -> Path:
    """A bare interpreter with the runtime client and nothing else: it plays the base image's Python."""
    client = importlib.metadata.version(RUNTIME_CLIENT)
    home = (
        build
        / f"python-{sys.version_info.major}.{sys.version_info.minor}-{RUNTIME_CLIENT}-{client}"
    )
    _build_into(home, _make_interpreter)
    return home / "bin" / "python"


def image_environment(
    dockerfile: Path = PROJECT / "Dockerfile",
) -> dict[str, str]:
    """The ENV lines of the Dockerfile."""
    text = (
        dockerfile.read_text().replace("\\\n", " ")
        if dockerfile.exists()
        else ""
    )
    words = [
        word
        for line in re.findall(r"^ENV (.+)$", text, re.MULTILINE)
        for word in shlex.split(line)
    ]
    return {
        key: value for key, _, value in (word.partition("=") for word in words)
    }


def _libraries(lock: Path, build: Path) -> Path:
    tag = (
        f"{sys.version_info.major}.{sys.version_info.minor}\n".encode()
        + lock.read_bytes()
    )
    root = build / f"image-{hashlib.sha256(tag).hexdigest()[:16]}"
    _build_into(root, partial(_install_locked, lock), compiled=True)
    return root


def _install_locked(lock: Path, target: Path) -> None:
    """Install with uv, which takes a quarter of pip's time; with pip where uv is missing or fails."""
    wanted = ["--target", str(target), "--require-hashes", "-r", str(lock)]
    uv = shutil.which("uv", path=str(Path(sys.executable).parent))
    if uv:
        python = ["--python", sys.executable]
        done = subprocess.run(
            [uv, "pip", "install", "--quiet", *python, *wanted],
            capture_output=True,
        )
        if not done.returncode:
            return
        shutil.rmtree(target, ignore_errors=True)
    _run(sys.executable, "-m", "pip", "install", *_QUIETLY, *wanted)


def _build_into(
    home: Path, make: Callable[[Path], None], *, compiled: bool = False
) -> None:
    """Build beside and rename: what stands under its own name is complete, whatever broke off before."""
    with _one_at_a_time(home.parent):
        if home.exists():
            return
        draft = home.with_name(f"{home.name}.part")
        shutil.rmtree(draft, ignore_errors=True)
        make(draft)
        if compiled:
            _compile(draft, Path(sys.executable))
        draft.rename(home)


def _one_at_a_time(build: Path) -> FileLock:
    """The tests run in several processes, which share what is built."""
    return FileLock(build / "install.lock")


def _make_interpreter(home: Path) -> None:
    _run(sys.executable, "-m", "venv", "--without-pip", str(home))
    (site,) = home.glob("lib/python*/site-packages")
    for name in sorted(set(_closure(RUNTIME_CLIENT))):
        _copy_distribution(name, site)


def _closure(name: str) -> Iterator[str]:
    """A distribution and what it needs, as installed here."""
    yield name
    for requirement in importlib.metadata.requires(name) or []:
        if "extra ==" not in requirement:
            yield from _closure(
                re.split(r"[^\w.-]", requirement, maxsplit=1)[0]
            )


def _copy_distribution(name: str, site: Path) -> None:
    for file in importlib.metadata.files(name) or []:
        if ".." not in file.parts and file.suffix != ".pyc":
            target = site / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(str(file.locate()), target)


def _copy_afresh(source: Path, target: Path, python: Path) -> None:
    """Leave what is the same where it is: another process may be running it."""
    if _texts(source) == _texts(target):
        return
    draft = target.with_name(f".{target.name}.part")
    shutil.rmtree(draft, ignore_errors=True)
    shutil.copytree(
        source, draft, ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.rmtree(target, ignore_errors=True)
    draft.rename(target)
    _compile(target, python)


def _texts(root: Path) -> dict[Path, bytes]:
    """Every file but bytecode, by its path below the root."""
    files = (
        path
        for path in root.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    )
    return {path.relative_to(root): path.read_bytes() for path in files}


def _compile(root: Path, python: Path) -> None:
    # As in the Dockerfile: unchecked, because nobody edits an image's sources.
    _run(
        str(python),
        "-m",
        "compileall",
        "-q",
        "-f",
        "--invalidation-mode",
        "unchecked-hash",
        str(root),
    )


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(
            f"{' '.join(command[:4])} … failed:\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
        )
