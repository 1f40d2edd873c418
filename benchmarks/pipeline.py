"""What each step asks of S3, files after many writes, imports: `python benchmarks/pipeline.py [--quick]`.

Counts are from a counting S3 with 30 ms added to every request: `depth` is the largest set of requests
of which no two overlap, a measured stand-in for sequential round trips. Offline extractor, embedded
embedder (256 dimensions, float16). `cold` is a new Application, `warm` one that did the same before.
`--only requests|files|imports` runs one part; `--writes` changes the amount.
Searches and writes by the size of a store are in `round_trips.py`.
"""

import argparse
import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np
from counting_s3 import KINDS, CountingS3, Counts
from traffic import Deployment, conversation, machine, markdown

from varve.adapters.lance.upkeep import Upkeep
from varve.adapters.lance_cache.records import LanceRecords
from varve.adapters.models.wordllama_embedder import WordLlamaEmbedder
from varve.adapters.objects.store import local_objects
from varve.domain.calendar import Grain
from varve.domain.conversation import Conversation, parse_conversation
from varve.domain.identity import Scope
from varve.domain.record import EmbeddedRecord, MemoryType, Record

PROJECT = Path(__file__).parents[1]
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
DELAY = 0.03
EMBEDDER = WordLlamaEmbedder()
HEADINGS = ["step", "requests", *KINDS, "depth", "KB in", "KB out"]
Row = list[object]


@dataclass(slots=True)
class Measured:
    """The rows of one table, and how they come about."""

    s3: CountingS3
    rows: list[Row]

    def of(self, name: str, run: Callable[[], object]) -> Counts:
        """Run it and note what it asked for."""
        counts = self.s3.counted(run, DELAY)
        self.rows.append(_row(name, counts))
        return counts


def _row(name: str, counts: Counts) -> Row:
    sizes = [counts.bytes_in / 1e3, counts.bytes_out / 1e3]
    return [
        name,
        counts.requests,
        *map(counts.kind, KINDS),
        counts.depth,
        *sizes,
    ]


def ingesting(s3: CountingS3) -> str:
    """One conversation of six messages, function by function, and one more of the same agent."""
    measured = Measured(s3, [])
    deployment = Deployment(lambda: NOW, "ingest")
    for name in (
        "first conversation",
        "next conversation, warm",
        "next conversation, cold",
    ):
        if name.endswith("cold"):
            deployment.restart()
        spoken = parse_conversation(
            conversation("a", len(measured.rows)) | {"workspaceId": "w"}
        )
        _ingest(measured, deployment, name, spoken)
    return "**Ingest of one conversation of six messages**\n\n" + markdown(
        HEADINGS, measured.rows
    )


def _ingest(
    measured: Measured, deployment: Deployment, name: str, spoken: Conversation
) -> None:
    queues = deployment.queues
    measured.of(f"{name}: ingest", lambda: deployment.reading.ingest([spoken]))
    measured.of(
        f"{name}: extract",
        lambda: deployment.reading.extract(queues["ingest"].take()),
    )
    measured.of(f"{name}: write, graph included", deployment.write)


def files(writes: int) -> str:
    """Files of a store in a directory after so many writes of one record each, and the most on the way."""
    words, upkeep, scope = random.Random(7), Upkeep(), Scope("w", "a")
    with TemporaryDirectory() as folder:
        records = LanceRecords(
            folder, local_objects(Path(folder)), upkeep=upkeep
        )
        most = 0
        for number in range(writes):
            vector = np.asarray(
                [words.gauss(0, 1) for _ in range(16)], dtype=np.float32
            )
            plain = next(_plain(number))
            records.upsert(
                scope,
                Grain.WORKING,
                [EmbeddedRecord(plain, vector)],
                "random:16",
            )
            if number % 7 == 0 or number == writes - 1:
                most = max(most, _files(folder))
        rows: list[Row] = [[writes, _files(folder), most, _bound(upkeep)]]
    headings = [
        "single writes",
        "files at the end",
        "most on the way",
        "bound of the policy",
    ]
    return f"**Files under one store** ({upkeep})\n\n" + markdown(
        headings, rows
    )


def _plain(number: int) -> Iterator[Record]:
    yield Record(
        id=f"r-{number:08}",
        memory_type=MemoryType.TURN,
        content=f"Dana: message number {number}",
        period="2026-11-20",
        event_time=NOW + timedelta(seconds=number),
        created_at=NOW,
        source_ids=(f"m-{number}",),
    )


def _files(folder: str) -> int:
    return sum(1 for path in Path(folder).rglob("*") if path.is_file())


def _bound(upkeep: Upkeep) -> int:
    """As tests/contract/test_lance_upkeep.py has it: what the versions that stay may leave.

    Four files for each version, two versions and an index of at most twelve files for each compaction.
    """
    writes = upkeep.max_versions + upkeep.max_fragments
    compactions = writes // upkeep.max_fragments + 1
    return 4 * (writes + 2 * compactions) + 12 * (compactions + 1)


CHILD = """
import json, sys, time
started = time.perf_counter()
{statement}
seconds = time.perf_counter() - started
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(json.dumps([seconds, int(status["VmHWM"].split()[0]), len(sys.modules)]))
"""
IMPORTS = {
    "lancedb": "import lancedb",
    "varve.adapters.lance_cache.records": "import varve.adapters.lance_cache.records",
    "nothing": "pass",
    **{
        f"functions.{name}.app": f"import functions.{name}.app"
        for name in (
            "ingest",
            "extract",
            "write",
            "summarize",
            "cleanup",
            "search",
        )
    },
    "functions.search.app, then the first use of LanceDB": (
        "import functions.search.app, varve.adapters.lance_cache.records, varve.adapters.objects.store"
    ),
}


def imports(runs: int) -> str:
    """Import times in fresh processes, in turn, as ratios to `import lancedb`; seconds are this machine's."""
    taken: dict[str, list[list[float]]] = {name: [] for name in IMPORTS}
    for _ in range(runs):
        for name, statement in IMPORTS.items():
            taken[name].append(_child(statement))
    middle = {
        name: [median(column) for column in zip(*times, strict=True)]
        for name, times in taken.items()
    }
    unit = middle["lancedb"][0]
    rows: list[Row] = [
        [
            name,
            f"{seconds / unit:.2f}",
            f"{seconds:.2f}",
            round(rss / 1024),
            int(modules),
        ]
        for name, (seconds, rss, modules) in middle.items()
    ]
    headings = [
        "import",
        "ratio",
        "s (here, under load)",
        "peak RSS MB",
        "modules",
    ]
    return (
        f"**Imports**, median of {runs} fresh processes each\n\n"
        + markdown(headings, rows)
    )


def _child(statement: str) -> list[float]:
    done = subprocess.run(
        [sys.executable, "-c", CHILD.format(statement=statement)],
        capture_output=True,
        text=True,
        check=True,
        cwd=PROJECT,
    )
    return [float(value) for value in json.loads(done.stdout.splitlines()[-1])]


def requests() -> Iterator[str]:
    """The tables of requests."""
    with CountingS3() as s3, s3.as_aws():
        yield ingesting(s3)


def main() -> None:
    """Read the options, run, print Markdown."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--only", choices=("requests", "files", "imports"))
    parser.add_argument("--writes", type=int, default=10_000)
    parser.add_argument(
        "--quick", action="store_true", help="300 writes, 1 run"
    )
    options = parser.parse_args()
    if options.quick:
        options.writes = 300
    print(machine(), flush=True)
    if options.only in (None, "requests"):
        for text in requests():
            print("", text, sep="\n\n", flush=True)
    if options.only in (None, "files"):
        print("", files(options.writes), sep="\n\n", flush=True)
    if options.only in (None, "imports"):
        print("", imports(1 if options.quick else 7), sep="\n\n", flush=True)


if __name__ == "__main__":
    main()
