"""The completion scripts, in the shells that read them."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.screen import read_until
from varve.cli.main import main


@pytest.fixture
def script(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> Path:
    """The completion script for the shell that the test names."""
    shell = request.param
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    assert main(["completion", shell]) == 0
    path = tmp_path / f"varve.{shell}"
    path.write_text(capsys.readouterr().out)
    return path


def run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("script", ["bash"], indirect=True)
@pytest.mark.parametrize(
    ("words", "proposed"),
    [
        ("varve summ", ["summarize"]),
        ("varve search --max-r", ["--max-results"]),
        ("varve summarize --grain q", ["quarterly"]),
        ("varve ingest --format cl", ["claude", "claude-code"]),
        ("varve graph q", ["query"]),
    ],
)
def test_bash_completes(script: Path, words: str, proposed: list[str]) -> None:
    given = words.split()
    lines = f"""
source {script}
COMP_WORDS=({words}) COMP_CWORD={len(given) - 1}
_shtab_varve varve {given[-1]} {given[-2]}
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    assert run("bash", "--norc", "-c", lines).split() == proposed


@pytest.mark.parametrize("script", ["fish"], indirect=True)
def test_fish_completes(script: Path) -> None:
    def propose(words: str) -> list[str]:
        lines = run(
            "fish",
            "--no-config",
            "-c",
            f"source {script}; complete -C '{words}'",
        )
        return [line.partition("\t")[0] for line in lines.splitlines()]

    assert propose("varve summ") == ["summarize"]
    assert propose("varve search --max-r") == ["--max-results"]
    assert propose("varve summarize --grain q") == ["quarterly"]


@pytest.mark.parametrize("script", ["zsh"], indirect=True)
def test_zsh_completes(script: Path) -> None:
    shell, terminal = pty.fork()
    if shell == 0:
        os.environ.update(TERM="dumb", PS1="", HOME=str(script.parent))
        os.execvp("zsh", ["zsh", "-f", "-i"])
    try:
        setup = f"autoload -U compinit; compinit -D; source {script}; compdef _shtab_varve varve"
        show = 'varve() { print -r -- "<$*>" }; print ready-$((1 + 1))'
        os.write(terminal, f"{setup}; {show}\n".encode())
        read_until(terminal, b"ready-2")
        os.write(terminal, b"varve summ\t\n")
        read_until(terminal, b"<summarize>")
    finally:
        os.close(terminal)
        os.waitpid(shell, 0)
