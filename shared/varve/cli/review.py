"""`varve review`."""

import argparse
from collections.abc import Iterator

from varve.api.memory import Memory
from varve.cli.forgetting import tell_tellings, tell_whole_messages
from varve.cli.output import fit_line, format_count, print_result
from varve.domain.review import DoubtfulStatement, NotCompared, Review


def add_review(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `varve review`."""
    command.add_argument(
        "--days",
        metavar="N",
        type=int,
        default=90,
        help="list what nothing has confirmed for N days; default: 90",
    )
    command.add_argument(
        "--most",
        metavar="N",
        type=int,
        default=50,
        help="most statements to list; default: 50",
    )
    command.add_argument(
        "--user",
        metavar="U",
        help="list this user's statements and proposals alone",
    )


def review(options: argparse.Namespace, memory: Memory) -> None:
    """Print what a person should confirm, correct or erase. Raises Rejected."""
    found = memory.review(
        days=options.days, most=options.most, user_id=options.user
    )
    print_result(options, found.to_dict(), _format_review(found))


def _format_review(found: Review) -> Iterator[str]:
    for one in found.statements:
        yield from _format_statement(one)
    if found.statements:
        yield "say what holds with: varve correct ID TEXT"
    for proposal in found.proposals:
        count = format_count(len(proposal["statements"]), "statement")
        yield f"proposal {proposal['proposal']}: {count} to forget"
        for statement in proposal["statements"]:
            words = fit_line(statement["content"])
            yield f"  {statement['date']}  {words}{tell_tellings(statement)}"
            yield from tell_whole_messages(statement)
        yield f"  erase with: varve forget --proposal {proposal['proposal']}"
    if not found.statements and not found.proposals:
        yield "nothing to review"
    yield from map(_format_left, found.not_compared)
    if not found.complete and not found.not_compared:
        yield "there may be more; see --most"


def _format_left(left: NotCompared) -> str:
    whose = f"user {left.user_id}" if left.user_id else "no user"
    count = format_count(left.records, "record")
    return f"not compared: {count} of {whose}, too many to hold at once"


def _format_statement(one: DoubtfulStatement) -> Iterator[str]:
    against = one.contradicted_by
    yield f"{one.id}  confirmed {one.confirmed_at[:10]}"
    yield f"  {one.date}  {fit_line(one.content)}"
    yield f"  but {against.date}  {fit_line(against.content)}"
