"""Processes that begin their work together: each prints "ready" and waits for a line."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import IO

from tests.support.moto_process import PROJECT

Running = subprocess.Popen[str]


def run_together(module: str, root: str, count: int) -> list[tuple[str, str]]:
    """Run `module` in `count` processes; return each one's output and errors.

    The arguments of a process are `root` and its number, from 0.
    """
    command = [sys.executable, "-m", module, root]
    running = [start(*command, str(number)) for number in range(count)]
    try:
        for process in running:
            assert pipe(process.stdout).readline() == "ready\n"
        for process in running:
            pipe(process.stdin).write("go\n")
            pipe(process.stdin).flush()
        return [process.communicate(timeout=600) for process in running]
    finally:
        for process in running:
            process.kill()
            process.communicate()


def start(*command: str) -> Running:
    """Start a process of this project, with pipes of text."""
    return subprocess.Popen(
        command,
        cwd=PROJECT,
        env={**os.environ, "PYTHONPATH": f"{PROJECT}/shared:{PROJECT}"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def pipe(stream: IO[str] | None) -> IO[str]:
    """Return a stream of a process that was started with pipes."""
    assert stream is not None
    return stream


def begin_together() -> None:
    """Say that this process is ready, and wait until all others are."""
    print("ready", flush=True)
    sys.stdin.readline()
