"""`varve report`: a workspace's month as Markdown."""

import argparse
from collections.abc import Iterable, Iterator, Sequence

from varve.api.memory import Memory
from varve.cli.output import print_result
from varve.domain.costs import format_dollars
from varve.domain.monthly_report import MEASURES, MonthlyReport
from varve.domain.usage import STORE_REQUESTS, Item

PROVED = {True: "yes", False: "NO", None: "not asked"}


def add_report(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `varve report`."""
    command.add_argument(
        "--month",
        metavar="M",
        required=True,
        help="calendar month, such as 2026-10",
    )


def report(options: argparse.Namespace, memory: Memory) -> None:
    """Print the month of the workspace. Raises Rejected: `--month` is none."""
    found = memory.report(options.month)
    print_result(options, found.to_dict(), _format_report(found))


def _format_report(found: MonthlyReport) -> Iterator[str]:
    yield f"# {found.workspace}, {found.month}"
    yield ""
    yield "Counts of what memory still holds of the month."
    yield ""
    yield from _format_agents(found)
    yield ""
    yield "## Costs"
    yield ""
    yield f"{format_dollars(found.costs.dollars)} at list prices, estimated."
    yield ""
    yield from _format_costs(found)
    yield ""
    yield "## Erasures"
    yield ""
    yield from _format_erasures(found)


def _format_agents(found: MonthlyReport) -> Iterator[str]:
    rows = []
    for one in found.agents:
        rows.append(
            [one.agent, *(str(one.figures[name]) for name in MEASURES)]
        )
    yield from _format_table(["agent", *MEASURES], rows)


def _format_costs(found: MonthlyReport) -> Iterator[str]:
    rows = []
    for row in found.costs.by_verb():
        requests = sum(row.count(item) for item in STORE_REQUESTS)
        tokens = row.count(Item.TOKENS_IN) + row.count(Item.TOKENS_OUT)
        dollars = format_dollars(row.dollars)
        rows.append(
            [row.agent or "-", row.verb, str(requests), str(tokens), dollars]
        )
    yield from _format_table(
        ["agent", "verb", "requests", "tokens", "dollars"], rows
    )


def _format_erasures(found: MonthlyReport) -> Iterator[str]:
    rows = []
    for one in found.erasures:
        complete = "yes" if one.complete else "NO"
        rows.append([one.agent, one.receipt, complete, PROVED[one.proved]])
    yield from _format_table(["agent", "receipt", "complete", "proved"], rows)


def _format_table(
    headings: Sequence[str], rows: Iterable[Sequence[str]]
) -> Iterator[str]:
    lines = [f"| {' | '.join(row)} |" for row in rows]
    if not lines:
        yield "None."
        return
    yield f"| {' | '.join(headings)} |"
    yield f"|{' --- |' * len(headings)}"
    yield from lines
