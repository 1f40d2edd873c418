"""What functions pay for their start, beside `import lancedb`: `python benchmarks/cold_start.py [--quick]`.

Fresh processes in turn, medians; seconds are the processor's, all threads of the process, for the machine is
shared. The store is a directory. The first invocation of each function is its common one: a conversation, a
conversation on the queue, its turns on the queue, a pass, a due day, a pass, a question. Libraries are those
that are loaded after it. `.pyc` files are there.
"""

import argparse
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import tokens
from fleet import HEAVY, Fleet, Invocation, fleet
from round_trips import turns
from traffic import machine, markdown

from varve.adapters.lance_cache.records import LanceRecords
from varve.adapters.models.wordllama_embedder import WordLlamaEmbedder
from varve.adapters.objects.store import local_objects
from varve.domain.calendar import Grain
from varve.domain.identity import Scope

SIZES = (100, 10_000)
ALONE = """
import sys, time
import lancedb
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(time.process_time(), int(status["VmHWM"].split()[0]) / 1024)
"""
Row = list[object]


def alone() -> tuple[float, float]:
    """The processor's seconds of a process that imports LanceDB and no more, and its peak MB."""
    done = subprocess.run(
        [sys.executable, "-c", ALONE],
        capture_output=True,
        text=True,
        check=True,
    )
    seconds, megabytes = map(float, done.stdout.split())
    return seconds, megabytes


def events(running: Fleet) -> Iterator[tuple[str, str, Callable[[], Any]]]:
    """What each function is first invoked with, in the order in which one brings about the next."""
    spoken = next(tokens.days(1))
    night = (tokens.FIRST + timedelta(days=1)).date().isoformat()
    yield "ingest", "ingest", lambda: spoken
    yield "extract", "extract", lambda: next(running.batches("ingest", 1))
    yield "write", "write", lambda: max(running.batches("write"), key=_size)
    yield (
        "summarize, a pass",
        "summarize",
        lambda: {"grain": "daily", "scheduledTime": f"{night}T01:10:00Z"},
    )
    yield (
        "summarize, a day",
        "summarize",
        lambda: next(running.batches("summary", 1)),
    )
    yield (
        "cleanup, a pass",
        "cleanup",
        lambda: {"scheduledTime": f"{night}T05:40:00Z"},
    )
    yield "search", "search", lambda: question(tokens.AGENT)


def _size(event: dict[str, Any]) -> int:
    return sum(len(record["body"]) for record in event["Records"])


def question(scope: Scope) -> dict[str, Any]:
    """A direct call of the tool."""
    owner = {"workspaceId": scope.workspace, "agentId": scope.agent}
    return {
        **owner,
        "arguments": {"queryText": "which firm sent the invoice?"},
    }


def invoked(
    running: Fleet, name: str, event: Any
) -> tuple[Invocation, Invocation]:
    """The import and the first invocation of a new process."""
    with running.cold(name) as function:
        return function.imported, function(event)


def functions(runs: int) -> str:
    """Each function's import and first invocation."""
    taken: dict[str, list[tuple[float, float, float]]] = {}
    loaded: dict[str, tuple[str, ...]] = {}
    unit = []
    for _ in range(runs):
        unit.append(alone()[0])
        with (
            TemporaryDirectory() as folder,
            fleet(VARVE_STORE=folder) as running,
        ):
            for title, name, event in events(running):
                imported, first = invoked(running, name, event())
                taken.setdefault(title, []).append(
                    (imported.seconds, first.seconds, first.megabytes)
                )
                loaded[title] = first.heavy
    rows: list[Row] = [
        ["`import lancedb` alone", "1.00", "", "", f"{alone()[1]:.0f}"]
    ]
    for title, times in taken.items():
        imported, first, megabytes = map(median, zip(*times, strict=True))
        ratios = [
            f"{seconds / median(unit):.2f}"
            for seconds in (imported, first, imported + first)
        ]
        rows.append([title, *ratios, f"{megabytes:.0f}"])
    headings = [
        "function",
        "import",
        "first invocation",
        "together",
        "peak MB",
    ]
    libraries = [
        [name, *("x" if name in loaded[title] else "" for title in loaded)]
        for name in HEAVY
    ]
    shown = [row for row in libraries if any(row[1:])]
    return "\n\n".join(
        [markdown(headings, rows), markdown(["library", *loaded], shown)]
    )


def searches(runs: int) -> str:
    """Search from the start of its process to the first answer, by the size of the store."""
    rows: list[Row] = []
    for size in SIZES:
        with TemporaryDirectory() as folder:
            scope, store = (
                Scope("w", "a"),
                LanceRecords(folder, local_objects(Path(folder))),
            )
            store.upsert(
                scope,
                Grain.WORKING,
                list(turns(range(size))),
                WordLlamaEmbedder().model,
            )
            with fleet(VARVE_STORE=folder) as running:
                times = []
                for _ in range(runs):
                    unit, (imported, first) = (
                        alone()[0],
                        invoked(running, "search", question(scope)),
                    )
                    assert first.answer["results"]
                    times.append(
                        (
                            unit,
                            imported.seconds,
                            first.seconds,
                            first.megabytes,
                        )
                    )
        unit, imported_seconds, first_seconds, megabytes = map(
            median, zip(*times, strict=True)
        )
        together = imported_seconds + first_seconds
        ratios = [
            f"{seconds / unit:.2f}"
            for seconds in (imported_seconds, first_seconds, together)
        ]
        rows.append([size, *ratios, f"{together:.2f}", f"{megabytes:.0f}"])
    headings = [
        "records",
        "import",
        "first answer",
        "together",
        "seconds here",
        "peak MB",
    ]
    return markdown(headings, rows)


def main() -> None:
    """Read the options, run, print Markdown."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="once each")
    options = parser.parse_args()
    runs = 1 if options.quick else options.runs
    print(machine(), flush=True)
    note = f"ratios to the processor's time of `import lancedb`, medians of {runs}"
    print(
        "",
        f"**Search, import to first answer** ({note})",
        searches(runs),
        sep="\n\n",
        flush=True,
    )
    print(
        "", f"**Functions** ({note})", functions(runs), sep="\n\n", flush=True
    )


if __name__ == "__main__":
    main()
