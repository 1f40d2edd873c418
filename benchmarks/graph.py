"""The graph from a thousand to a million triples: `python benchmarks/graph.py [--quick]`.

For each size, over the counting S3: loading the Parquet object into DuckDB, everything about one entity,
two hops from it, one UPDATE written back; bytes and requests of each; the memory a process needs to read
and to write; and the lookup beside the same triples in networkx. Every triple carries the evidence that
extraction leaves with it. Times are medians, on a machine shared with others: read their ratios.
"""

import argparse
import json
import random
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import networkx
import pyarrow.parquet as pq
from counting_s3 import CountingS3
from traffic import machine, markdown

from varve.adapters.graph.parquet import ParquetGraph
from varve.adapters.graph.table import SCHEMA, GraphTable, to_table
from varve.adapters.objects.store import s3_objects
from varve.domain.identity import Scope
from varve.domain.triple import Op, Triple, TripleOperation

SIZES = (1_000, 10_000, 100_000, 1_000_000)
BUCKET, ROOT = "varve", "graph"
SCOPE = Scope("acme", "agent")
KEY = f"graphs/{SCOPE}/facts.parquet"
T0 = datetime(2025, 1, 1, tzinfo=UTC)
LABELS = (
    "likes",
    "knows",
    "owns",
    "uses",
    "visited",
    "lives_in",
    "works_at",
    "has_friend",
)
TRIES = 30
PIECE = 20_000


@dataclass(frozen=True, slots=True)
class Measured:
    """Of one size: bytes, milliseconds (medians), requests, and MB of memory at the peak."""

    triples: int
    object_bytes: int
    load: float
    entity: float
    two_hops: float
    reached: int
    networkx_build: float
    networkx_entity: float
    read_requests: int
    read_peak: float


@dataclass(frozen=True, slots=True)
class Written:
    """Of one size: a write-back's milliseconds, requests, bytes up and down, and MB at the peak."""

    write: float
    requests: str
    bytes_up: int
    bytes_down: int
    peak: float


def triples(count: int) -> Iterator[Triple]:
    """So many triples of a fifth as many entities; of the objects a few are hubs, as in life."""
    chance = random.Random(count)
    people = max(2, count // 5)
    for number in range(count):
        subject = f"Person {number % people:07}"
        other = int(
            people * chance.random() ** 3
        )  # cubed: the lowest numbers are everybody's
        at = T0 + timedelta(minutes=number % 500_000)
        value = f"Person {other:07}" if number % 3 else f"Thing {number}"
        said = TripleOperation(
            Op.ADD, subject, LABELS[number % len(LABELS)], value, at, at,
            f"c-{number // 7}", (f"c-{number // 7}.m{number % 7}",), f"u-{number % people}", 0.9,
        )  # fmt: skip
        yield Triple(
            said.subject.lower(),
            said.predicate,
            said.object.lower(),
            at,
            at,
            (said,),
        )


def make(count: int, path: Path) -> None:
    """The Parquet object of so many triples, as a file."""
    with pq.ParquetWriter(path, SCHEMA, compression="zstd") as writer:
        piece: list[Triple] = []
        for triple in triples(count):
            piece.append(triple)
            if len(piece) == PIECE:
                writer.write_table(to_table(piece))
                piece.clear()
        if piece:
            writer.write_table(to_table(piece))


def timed(verb: Callable[[], Any], times: int) -> tuple[float, Any]:
    """The median in milliseconds, and the last result."""
    taken = []
    result = None
    for _ in range(times):
        start = perf_counter()
        result = verb()
        taken.append((perf_counter() - start) * 1e3)
    return median(taken), result


def reading(count: int) -> tuple[float, float, float, int, float]:
    """Load, look up, walk, in a process of its own."""
    graph = ParquetGraph(s3_objects(BUCKET, ROOT))
    data = s3_objects(BUCKET, ROOT).get(KEY)
    assert data is not None
    load, table = timed(
        lambda: GraphTable(data.data), 1 if count >= 1_000_000 else 3
    )
    del table
    table = graph.open(SCOPE)
    names = iter(_someone(count))
    entity, _ = timed(lambda: table.about(next(names)), TRIES)
    hops, found = timed(
        lambda: table.neighbours(next(names), 2, datetime.now(UTC), 1_000),
        TRIES // 3,
    )
    return load, entity, hops, len(found), _peak()


def in_networkx(path: str, count: int) -> tuple[float, float]:
    """Building the same graph with its evidence, and everything about one entity."""
    graph: Any = networkx.MultiDiGraph()
    rows = pq.read_table(path)

    def build() -> None:
        columns = (
            rows.column(name).to_pylist()
            for name in ("source_id", "target_id", "label", "properties")
        )
        graph.add_edges_from(
            (s, t, l, {"properties": p})
            for s, t, l, p in zip(*columns, strict=True)  # noqa: E741
        )

    built, _ = timed(build, 1)
    names = iter(_someone(count))

    def about() -> list[Any]:
        name = next(names)
        edges = [
            *graph.out_edges(name, keys=True, data=True),
            *graph.in_edges(name, keys=True, data=True),
        ]
        return [json.loads(data["properties"]) for *_, data in edges]

    return built, timed(about, TRIES)[0]


def writing(count: int, number: int) -> tuple[float, float]:
    """One UPDATE applied and written back, in a process of its own."""
    at = T0 + timedelta(days=400 + number)
    moved = TripleOperation(
        Op.UPDATE,
        f"Person {count // 10:07}",
        "lives_in",
        "Porto",
        at,
        at,
        "c-new",
        ("m1",),
    )
    graph = ParquetGraph(s3_objects(BUCKET, ROOT))
    taken, new = timed(lambda: graph.apply(SCOPE, [moved]), 1)
    assert new == 1
    return taken, _peak()


def _someone(count: int) -> list[str]:
    """Names from the quieter half of the entities, always the same."""
    people = max(2, count // 5)
    return [
        f"person {people // 2 + 17 * n % max(1, people // 2):07}"
        for n in range(3 * TRIES)
    ]


def _peak() -> float:
    status = Path("/proc/self/status").read_text("ascii")
    line = next(
        line for line in status.splitlines() if line.startswith("VmHWM")
    )
    return int(line.split()[1]) / 1e3


def alone(verb: Callable[..., Any], *arguments: Any) -> Any:
    """Run in a fresh process, whose memory is its own."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(verb, *arguments).result()


def measure(
    count: int, s3: CountingS3, folder: Path
) -> tuple[Measured, Written]:
    """All of one size."""
    path = folder / f"{count}.parquet"
    alone(make, count, path)
    s3_objects(BUCKET, ROOT).put(KEY, path.read_bytes())
    s3.reset()
    load, entity, hops, reached, peak = alone(reading, count)
    requests = s3.counts().requests - 1  # one GET was the benchmark's own
    built, looked_up = alone(in_networkx, str(path), count)
    runs = []
    for number in range(1 if count >= 1_000_000 else 3):
        s3.reset()
        runs.append((alone(writing, count, number), s3.counts()))
    counts = runs[-1][1]
    kinds = ", ".join(
        f"{n} {kind}" for kind, n in sorted(counts.by_kind.items()) if n
    )
    written = Written(
        median(run[0][0] for run in runs),
        kinds,
        counts.bytes_in,
        counts.bytes_out,
        max(run[0][1] for run in runs),
    )
    size = path.stat().st_size
    return Measured(
        count,
        size,
        load,
        entity,
        hops,
        reached,
        built,
        looked_up,
        requests,
        peak,
    ), written


def tables(results: list[tuple[Measured, Written]]) -> str:
    """What was measured, as Markdown."""
    read = [
        [
            m.triples,
            m.object_bytes / 1e3,
            m.read_requests,
            m.load,
            m.entity,
            m.two_hops,
            m.reached,
            m.read_peak,
        ]
        for m, _ in results
    ]
    wrote = [
        [
            m.triples,
            w.requests,
            w.bytes_down / 1e3,
            w.bytes_up / 1e3,
            w.write,
            w.peak,
        ]
        for m, w in results
    ]
    beside = [
        [m.triples, m.load, m.networkx_build, m.load / m.networkx_build,
         m.entity * 1e3, m.networkx_entity * 1e3, m.entity / m.networkx_entity]
        for m, _ in results
    ]  # fmt: skip
    return "\n\n".join(
        (
            "**Reading**",
            markdown(["triples", "object, KB", "requests", "load, ms", "entity, ms", "two hops, ms",
                      "entities reached", "peak, MB"], read),
            "**One UPDATE written back**",
            markdown(["triples", "requests", "KB down", "KB up", "ms", "peak, MB"], wrote),
            "**Beside networkx, the same triples with their evidence**",
            markdown(["triples", "DuckDB load, ms", "networkx build, ms", "ratio", "DuckDB entity, µs",
                      "networkx entity, µs", "ratio"], beside),
        )
    )  # fmt: skip


def main(sizes: tuple[int, ...]) -> str:
    """Measure the sizes one after the other."""
    with TemporaryDirectory() as folder, CountingS3() as s3, s3.as_aws():
        return tables([measure(count, s3, Path(folder)) for count in sizes])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="a thousand and ten thousand only"
    )
    options = parser.parse_args()
    print(machine(), main(SIZES[:2] if options.quick else SIZES), sep="\n\n")
