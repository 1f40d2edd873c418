"""`varve remember` and `varve correct`."""

import argparse

from varve.api.ingested import Ingested
from varve.api.memory import Memory
from varve.cli.output import format_count, print_result, say
from varve.cli.understood import format_requests
from varve.domain.calendar import parse_instant_field


def add_remember(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `varve remember`."""
    command.add_argument(
        "text", metavar="TEXT", help="the statement to remember"
    )
    command.add_argument(
        "--user", metavar="U", help="user whose statement it is"
    )
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
    _print_told(options, told)


def correct(options: argparse.Namespace, memory: Memory) -> None:
    """Correct a fact or turn. Raises Rejected: there is none of this id."""
    told = memory.correct(options.id, options.text)
    _print_told(options, told)


def _print_told(options: argparse.Namespace, told: Ingested) -> None:
    lines = [_describe(told), *format_requests(told.forget_requests)]
    print_result(options, told.to_dict(), lines)
    for message in told.accepted.partly_filtered:
        say(f"varve: warning: {message}")


def _describe(told: Ingested) -> str:
    if told.stored is None:
        return "sent to the ingest queue"
    if told.stored.forgotten:
        return "refused: this memory has forgotten this statement"
    if not told.stored.messages:
        return "known already; nothing new"
    turns = format_count(told.stored.turns, "turn")
    facts = format_count(told.stored.facts, "fact")
    return f"remembered; new: {turns}, {facts}"
