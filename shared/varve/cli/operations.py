"""The operator's commands: dead letters."""

import argparse
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from varve.api.administration import Administration
from varve.cli.output import as_json, say
from varve.domain.errors import Rejected

_NO_QUEUES = "there are no queues here (VARVE_*_QUEUE_URL is not set), so there are no dead letters"


def dlq(options: argparse.Namespace) -> None:
    """Look at the dead letters, send them back, or drop them."""
    administration = Administration.open(options.store)
    if not administration.queues:
        say(f"varve: {_NO_QUEUES}")
    match options.action:
        case "list":
            letters = administration.dead_letters(options.queue)
            _print(options, letters, map(_line, letters))
        case "show":
            (id_,) = options.ids if len(options.ids) == 1 else _needs("show", "one ID")
            letter = administration.dead_letter(id_, content=options.content)
            _print(options, letter, _lines(letter))
        case "redrive":
            done = administration.redrive(_ids(options), options.queue)
            _print(
                options,
                {"redriven": done},
                [f"{len(done)} sent back to where they came from"],
            )
        case _:
            if options.all and not options.yes:
                raise Rejected(
                    "dlq drop --all", "loses what is in them; say --yes as well"
                )
            done = administration.drop(_ids(options), options.queue)
            _print(options, {"dropped": done}, [f"{len(done)} dropped"])


def add_dlq(command: argparse.ArgumentParser) -> None:
    """The arguments of `varve dlq`."""
    command.add_argument("action", choices=["list", "show", "redrive", "drop"])
    command.add_argument("ids", nargs="*", metavar="ID")
    command.add_argument(
        "--queue", metavar="Q", help="only this one's: ingest, write or summary"
    )
    command.add_argument(
        "--all", action="store_true", help="redrive or drop all of them"
    )
    command.add_argument(
        "--content",
        action="store_true",
        help="show the message too, without its secrets",
    )
    command.add_argument("--yes", action="store_true", help="drop all of them indeed")


def _ids(options: argparse.Namespace) -> list[str] | None:
    if bool(options.ids) == options.all:
        _needs(options.action, "IDs, or --all")
    return None if options.all else options.ids


def _needs(action: str, what: str) -> Any:
    raise Rejected(f"dlq {action}", f"needs {what}")


def _print(options: argparse.Namespace, value: Any, lines: Iterable[str]) -> None:
    text = as_json(value) if options.json else "\n".join(lines)
    if text:
        print(text)


def _line(letter: Mapping[str, Any]) -> str:
    why = (
        f"{letter['errorType']}: {letter['reason']}"
        if letter["errorType"]
        else letter["reason"]
    )
    return f"{letter['id']}  {letter['queue']}  {letter['sentAt']}  {letter['bytes']} bytes  {why}"


def _lines(letter: Mapping[str, Any]) -> Iterator[str]:
    for name, value in letter.items():
        if value is not None:
            yield f"{name}: {', '.join(value) if isinstance(value, list) else value}"
