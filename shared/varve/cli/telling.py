"""`varve remember` and `varve correct`."""

import argparse

from varve.api.memory import Memory
from varve.cli.output import format_count, print_result
from varve.domain.calendar import parse_instant_field


def add_remember(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `varve remember`."""
    command.add_argument("text", metavar="TEXT", help="the statement to remember")
    command.add_argument("--user", metavar="U", help="user whose statement it is")
    command.add_argument(
        "--at", metavar="T", help="when it was said, ISO 8601; default: now"
    )


def add_correct(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `varve correct`."""
    command.add_argument("id", metavar="ID", help="id of a fact or turn")
    command.add_argument("text", metavar="TEXT", help="what holds instead")


def remember(options: argparse.Namespace, memory: Memory) -> None:
    """Remember one statement. Raises Rejected."""
    at = parse_instant_field(options.at, "--at") if options.at else None
    told = memory.remember(options.text, user_id=options.user, at=at)
    print_result(options, told.to_dict(), [_describe(told.to_dict())])


def correct(options: argparse.Namespace, memory: Memory) -> None:
    """Correct a fact or turn. Raises Rejected: there is none of this id."""
    told = memory.correct(options.id, options.text)
    print_result(options, told.to_dict(), [_describe(told.to_dict())])


def _describe(told: dict[str, dict[str, int] | None]) -> str:
    stored = told["stored"]
    if stored is None:
        return "sent to the ingest queue"
    if not stored["messages"]:
        return "known already; nothing new"
    return f"remembered; new: {format_count(stored['facts'], 'fact')}"
