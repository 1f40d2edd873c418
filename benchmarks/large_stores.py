"""Warm searches of stores that are too large for memory: `python benchmarks/large_stores.py [--quick]`.

Turns of invented words, thirty to a conversation, with clustered random vectors of 256 dimensions, are put
into a store in a directory in bulk and compacted as the writer does. Of each size, for the same questions (a
stored vector moved a little, and words of that row), after as many others: LanceDB's exact search; its index
(IVF_RQ as LanceDB makes it by default) with the fewest probes that find 0.95 of the ten best; its search by
vector and words; the product's vector lane, over the index as the product makes it; the product's whole
ranking of a question in process, embedding excluded, from the store's columns in memory or from candidates;
and a matrix product in numpy. Times are the processor's, all threads, medians in milliseconds; recall@10 is
against the exact product.
"""

import argparse
import os
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported

import numpy as np
import pyarrow as pa
from lancedb.index import IvfRq
from traffic import machine, markdown

from tests.support.internals import drop_columns
from tests.support.usecase_drivers import run_find
from varve.adapters.lance.upkeep import Upkeep, compact
from varve.adapters.lance.vectors import (
    build_vector_query,
    drop_index,
    make_index,
)
from varve.adapters.lance_cache import columns as lance_columns
from varve.adapters.lance_cache.records import LanceRecords
from varve.adapters.objects.store import local_objects
from varve.domain.calendar import Grain
from varve.domain.identity import Scope
from varve.domain.record import EmbeddedRecord, MemoryType, Record
from varve.domain.search.query import Filter
from varve.usecases.search.find import CANDIDATES

MODEL, DIMENSIONS = "random:256", 256
DOCS = Path(__file__).parents[1] / "docs"
SCOPE, GRAIN = Scope("w", "a"), Grain.WORKING
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
MESSAGES, QUESTIONS = 30, 40
SYLLABLES = [
    a + b for a in "bdfgklmnprst" for b in ("a", "e", "il", "or", "un", "ant")
]
BLOCK = 50_000
UNJUDGED = (
    "LanceDB, vector and words",
    "ranking in memory",
    "ranking of candidates",
    "numpy product",
)
"""What ranks by more than nearness, and the measure itself."""
PROBES = (8, 16, 32, 64, 128)
Vectors = np.ndarray[Any, np.dtype[np.float32]]
Row = list[object]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question: its words, its vector, and the rows of the ten nearest."""

    text: str
    vector: Vectors
    best: frozenset[str]


@dataclass(slots=True)
class Bench:
    """A filled store, and what is asked of it."""

    records: LanceRecords
    vectors: Vectors
    asked: list[Asked]
    rows: list[Row] = field(default_factory=list)

    @property
    def table(self) -> Any:
        """LanceDB's table."""
        return self.records.open_newest(SCOPE, GRAIN)

    def time(
        self, name: str, run: Callable[[Asked], Sequence[str]], among: int = 10
    ) -> tuple[float, float]:
        """Ask every other question to warm up, then the rest; the median milliseconds and the recall.

        That is, how many of the ten nearest are `among` so many found.
        """
        for one in self.asked[::2]:
            run(one)
        times, found = [], []
        for one in self.asked[1::2]:
            started = process_time()
            ids = run(one)
            times.append(1e3 * (process_time() - started))
            found.append(len(set(ids[:among]) & one.best) / 10)
        recall = mean(found)
        self.rows.append(
            [len(self.vectors), name, f"{median(times):.1f}", f"{recall:.3f}"]
        )
        return median(times), recall

    def time_ranking(self, name: str) -> None:
        """The first ranking of a process that has read nothing, with what it adds to memory; then more."""
        drop_columns(self.records)
        rank, started, megabytes = (
            whole(self.records),
            process_time(),
            resident(),
        )
        rank(self.asked[0])
        first, grown = (
            1e3 * (process_time() - started),
            max(0.0, resident() - megabytes),
        )
        self.rows.append(
            [
                len(self.vectors),
                f"{name}, the first (+ {grown:.0f} MB)",
                f"{first:.1f}",
                "",
            ]
        )
        self.time(name, rank)


def filled(folder: str, size: int) -> Bench:
    """A store of so many rows, compacted by the writer's policy."""
    luck, numbers = random.Random(size), np.random.default_rng(size)
    records = LanceRecords(folder, local_objects(Path(folder)))
    seed = Record(
        "turn-x", MemoryType.TURN, "x", "2026-11-20", NOW, NOW, ("m",)
    )
    records.upsert(
        SCOPE,
        GRAIN,
        [EmbeddedRecord(seed, np.ones(DIMENSIONS, np.float32))],
        MODEL,
    )
    table: Any = records.open_newest(SCOPE, GRAIN)
    words = [
        "".join(luck.choices(SYLLABLES, k=luck.randint(2, 4)))
        for _ in range(50_000)
    ]
    weights = np.cumsum(
        [1 / (rank + 5) for rank in range(len(words))]
    ).tolist()
    centres = numbers.normal(size=(max(50, size // 200), DIMENSIONS)).astype(
        np.float32
    )
    blocks: list[Vectors] = []
    asked: list[tuple[str, Vectors]] = []
    for start in range(0, size, BLOCK):
        count = min(BLOCK, size - start)
        near = centres[numbers.integers(len(centres), size=count)]
        vectors = near + 0.8 * numbers.normal(size=(count, DIMENSIONS)).astype(
            np.float32
        )
        vectors = (
            vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        ).astype(np.float16)
        texts = [
            " ".join(
                luck.choices(words, cum_weights=weights, k=luck.randint(5, 25))
            )
            for _ in range(count)
        ]
        table.add(_rows(start, texts, vectors, table.schema))
        blocks.append(vectors.astype(np.float32))
        chosen = luck.sample(range(count), max(1, QUESTIONS * count // size))
        asked += [
            (" ".join(texts[row].split()[:4]), blocks[-1][row])
            for row in chosen
        ]
    compact(table, Upkeep(), timedelta(days=7))
    matrix = np.concatenate(blocks)
    return Bench(
        records,
        matrix,
        [_asked(text, vector, matrix, numbers) for text, vector in asked],
    )


def _rows(
    start: int, texts: Sequence[str], vectors: Any, schema: pa.Schema
) -> pa.Table:
    """Rows of the store's schema, made in bulk."""
    numbers = range(start, start + len(texts))
    times = [NOW - timedelta(minutes=10 * number) for number in numbers]
    nothing: list[list[str]] = [[] for _ in texts]
    columns = {
        "id": [f"turn-{number:09}" for number in numbers],
        "memory_type": ["turn"] * len(texts),
        "content": [f"Dana: {text}" for text in texts],
        "period": [at.date().isoformat() for at in times],
        "event_time": times,
        "created_at": times,
        "source_ids": [[f"m{number}"] for number in numbers],
        "conversation_id": [f"c-{number // MESSAGES}" for number in numbers],
        "user_id": ["u-dana"] * len(texts),
        "about": ["Dana"] * len(texts),
        "importance": [0.5] * len(texts),
        "confidence": [1.0] * len(texts),
        "position": [number % MESSAGES for number in numbers],
        "key_facts": [""] * len(texts),
        "fingerprint": [f"{number:016}" for number in numbers],
        "vector": pa.FixedSizeListArray.from_arrays(
            pa.array(vectors.reshape(-1)), DIMENSIONS
        ),
    }
    listed = dict.fromkeys(
        ("people", "topics", "open_questions", "source_fingerprints"), nothing
    )
    return pa.table(
        {field.name: {**columns, **listed}[field.name] for field in schema},
        schema=schema,
    )


def _asked(
    text: str, vector: Vectors, matrix: Vectors, numbers: np.random.Generator
) -> Asked:
    moved = vector + 0.03 * numbers.normal(size=DIMENSIONS).astype(np.float32)
    moved /= np.linalg.norm(moved)
    best = np.argpartition(-(matrix @ moved), 10)[:10]
    return Asked(
        f"what did Dana say of {text}?",
        moved,
        frozenset(f"turn-{row:09}" for row in best),
    )


@dataclass(frozen=True, slots=True)
class Embedded:
    """The Embedder port for one question whose vector is known."""

    asked: Asked
    model: str = MODEL

    def embed(self, texts: Sequence[str]) -> list[Vectors]:
        """That vector, whatever the text."""
        return [self.asked.vector for _ in texts]


def whole(records: LanceRecords) -> Callable[[Asked], Sequence[str]]:
    """A question ranked as search ranks it, with the records that it shows."""

    def run(one: Asked) -> list[str]:
        found = run_find(
            SCOPE,
            GRAIN,
            one.text,
            NOW,
            10,
            reader=records,
            embedder=Embedded(one),
        )
        return [item.id for item in found]

    return run


def by_lancedb(table: Any, probes: int) -> Callable[[Asked], Sequence[str]]:
    """LanceDB's own search for the ten nearest: ids alone; without probes exact."""

    def run(one: Asked) -> list[str]:
        query = (
            table.search(one.vector, vector_column_name="vector")
            .distance_type("cosine")
            .limit(10)
        )
        query = (
            query.nprobes(probes).refine_factor(20)
            if probes
            else query.bypass_vector_index()
        )
        return list(
            query.select(["id", "_distance"])
            .to_arrow()
            .column("id")
            .to_pylist()
        )

    return run


def by_hybrid(table: Any) -> Callable[[Asked], Sequence[str]]:
    """LanceDB's own search by vector and words, its two lists fused by rank: ids alone."""

    def run(one: Asked) -> list[str]:
        query = table.search(
            query_type="hybrid",
            vector_column_name="vector",
            fts_columns="content",
        )
        query = (
            query.vector(one.vector)
            .text(one.text)
            .distance_type("cosine")
            .limit(10)
        )
        return list(query.select(["id"]).to_arrow().column("id").to_pylist())

    return run


def by_lane(table: Any) -> Callable[[Asked], Sequence[str]]:
    """The product's own query for its candidates by vector, in no order."""

    def run(one: Asked) -> list[str]:
        near = build_vector_query(
            table, one.vector, CANDIDATES, Filter()
        ).select(["id", "_distance"])
        return list(near.to_arrow().column("id").to_pylist())

    return run


def resident() -> float:
    """The process's memory in MB."""
    status = dict(
        line.split(":", 1)
        for line in Path("/proc/self/status").read_text().splitlines()
    )
    return int(status["VmRSS"].split()[0]) / 1024


def measure(bench: Bench, *, memory: bool) -> list[Row]:
    """All ways of one store."""
    table = bench.table
    size = len(bench.vectors)
    bench.time("LanceDB, exact", by_lancedb(table, 0))
    if size >= Upkeep().index_rows:
        drop_index(table)
        table.create_index("vector", config=IvfRq(distance_type="cosine"))
        for probes in PROBES:
            name = f"LanceDB, its index, {probes} probes"
            if bench.time(name, by_lancedb(table, probes))[1] >= 0.95:
                break
        bench.time("LanceDB, vector and words", by_hybrid(table))
        drop_index(table)
        started = process_time()
        make_index(table)
        print(
            f"The product's index was made in {process_time() - started:.0f} s of the processor.\n"
        )
        bench.time(
            f"the vector lane, the ten among its {CANDIDATES}",
            by_lane(table),
            CANDIDATES,
        )
    before, lance_columns.MAX_ROWS = lance_columns.MAX_ROWS, 0
    bench.time_ranking("ranking of candidates")
    lance_columns.MAX_ROWS = size + 1
    if memory:
        bench.time_ranking("ranking in memory")
    lance_columns.MAX_ROWS = before
    bench.time(
        "numpy product",
        lambda one: [
            str(np.argpartition(-(bench.vectors @ one.vector), 10)[0])
        ],
    )
    return [
        row if row[1] not in UNJUDGED else [*row[:3], ""] for row in bench.rows
    ]


def plot(printed: str) -> None:
    """Draw the curves of tables that were printed before: docs/large-stores.png and .svg."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "varve"
    from matplotlib import pyplot

    curves: dict[str, list[tuple[int, float]]] = {}
    for line in printed.splitlines():
        cells = [cell.strip() for cell in line.strip("| ").split("|")]
        if (
            len(cells) >= 3
            and cells[0].replace(",", "").isdecimal()
            and float(cells[2])
        ):
            name = (
                cells[1]
                .partition(" (")[0]
                .partition(" probes")[0]
                .rstrip(" 0123456789,")
            )
            curves.setdefault(name, []).append(
                (int(cells[0].replace(",", "")), float(cells[2]))
            )
    figure, panel = pyplot.subplots(figsize=(8, 4.6))
    for name, points in curves.items():
        panel.plot(
            *zip(*dict(points).items(), strict=True),
            marker="o",
            label=name,
            linewidth=1.4,
        )
    panel.set(
        xscale="log", yscale="log", xlabel="rows", ylabel="ms of the processor"
    )
    panel.set_title("A search by the size of the store")
    panel.grid(alpha=0.3)
    panel.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(DOCS / "large-stores.png", dpi=130)
    figure.savefig(DOCS / "large-stores.svg", metadata={"Date": None})


def main() -> None:
    """Read the options, run, print Markdown."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--sizes",
        type=int,
        nargs="*",
        default=[1_000, 10_000, 50_000, 100_000, 1_000_000],
    )
    parser.add_argument(
        "--memory-up-to",
        type=int,
        default=100_000,
        help="rows that are ranked in memory too",
    )
    parser.add_argument("--quick", action="store_true", help="5,000 rows")
    parser.add_argument(
        "--plot",
        type=Path,
        metavar="FILE",
        help="only draw what an earlier run printed",
    )
    options = parser.parse_args()
    if options.plot:
        plot(options.plot.read_text("utf-8"))
        return
    print(machine(), flush=True)
    for size in [5_000] if options.quick else options.sizes:
        with TemporaryDirectory() as folder:
            started = perf_counter(), process_time()
            bench = filled(folder, size)
            taken = perf_counter() - started[0], process_time() - started[1]
            print(
                f"\n{size:,} rows: filled in {taken[0]:.0f} s ({taken[1]:.0f} of the processor)\n"
            )
            headings = ["rows", "search", "ms of the processor", "recall@10"]
            print(
                markdown(
                    headings,
                    measure(bench, memory=size <= options.memory_up_to),
                ),
                flush=True,
            )


if __name__ == "__main__":
    main()
