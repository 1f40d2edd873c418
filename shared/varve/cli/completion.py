"""`varve completion`: a script with which a shell completes commands and options."""

import argparse
from collections.abc import Iterator

from varve.domain.calendar import SUMMARY_GRAINS, Grain
from varve.importers.names import NAMES

SHELLS = ("bash", "zsh", "fish")
_VALUES: dict[tuple[str, str], tuple[str, ...]] = {
    ("ingest", "--format"): NAMES,
    ("search", "--grain"): ("auto", *Grain),
    ("summarize", "--grain"): SUMMARY_GRAINS,
}
"""Values that commands check themselves, by command and option."""


def add_completion(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `varve completion`."""
    command.add_argument(
        "shell", choices=SHELLS, help="shell that will read the script"
    )


def print_completion(
    root: argparse.ArgumentParser, options: argparse.Namespace
) -> None:
    """Print the script for the commands of a parser, which is changed for it."""
    import shtab

    for name, command in _list_commands(root):
        for action in command._actions:
            for option in action.option_strings:
                action.choices = _VALUES.get((name, option), action.choices)
            _complete_paths(action)
    print(shtab.complete(root, shell=options.shell))


def _list_commands(
    root: argparse.ArgumentParser,
) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in root._actions:
        if isinstance(action.choices, dict):
            yield from action.choices.items()


def _complete_paths(action: argparse.Action) -> None:
    """Have the shell propose files or directories where an argument is one."""
    import shtab

    kind = str(action.metavar)
    if kind == "FILE":
        action.complete = shtab.FILE  # type: ignore[attr-defined]
    if kind in ("DIR", "PATH|URI"):
        action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
