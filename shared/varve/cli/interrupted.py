"""What a command says when Ctrl-C ends it."""

import sys

INTERRUPTED = 130
"""The exit code that shells give a program ended by SIGINT."""


def say_interrupted() -> None:
    """Say that the same command goes on where this one ended."""
    print(
        "varve: interrupted; run it again to go on",
        file=sys.stderr,
        flush=True,
    )
