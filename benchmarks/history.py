"""A history from a file into a directory: `python benchmarks/history.py [--quick]`.

`varve ingest` stores generated conversations of twenty messages, with the embedded models: once
in one process, once with a process for each processor. Seconds are of the whole command, memory is
that of the largest process.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from traffic import conversation, machine, markdown

BEGAN = datetime(2025, 1, 1, 9, tzinfo=UTC)
MESSAGES_EACH = 20
USERS = 5
MEGABYTE = 2**20


@dataclass(frozen=True, slots=True)
class Run:
    """What one `varve ingest` took: seconds, and megabytes of the largest process."""

    seconds: float
    megabytes: float


def write_history(file: Path, messages: int) -> None:
    """Write conversations of an agent, one an hour, a JSON object on each line."""
    with file.open("w") as lines:
        for number in range(messages // MESSAGES_EACH):
            given = conversation("support", number, MESSAGES_EACH)
            at = BEGAN + timedelta(hours=number)
            told = {
                **given,
                "agentId": "support",
                "userId": f"u-{number % USERS}",
                "startedAt": at.isoformat(),
            }
            lines.write(json.dumps(told) + "\n")


def ingest(file: Path, store: Path, workers: int) -> Run:
    """Run `varve ingest` as a process of its own."""
    command = (
        *(sys.executable, "-m", "varve", "ingest", str(file)),
        *("--format", "varve", "--store", str(store)),
        *("--agent", "support", "--workers", str(workers)),
    )
    started = perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as child:
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    seconds = perf_counter() - started
    if child.returncode:
        raise SystemExit(f"varve ingest ended with {child.returncode}")
    return Run(seconds, used.ru_maxrss * 1024 / MEGABYTE)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a row for each number of processes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--quick", action="store_true", help="10,000 messages")
    options = parser.parse_args(arguments)
    messages = 10_000 if options.quick else options.messages
    print(machine())
    print(markdown(HEADINGS, measure(messages)))


HEADINGS = (
    "processes",
    "messages",
    "file, MB",
    "seconds",
    "messages a second",
    "largest process, MB",
)


def measure(messages: int) -> list[list[object]]:
    """Return a row for one process, and for one on each processor."""
    rows: list[list[object]] = []
    with TemporaryDirectory() as folder:
        file = Path(folder, "history.jsonl")
        write_history(file, messages)
        size = file.stat().st_size / MEGABYTE
        for workers in (1, os.cpu_count() or 1):
            run = ingest(file, Path(folder, f"store-{workers}"), workers)
            rows.append(
                [
                    workers,
                    messages,
                    round(size, 1),
                    round(run.seconds, 1),
                    round(messages / run.seconds),
                    round(run.megabytes),
                ]
            )
    return rows


if __name__ == "__main__":
    main()
