"""`varve costs`, and what other commands say about costs."""

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from varve.api.memory import Memory
from varve.cli.output import format_count, print_result, say
from varve.domain.calendar import parse_instant, start_of_day
from varve.domain.costs import CostRow, Costs, format_dollars
from varve.domain.errors import Rejected, VarveError, rename_field
from varve.domain.usage import STORE_REQUESTS, Item, ModelUsage

_HEADINGS = (
    *("workspace", "agent", "verb", "requests", "bytes", "model calls"),
    *("tokens in", "tokens out", "embedded", "dollars"),
)
_NAMES = 3
"""Columns of text; the others hold numbers."""


def add_costs(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `varve costs`."""
    command.add_argument(
        "--since",
        metavar="T",
        help="first day, ISO 8601; default: the beginning of the calendar month",
    )
    command.add_argument(
        "--all",
        action="store_true",
        dest="everyone",
        help="all workspaces of the store, and the work that is no agent's",
    )


def costs(options: argparse.Namespace, memory: Memory) -> None:
    """Print what the workspace's agents have used, with estimated dollars.

    Raises Rejected: `--since` is no time, or lies after today.
    """
    since = None
    if options.since is not None:
        since = _parse_since(options.since, memory)
    with rename_field({"since": "--since"}):
        found = memory.costs(since=since, everyone=options.everyone)
    print_result(options, found.to_dict(), _format_costs(found))


@contextmanager
def folding(opened: Callable[[], Sequence[Memory]]) -> Iterator[None]:
    """Write at the end the costs and the logged searches of the memories opened.

    If that fails it says so, unless the command has failed: then it may be for the same reason.
    """
    failed = True
    try:
        yield
        failed = False
    finally:
        for memory in opened():
            try:
                memory.sessions.searches.flush()
                memory.sessions.costs.fold()
            except VarveError as error:
                if not failed:
                    say(f"varve: warning: the costs are not counted: {error}")


def format_usage(usage: ModelUsage) -> Iterator[str]:
    """Yield a line about the models' use, if there was any."""
    if usage.calls:
        calls = format_count(usage.calls, "call")
        yield (
            f"model: {calls}, {usage.prompt_tokens:,} tokens in, "
            f"{usage.completion_tokens:,} out"
        )


def format_budget(report: dict[str, Any]) -> Iterator[str]:
    """Yield the part of the month's budget that is spent, and what waits for the model."""
    budget = report["budget"]
    if budget is not None:
        state = "SPENT: rules alone read" if budget["isSpent"] else "spent"
        amount = f"${budget['spent']:.2f} of ${budget['limit']:.2f} in {budget['month']}"
        yield f"  {'budget':<10}{amount} {state}"
    if report["waiting"]:
        waiting = format_count(report["waiting"], "part")
        yield (
            f"  {'model':<10}{waiting} of memory to read when there is budget: "
            "varve ingest --catch-up"
        )


def _parse_since(text: str, memory: Memory) -> datetime:
    try:
        if len(text) == len("2026-11-22"):
            zone = ZoneInfo(memory.setting("timezone"))
            return start_of_day(date.fromisoformat(text), zone)
        return parse_instant(text)
    except ValueError as error:
        raise Rejected(
            "--since", f"{text[:40]!r} is not a day or time"
        ) from error


def _format_costs(found: Costs) -> Iterator[str]:
    rows = found.by_verb()
    yield f"{found.since} to {found.until}: {format_dollars(found.dollars)} estimated"
    if not rows:
        yield "nothing was counted: a directory has no requests, and no model was asked"
        return
    yield from _format_table([_HEADINGS, *map(_cells, rows)])
    if found.unpriced:
        models = ", ".join(found.unpriced)
        yield f"without a price, and not in the dollars: {models} (costs.prices)"
    yield "list prices, without free tiers and discounts; not verified on a bill"


def _cells(row: CostRow) -> tuple[str, ...]:
    requests = sum(row.count(item) for item in STORE_REQUESTS)
    moved = row.count(Item.BYTES_READ) + row.count(Item.BYTES_WRITTEN)
    numbers = [
        requests,
        moved,
        row.count(Item.MODEL_CALLS),
        row.count(Item.TOKENS_IN),
        row.count(Item.TOKENS_OUT),
        row.count(Item.EMBEDDING_TOKENS),
    ]
    names = (row.workspace or "-", row.agent or "-", row.verb)
    return (
        *names,
        *(f"{number:,}" for number in numbers),
        format_dollars(row.dollars),
    )


def _format_table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = []
        for place, (cell, width) in enumerate(zip(row, widths, strict=True)):
            is_name = place < _NAMES
            cells.append(cell.ljust(width) if is_name else cell.rjust(width))
        yield "  " + "  ".join(cells).rstrip()
