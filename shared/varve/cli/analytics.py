"""`varve sql` and `varve publish`: a workspace's tables, queried or written as Parquet."""

import argparse
from collections.abc import Iterator
from typing import Any

from varve.api.memory import Memory
from varve.cli.elsewhere import name_other_memories
from varve.cli.graph import format_table
from varve.cli.output import format_count, print_result
from varve.cli.progress import show_progress
from varve.domain.analytics import TABLES


def add_sql(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `varve sql`."""
    command.add_argument(
        "query",
        metavar="QUERY",
        help=f"one SELECT over {', '.join(TABLES)}",
    )


def sql(options: argparse.Namespace, memory: Memory) -> None:
    """Print the rows of a query. Raises Rejected: the SQL is refused."""
    rows = memory.sql(options.query)
    print_result(options, rows, format_table(rows))
    if not rows and not memory.agents():
        name_other_memories(memory)


def add_publish(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `varve publish`."""
    command.add_argument(
        "target",
        metavar="DIR|s3://…",
        help="directory or s3://bucket/prefix outside the store",
    )
    command.add_argument(
        "--remove",
        action="store_true",
        help="delete the workspace's files there and publish there no more",
    )


def publish(options: argparse.Namespace, memory: Memory) -> None:
    """Bring the files of a target up to date, or remove them."""
    with show_progress() as progress:
        report = memory.publish(
            options.target, remove=options.remove, progress=progress
        )
    print_result(options, report, _format_published(report))
    if not report["agents"]["all"] and not options.remove:
        name_other_memories(memory)


def _format_published(report: dict[str, Any]) -> Iterator[str]:
    agents = report["agents"]
    files = report["files"]
    rows = format_count(report["rows"], "row")
    held = format_count(files["all"], "file")
    of_agents = format_count(agents["all"], "agent")
    yield f"{report['target']}: {rows} in {held} of {of_agents}"
    yield f"files written: {files['written']}; dropped: {files['dropped']}"
