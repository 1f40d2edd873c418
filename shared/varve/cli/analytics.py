"""`varve sql`: a query over a workspace's tables."""

import argparse

from varve.api.memory import Memory
from varve.cli.elsewhere import name_other_memories
from varve.cli.graph import format_table
from varve.cli.output import print_result


def add_sql(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `varve sql`."""
    command.add_argument(
        "query",
        metavar="QUERY",
        help="one SELECT over turns, facts, summaries, triples, episodes and lessons",
    )


def sql(options: argparse.Namespace, memory: Memory) -> None:
    """Print the rows of a query. Raises Rejected: the SQL is refused."""
    rows = memory.sql(options.query)
    print_result(options, rows, format_table(rows))
    if not rows and not memory.agents():
        name_other_memories(memory)
