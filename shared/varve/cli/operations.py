"""`varve dlq`: the dead letters of the queues."""

import argparse
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from varve.api.administration import Administration
from varve.cli.output import format_count, print_result, say
from varve.domain.errors import Rejected

_NO_QUEUES = "no queues are configured (VARVE_*_QUEUE_URL), so there are no dead letters"


def add_dlq(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `varve dlq`."""
    command.add_argument(
        "action",
        choices=["list", "show", "redrive", "drop"],
        help="list all, show ID, send ID… back to their queue (redrive), or delete "
        "ID… (drop)",
    )
    command.add_argument(
        "ids", nargs="*", metavar="ID", help="id of a dead letter"
    )
    command.add_argument(
        "--queue",
        metavar="Q",
        help="only dead letters of this queue: ingest, write or summary",
    )
    command.add_argument(
        "--all", action="store_true", help="redrive or drop all dead letters"
    )
    command.add_argument(
        "--content",
        action="store_true",
        help="show the message too, without its secrets",
    )
    command.add_argument(
        "--yes",
        action="store_true",
        help="confirm drop --all, which loses messages",
    )


def dlq(options: argparse.Namespace) -> None:
    """List, show, redrive or drop dead letters."""
    administration = Administration.open(options.store)
    if not administration.queues:
        say(f"varve: {_NO_QUEUES}")
    act = _ACTIONS[options.action]
    act(options, administration)


def _list(options: argparse.Namespace, administration: Administration) -> None:
    letters = administration.dead_letters(options.queue)
    print_result(options, letters, map(_format_letter, letters))


def _show(options: argparse.Namespace, administration: Administration) -> None:
    if len(options.ids) != 1:
        raise Rejected("dlq show", "needs one ID")
    letter = administration.dead_letter(
        options.ids[0], content=options.content
    )
    print_result(options, letter, _format_fields(letter))


def _redrive(
    options: argparse.Namespace, administration: Administration
) -> None:
    sent = administration.redrive(_choose_ids(options), options.queue)
    letters = format_count(len(sent), "dead letter")
    print_result(options, {"redriven": sent}, [f"{letters} sent back"])


def _drop(options: argparse.Namespace, administration: Administration) -> None:
    if options.all and not options.yes:
        raise Rejected(
            "dlq drop --all", "loses the messages; confirm with --yes"
        )
    dropped = administration.drop(_choose_ids(options), options.queue)
    letters = format_count(len(dropped), "dead letter")
    print_result(options, {"dropped": dropped}, [f"{letters} dropped"])


_ACTIONS: dict[str, Callable[[argparse.Namespace, Administration], None]] = {
    "list": _list,
    "show": _show,
    "redrive": _redrive,
    "drop": _drop,
}


def _choose_ids(options: argparse.Namespace) -> list[str] | None:
    """Return the ids given; None with `--all`. Raises Rejected: both or neither."""
    if bool(options.ids) == options.all:
        raise Rejected(f"dlq {options.action}", "needs IDs, or --all")
    return None if options.all else options.ids


def _format_letter(letter: Mapping[str, Any]) -> str:
    reason = letter["reason"]
    if letter["errorType"]:
        reason = f"{letter['errorType']}: {reason}"
    size = format_count(letter["bytes"], "byte")
    return f"{letter['id']}  {letter['queue']}  {letter['sentAt']}  {size}  {reason}"


def _format_fields(letter: Mapping[str, Any]) -> Iterator[str]:
    for name, value in letter.items():
        if value is not None:
            text = ", ".join(value) if isinstance(value, list) else value
            yield f"{name}: {text}"
